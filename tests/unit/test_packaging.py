"""The package is what pyproject.toml says: nothing forgotten, nothing global, and the wheel runs by itself."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

LINKED = ("converters", "ontologies", "routing")
HEAVY = ("duckdb", "matplotlib", "networkx", "numba", "numpy", "owlready2", "pandas", "pint", "polars", "pyarrow")
HEAVY += ("pyspark", "rdflib", "z3")


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text())


def test_every_package_of_the_tree_is_listed(root: Path, project: dict[str, Any]) -> None:
    found = {"conceptpubsub"}
    for top in ("conceptpubsub", *LINKED):
        for init in (root / top).rglob("__init__.py"):
            inside = init.parent.relative_to(root).parts
            if not any((root / Path(*inside[:n])).is_symlink() for n in range(1, len(inside) + 1)):
                found.add(".".join(inside if inside[0] == "conceptpubsub" else ("conceptpubsub", *inside)))
    listed = project["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(found)
    assert listed == sorted(listed)


def test_no_folder_of_code_lacks_its_init(root: Path) -> None:
    for top in ("conceptpubsub", *LINKED):
        folders = {file.parent for file in (root / top).rglob("*.py")}
        assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


@pytest.mark.parametrize("name", LINKED)
def test_the_three_links_point_to_the_top_folders(root: Path, project: dict[str, Any], name: str) -> None:
    link = root / "conceptpubsub" / name
    assert link.is_symlink()
    assert os.readlink(link) == f"../{name}"
    assert project["tool"]["setuptools"]["package-dir"][f"conceptpubsub.{name}"] == name
    assert name in project["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]


def test_every_data_file_is_packaged(root: Path, project: dict[str, Any]) -> None:
    patterns = project["tool"]["setuptools"]["package-data"]
    for top in ("conceptpubsub", *LINKED):
        package = "conceptpubsub" if top == "conceptpubsub" else f"conceptpubsub.{top}"
        packaged = (
            {file for pattern in patterns[package] for file in (root / top).glob(pattern)}
            if package in patterns
            else set()
        )
        for file in (root / top).rglob("*"):
            if file.is_file() and file.suffix != ".py" and file.parent.name != "__pycache__":
                assert file in packaged, f"{file.relative_to(root)} is in no package-data pattern"


def test_every_pinned_version_fits_and_nothing_is_unpinned(root: Path, project: dict[str, Any]) -> None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    lines = [line for line in (root / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pins = {canonicalize_name(line.split("==")[0]): line.split("==")[1] for line in lines}
    extras = project["project"]["optional-dependencies"]
    assert set(extras) == {"spark", "plot", "dev"}
    asked = [*project["project"]["dependencies"], *(text for texts in extras.values() for text in texts)]
    for requirement in map(Requirement, [*asked, *project["build-system"]["requires"]]):
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), requirement
    assert "conceptpubsub" not in pins


def test_importing_the_package_is_light() -> None:
    code = "import conceptpubsub, sys; print([name for name in sys.argv[1:] if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code, *HEAVY], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"


def test_events_need_no_heavy_package() -> None:
    code = """
import sys, conceptpubsub as cps
from conceptpubsub.model.codecs import to_json, from_json, to_cloudevent, read_lines
event = cps.SemanticEvent("A", {"x": cps.SemanticObject("x", 0.5, cps.Context(unit="km"))}, id="1", source="s")
assert from_json(to_json(event)) == event and to_cloudevent(event)
print([name for name in sys.argv[1:] if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", code, *HEAVY], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"


def test_no_file_names_this_machine_or_imports_a_top_folder(root: Path) -> None:
    for top in ("conceptpubsub", *LINKED):
        for file in (root / top).rglob("*.py"):
            if any(parent.is_symlink() for parent in file.parents):
                continue
            text = file.read_text()
            assert not re.search(r"/(root|home|work|Users)/", text), file
            for node in ast.walk(ast.parse(text)):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                assert not {name.partition(".")[0] for name in names} & set(LINKED), file


def build_wheel(root: Path, into: Path) -> Path:
    """A wheel from a copy of the sources: a build leaves its folders where it runs."""
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    source = into / "source"
    for name in tracked.stdout.splitlines():
        file, copy = root / name, source / name
        if file.exists() and name.split("/")[0] in ("conceptpubsub", *LINKED, "pyproject.toml", "README.md", "LICENSE"):
            copy.parent.mkdir(parents=True, exist_ok=True)
            if file.is_symlink():
                copy.symlink_to(os.readlink(file))
            else:
                copy.write_bytes(file.read_bytes())
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(into), str(source)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr[-2000:] + built.stdout[-2000:]
    return next(into.glob("*.whl"))


def test_the_wheel_holds_everything_and_runs_from_an_empty_place(root: Path, tmp_path: Path) -> None:
    wheel = build_wheel(root, tmp_path)
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"conceptpubsub"}
    assert "conceptpubsub/py.typed" in names
    ontologies = sorted(path.name for path in (root / "ontologies").glob("*.ttl"))
    assert [f"conceptpubsub/ontologies/{name}" in names for name in ontologies] == [True] * len(ontologies)
    assert ontologies
    assert len(names) == len(set(names))
    place = tmp_path / "place"
    zipfile.ZipFile(wheel).extractall(place)
    code = """
import sys; sys.path[:] = [sys.argv[1], *(p for p in sys.path if p)]
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
import conceptpubsub as cps, conceptpubsub.converters, conceptpubsub.routing
assert cps.__file__.startswith(sys.argv[1]), cps.__file__
assert conceptpubsub.converters.__file__.startswith(sys.argv[1])
assert cps.Ontology.bundled("vehicles")["InTemperature"].is_a("Temperature")
assert cps.Filter.parse("t > 25 degC").matches({"t": cps.SemanticObject("t", 86, cps.Context(unit="degF"))})
print(cps.Converters.default().affine("degF", "degC"))
"""
    for home in (place, wheel):  # unpacked, and packed as Spark's workers get it
        ran = subprocess.run(
            [sys.executable, "-c", code, str(home)], capture_output=True, text=True, cwd=tmp_path, timeout=120
        )
        assert ran.stdout.strip() == "(Fraction(5, 9), Fraction(-160, 9))", ran.stderr[-2000:]
