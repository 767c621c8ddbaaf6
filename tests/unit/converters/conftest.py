"""The shop that conversion tests share."""

from pathlib import Path

import pytest

from conceptpubsub.converters import Converters
from conceptpubsub.model.ontology import Ontology


@pytest.fixture(scope="session")
def shop() -> Ontology:
    return Ontology.load(Path(__file__).with_name("shop.ttl"), cache=False)


@pytest.fixture
def conv(shop: Ontology) -> Converters:
    """The shop's converters, with rates of three days and a code list."""
    rates = {"2026-11-13": {"USD": 1.25, "GBP": 0.8}, "2026-11-16": {"USD": 1.2}, "2026-11-17": {"USD": 1.6}}
    return Converters.default(shop).register("currency", rates, pivot="EUR")


@pytest.fixture
def plain() -> Converters:
    return Converters()
