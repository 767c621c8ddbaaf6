"""``conceptpubsub completion bash|zsh``: a script that lets the shell complete commands, options and their values.

The script is made from the parser itself, so it knows what the commands know.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import Any

_BASH = """\
_conceptpubsub() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" path="" word
    case "${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
        --*) ;;
        *) false ;;
    esac && [[ ${{#COMPREPLY[@]}} -gt 0 ]] && return
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$path $word" in
{steps}
        esac
    done
    case "$path" in
{offers}
    esac
    [[ ${{#COMPREPLY[@]}} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _conceptpubsub conceptpubsub
"""


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    command = subparsers.add_parser(
        "completion",
        help="print a script for completion in the shell",
        epilog='For bash: eval "$(conceptpubsub completion bash)"; put it into ~/.bashrc or ~/.zshrc.',
    )
    command.add_argument("shell", choices=("bash", "zsh"))
    command.set_defaults(run=run, commands=subparsers.choices)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    tree: list[tuple[str, list[str], list[str]]] = [("", list(args.commands), ["--help", "--version"])]
    for name, command in args.commands.items():
        tree += _walk(command, f" {name}")
    steps = [f'            "{path} {name}") path="{path} {name}" ;;' for path, names, _ in tree for name in names]
    offers = [
        f'        "{path}") COMPREPLY=($(compgen -W "{" ".join([*names, *options])}" -- "$current")) ;;'
        for path, names, options in tree
    ]
    values = [
        f'        {option}) COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$current")) ;;'
        for option, choices in _values(args.commands.values())
    ]
    script = _BASH.format(steps="\n".join(steps), offers="\n".join(offers), values="\n".join(values))
    print("autoload -Uz bashcompinit && bashcompinit\n" + script if args.shell == "zsh" else script, end="")
    return 0


def _values(commands: Iterable[argparse.ArgumentParser]) -> Iterator[tuple[str, list[str]]]:
    """The options that take one of some words, with all that any command takes."""
    from conceptpubsub.model.catalog import BUNDLED

    found: dict[str, list[str]] = {"--ontology": list(BUNDLED)}
    for command in commands:
        for action in command._actions:
            if isinstance(action, argparse._SubParsersAction):
                found.update(_values(action.choices.values()))
            elif action.choices and action.option_strings:
                known = found.setdefault(action.option_strings[-1], [])
                known += [str(choice) for choice in action.choices if str(choice) not in known]
    yield from found.items()


def _walk(parser: argparse.ArgumentParser, path: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """(path, names of commands or choices below it, options) of every parser."""
    names: list[str] = []
    options: list[str] = []
    below: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        options += [option for option in action.option_strings if option.startswith("--")]
        if isinstance(action, argparse._SubParsersAction):
            below += list(action.choices.items())
            names += list(action.choices)
        elif action.choices and not action.option_strings:
            options += [str(choice) for choice in action.choices]
    yield path, names, options
    for name, inner in below:
        yield from _walk(inner, f"{path} {name}")
