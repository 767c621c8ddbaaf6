"""Write docs/api from the docstrings: ``python tools/api.py`` (or ``make docs``).

One page a package, one section a public name, in the order of ``__all__``: its signature, its docstring, and its public
members but for those that say they are called by the hub. A public name in backticks is a link to its section. The
examples are doctests, so the tests run them. A test fails while the pages are not up to date.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "api"
PACKAGES = {
    "conceptpubsub.model": "concepts, contexts, semantic objects and events, ontologies",
    "conceptpubsub.model.codecs": "events as JSON, CloudEvents and Arrow tables",
    "conceptpubsub.converters": "units, currencies, code lists, and converters of your own",
    "conceptpubsub.filters": "the filter language: parse, evaluate, explain",
    "conceptpubsub.relations": "covers, overlaps, identical, merge, witness",
    "conceptpubsub.matching": "many filters against an event or a table",
    "conceptpubsub.flow": "information flow graphs",
    "conceptpubsub.routing": "broker networks and their simulator",
    "conceptpubsub.hub": "publish/subscribe in one process",
    "conceptpubsub.archive": "past events against new subscriptions",
    "conceptpubsub.errors": "every error of the package",
}
WITHOUT_EXAMPLE = {
    "Exact": "a type, for annotations",
    "Explanation": "made by `Filter.explain`",
    "Canonical": "a type, for annotations",
    "Budget": "given to the relations; the default is enough for most",
    "statistics": "its figures depend on what was asked before",
    "reset_statistics": "see `statistics`",
    "Engine": "a protocol, for those who write an engine",
    "MatchError": "made by `Matcher.match_batch`",
    "Summary": "made by `reprocess`",
    "DeadLetter": "made by the hub; see `DeadLetters`",
    "DurableSubscription": "made by `Hub.subscribe`; docs/hub.md has examples",
    "Receipt": "made by `Hub.publish`",
}
"""Public names whose docstrings have no example, each with the reason."""
GUIDES = {
    "conceptpubsub.model": "concepts",
    "conceptpubsub.converters": "converters",
    "conceptpubsub.filters": "filters",
    "conceptpubsub.relations": "relations",
    "conceptpubsub.flow": "flows",
    "conceptpubsub.hub": "hub",
    "conceptpubsub.archive": "archives",
    "conceptpubsub.routing": "routing",
}
"""The page of the guide that belongs to a package, where there is one."""
_WIDE = 100
_INTERNAL = "Called by the hub"


def names(package: str) -> list[str]:
    """The public names of a package."""
    module = importlib.import_module(package)
    listed = getattr(module, "__all__", None)
    return list(listed) if listed else [name for name, held in vars(module).items() if _is_own_class(module, held)]


def _is_own_class(module: Any, held: Any) -> bool:
    return inspect.isclass(held) and held.__module__ == module.__name__


def has_example(found: Any) -> bool:
    """Whether a docstring of it, or of a member, has an example."""
    members = [found, *(vars(found).values() if inspect.isclass(found) else ())]
    return any(">>>" in (inspect.getdoc(getattr(member, "__func__", member)) or "") for member in members)


def pages() -> Iterator[tuple[str, str]]:
    """(file name, text) of every page."""
    where = _homes()
    rows = [
        f"| [`{name}`]({_file(name)}) | {what} | {', '.join(_link(each, where) for each in names(name))} |"
        for name, what in PACKAGES.items()
    ]
    intro = "Written from the docstrings by `make docs`; the tests run every example. The guide is [here](../index.md)."
    head = ["# Reference", "", intro, "", "| package | what is in it | names |", "|---|---|---|"]
    yield "index.md", "\n".join([*head, *rows, ""])
    for package in PACKAGES:
        yield _file(package), _linked(_page(package, where), {**where, **_anchors(package)})


def _homes() -> dict[str, str]:
    """Every public name and public member of one, with the address of its section."""
    found: dict[str, str] = {}
    for package in reversed(PACKAGES):
        found |= {name: _file(package) + anchor for name, anchor in _anchors(package).items()}
    return found


def _anchors(package: str) -> dict[str, str]:
    module = importlib.import_module(package)
    found = {}
    for name in names(package):
        found[name] = f"#{name.lower()}"
        held = getattr(module, name)
        for member, inside in vars(held).items() if inspect.isclass(held) else ():
            if _member(name, member, inside):
                found[f"{name}.{member}"] = f"#{name.lower()}{member.lower()}"
    return found


def _link(name: str, where: dict[str, str]) -> str:
    return f"[`{name}`]({where[name]})"


def _linked(page: str, where: dict[str, str]) -> str:
    """A page on which the first mention of a public name in a section, outside of code, is a link."""
    sections = re.split(r"(?=^## )", page, flags=re.MULTILINE)
    return "".join(_linked_section(section, where) for section in sections)


def _linked_section(section: str, where: dict[str, str]) -> str:
    own = re.match(r"## (\w+)", section)
    seen = {own[1]} if own else set()
    made = []
    for place, part in enumerate(re.split(r"(^```.*?^```$)", section, flags=re.MULTILINE | re.DOTALL)):

        def linked(found: re.Match[str]) -> str:
            name = found[1]
            if name not in where or name in seen:
                return found[0]
            seen.add(name)
            return _link(name, where)

        made.append(part if place % 2 else re.sub(r"(?<!\[)`(\w+(?:\.\w+)?)`", linked, part))
    return "".join(made)


def _file(package: str) -> str:
    return package.partition(".")[2] + ".md"


def _page(package: str, where: dict[str, str]) -> str:
    module = importlib.import_module(package)
    parts = [f"# {package}", _text(inspect.getdoc(module) or "")]
    guide = GUIDES.get(package)
    if guide is not None:
        parts.append(f"The guide has [a page](../{guide}.md) on it.")
    anchors = {**where, **_anchors(package)}
    parts.append("On this page: " + " · ".join(_link(name, anchors) for name in names(package)))
    for name in names(package):
        found = getattr(module, name)
        parts += [f"## {name}", *_described(name, found)]
        if name in WITHOUT_EXAMPLE and not has_example(found):
            parts.append(f"*{WITHOUT_EXAMPLE[name][0].upper()}{WITHOUT_EXAMPLE[name][1:]}.*")
        if inspect.isclass(found):
            for member, held in vars(found).items():
                parts += _member(name, member, held)
    return "\n\n".join(part for part in parts if part) + "\n"


def _described(name: str, found: Any) -> list[str]:
    doc = _text(inspect.getdoc(found) or "") if not isinstance(found, str | int | dict | tuple) else ""
    return [_signature(name, found), doc]


def _signature(name: str, found: Any) -> str:
    if inspect.isclass(found) and issubclass(found, Exception):
        bases = ", ".join(base.__name__ for base in found.__bases__)
        return f"```text\n{name}({bases})\n```"
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return ""
    given = [_parameter(each) for each in signature.parameters.values() if each.name not in ("self", "cls")]
    kinds = [each.kind for each in signature.parameters.values() if each.name not in ("self", "cls")]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        given.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    if inspect.Parameter.POSITIONAL_ONLY in kinds:
        given.insert(kinds.count(inspect.Parameter.POSITIONAL_ONLY), "/")
    back = signature.return_annotation
    gives = "" if inspect.isclass(found) or back is signature.empty else f" -> {_annotation(back)}"
    line = f"{name}({', '.join(given)}){gives}"
    if len(line) > _WIDE:
        line = "\n".join([f"{name}(", *(f"    {each}," for each in given), f"){gives}"])
    return f"```text\n{line}\n```"


def _parameter(each: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(each.kind, "")
    typed = "" if each.annotation is each.empty else f": {_annotation(each.annotation)}"
    default = "" if each.default is each.empty else re.sub(r" at 0x[0-9a-f]+", "", repr(each.default))
    return f"{stars}{each.name}{typed}" + (f" = {default}" if default and typed else f"={default}" if default else "")


def _annotation(found: Any) -> str:
    return found.strip("'\"") if isinstance(found, str) else inspect.formatannotation(found)


def _member(owner: str, name: str, held: Any) -> list[str]:
    """A public method or property that says something."""
    if name.startswith("_"):
        return []
    kind = held.fget if isinstance(held, property) else getattr(held, "__func__", held)
    kind = getattr(kind, "func", kind)
    doc = inspect.getdoc(kind) if inspect.isfunction(kind) else None
    if not doc or doc.startswith(_INTERNAL):
        return []
    plain = isinstance(held, property) or not inspect.isfunction(getattr(held, "__func__", held))
    return [f"### {owner}.{name}", "" if plain else _signature(name, kind), _text(doc)]


def _text(doc: str) -> str:
    """A docstring as Markdown: examples fenced, names in single backticks."""
    made: list[str] = []
    inside = False
    for line in doc.replace("``", "`").splitlines():
        starts = line.startswith(">>>")
        if starts and not inside:
            made += ["```pycon", line]
        elif inside and not line.strip():
            made += ["```", ""]
        else:
            made.append(line)
        inside = starts or (inside and bool(line.strip()))
    if inside:
        made.append("```")
    return "\n".join(made).strip()


def main() -> None:
    """Write the pages; pages of packages that are gone go too."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = dict(pages())
    for old in FOLDER.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER.parents[1]))
    main()
