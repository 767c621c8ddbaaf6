"""The reference: every public name is told, with an example or the reason why not, and the pages are up to date."""

import importlib
import inspect
import re

import pytest

from tools.api import FOLDER, PACKAGES, WITHOUT_EXAMPLE, has_example, names, pages

NAMES = [(package, name) for package in PACKAGES for name in names(package)]


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_every_public_name_is_told(package: str, name: str) -> None:
    found = getattr(importlib.import_module(package), name)
    told = inspect.getdoc(found) if inspect.isclass(found) or callable(found) else "a type"
    assert told, f"{package}.{name} has no docstring"
    if package != "conceptpubsub.errors":
        assert has_example(found) or name in WITHOUT_EXAMPLE, (
            f"{package}.{name}: an example, or a reason in tools/api.py"
        )


def test_reasons_are_of_names_that_have_no_example() -> None:
    bare = {name for package, name in NAMES if not has_example(getattr(importlib.import_module(package), name))}
    assert set(WITHOUT_EXAMPLE) <= bare


def test_the_pages_are_up_to_date() -> None:
    made = dict(pages())
    kept = {page.name: page.read_text() for page in FOLDER.glob("*.md")}
    assert sorted(kept) == sorted(made)
    stale = [name for name, text in made.items() if kept[name] != text]
    assert not stale, f"run make docs: {', '.join(stale)}"


def test_links_lead_to_sections() -> None:
    made = dict(pages())
    sections = {
        name: {
            re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.M)
        }
        for name, text in made.items()
    }
    links = [(name, *link) for name, text in made.items() for link in re.findall(r"\]\(([\w.]*)#([^)]*)\)", text)]
    assert len(links) > len(NAMES)
    for page, target, anchor in links:
        assert anchor in sections[target or page], f"{page}: {target}#{anchor}"


def test_signatures_show_what_one_types() -> None:
    text = dict(pages())["hub.md"]
    assert "    policy: str = 'block',\n" in text
    assert "    *,\n    context: " in text
