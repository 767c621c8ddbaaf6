"""What all tests share: where shared data lies, what Spark needs, and how hypothesis behaves on a noisy machine."""

import os
import re
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("searching", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@cache
def java_problem() -> str | None:
    """Why Java cannot run Spark or a reasoner here; None when it can."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    advice = "on Debian: apt-get install openjdk-17-jre-headless"
    if java is None or not Path(java).exists():
        return f"no Java; {advice}"
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    found = re.search(r'version "(\d+)', shown)
    return None if found and int(found[1]) >= 17 else f"Java older than 17; {advice}"


@cache
def spark_problem() -> str | None:
    """Why Spark cannot run here; None when it can."""
    return "no PySpark: pip install conceptpubsub[spark]" if find_spec("pyspark") is None else java_problem()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark tests are skipped where Spark cannot run, and stay in one process, so that there is one session."""
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
            if problem := spark_problem():
                item.add_marker(pytest.mark.skip(reason=problem))


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data (``CPS_SHARED``, by default beside the repository); skips where there is none."""
    folder = Path(os.environ.get("CPS_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("no shared data: set CPS_SHARED to its folder")
    return folder


@pytest.fixture
def java() -> None:
    """Skips where there is no Java 17 or newer."""
    if problem := java_problem():
        pytest.skip(problem)
