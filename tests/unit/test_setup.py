"""Setting up a machine that lacks something says what, and the Debian command that brings it."""

import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = ("sh", "sed", "head", "id", "timeout", "printf")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder of programs that holds the bare tools of a shell, and neither Python nor Java nor apt-get."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in TOOLS:
        (programs / name).symlink_to(str(shutil.which(name)))
    return programs


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text("#!/bin/sh\n" + script)
    (folder / name).chmod(0o755)


def run(script: Path, machine: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(script), *arguments],
        env={"PATH": str(machine)},
        cwd=machine.parent,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_no_python(root: Path, machine: Path) -> None:
    ran = run(root / "tools/setup.sh", machine, "", "stamp")
    assert ran.returncode != 0
    assert "apt-get install python3 python3-venv" in ran.stderr


def test_a_python_that_is_too_old(root: Path, machine: Path) -> None:
    program(machine, "python3", "exit 1\n")
    ran = run(root / "tools/setup.sh", machine, "", "stamp")
    assert ran.returncode != 0
    assert "needs Python 3.11 or newer" in ran.stderr


def test_a_python_without_venv(root: Path, machine: Path) -> None:
    program(machine, "python3", 'case "$2" in *ensurepip*) exit 1;; *print*) echo 3.11;; esac\n')
    ran = run(root / "tools/setup.sh", machine, "", "stamp")
    assert ran.returncode != 0
    assert "apt-get install python3.11-venv" in ran.stderr
    assert not (machine.parent / "stamp").exists()


@pytest.mark.parametrize("version", [None, "1.8.0_292", "11.0.2"])
def test_no_java_is_told_and_no_failure(root: Path, machine: Path, version: str | None) -> None:
    if version:
        program(machine, "java", f"echo 'openjdk version \"{version}\"' >&2\n")
    ran = run(root / "tools/java.sh", machine)
    assert ran.returncode == 0
    assert "apt-get install openjdk-17-jre-headless" in ran.stderr


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_a_java_that_will_do_is_passed_in_silence(root: Path, machine: Path, version: str) -> None:
    program(machine, "java", f"echo 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    ran = run(root / "tools/java.sh", machine)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_ci_runs_make_test(root: Path, machine: Path) -> None:
    program(machine, "make", 'echo "make $*"; exit 7\n')
    for name in ("bash", "env", "dirname"):
        (machine / name).symlink_to(str(shutil.which(name)))
    ran = subprocess.run([root / ".ci/run"], env={"PATH": str(machine)}, capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.returncode) == ("make test\n", 7)
