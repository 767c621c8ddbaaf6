"""Every example in the documentation runs, and prints what the page says.

The ``python`` blocks of a page share one namespace, in order. In a ``console`` block each ``$ conceptpubsub …`` line is
run, and the lines up to the next ``$`` are its output; ``…`` stands for any text. ``$ cat NAME`` shows a file that the
reader is to write, and is written. Other commands are not run.
"""

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from conceptpubsub.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page that name a language."""
    text = page.read_text()
    return [Block(found[1], found[2], text.count("\n", 0, found.start()) + 2) for found in _BLOCK.finditer(text)]


def having(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in blocks(page))]


def agrees(expected: str, shown: str) -> bool:
    """Whether the output is the expected one, with … for any text."""
    pattern = ".*".join(map(re.escape, expected.strip().split("…")))
    return re.fullmatch(pattern, shown.strip(), re.DOTALL) is not None


@pytest.mark.parametrize("page", having("python"), ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__example__"}
    for block in blocks(page):
        if block.language == "python":
            padded = "\n" * (block.line - 1) + block.text  # so that a traceback names the line of the page
            with contextlib.redirect_stdout(io.StringIO()) as shown:
                exec(compile(padded, str(page), "exec"), namespace)
            wanted = re.findall(r"^print\(.*\)  # → (.*)$", block.text, re.MULTILINE)
            printed = shown.getvalue().splitlines()
            assert len(wanted) in (0, len(printed)), f"{page.name}:{block.line}: {printed}"
            for expected, line in zip(wanted, printed, strict=False):
                assert agrees(expected, line), f"{page.name}:{block.line}: {line!r} is not {expected!r}"


@pytest.mark.parametrize("page", having("console"), ids=lambda page: str(page.relative_to(ROOT)))
def test_console_examples_print_what_they_show(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(page):
        for command in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:] if block.language == "console" else ():
            line, _, expected = command.partition("\n")
            words = shlex.split(line, comments=True)
            if words[0] == "conceptpubsub":
                main(words[1:])
                shown = capsys.readouterr()
                assert agrees(expected, shown.out + shown.err), f"{page.name}: {line}\n{shown.out}{shown.err}"
            elif words[0] == "cat":
                Path(words[1]).write_text(expected)


def test_the_readme_names_the_commands_that_exist() -> None:
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    assert {"demo", "test"} <= set(re.findall(r"\$ make (\S+)", readme))
    for page in PAGES:
        for target in re.findall(r"`make ([a-z-]+)`|^\$ make ([a-z-]+)", page.read_text(), re.MULTILINE):
            assert re.search(rf"^{target[0] or target[1]}:", makefile, re.MULTILINE), target


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
