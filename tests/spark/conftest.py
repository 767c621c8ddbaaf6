"""One Spark session for all tests of this folder."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import spark_problem


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on two cores of this machine."""
    if problem := spark_problem():
        pytest.skip(problem)
    from conceptpubsub.archive.cluster import session

    made = session("local[2]", "conceptpubsub tests")
    yield made
    made.stop()
