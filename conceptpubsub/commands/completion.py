"""``conceptpubsub completion bash|zsh``: a script that lets the shell complete commands, actions and options.

The script is made from the parser itself, so it knows what the commands know.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

_BASH = """\
_conceptpubsub() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" path="" word
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
    script = _BASH.format(steps="\n".join(steps), offers="\n".join(offers))
    print("autoload -Uz bashcompinit && bashcompinit\n" + script if args.shell == "zsh" else script, end="")
    return 0


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
