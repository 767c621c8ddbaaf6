"""Every case of the shared JMS selector suite, by its mode: match (only true counts), value (three-valued), parse."""

import json
from typing import Any

import pytest

from conceptpubsub.errors import FilterError
from conceptpubsub.filters import Filter
from tests.worlds import shared

_SUITE = shared() / "conformance" / "jms_selectors.jsonl"
CASES = [json.loads(line) for line in _SUITE.read_text().splitlines()] if _SUITE.exists() else []
EVALUATED = [case for case in CASES if case["mode"] != "parse" and case["expect"] != "error"]

pytestmark = pytest.mark.skipif(not CASES, reason=f"the shared suite is not at {_SUITE}")


def verdict(case: dict[str, Any]) -> Any:
    try:
        f = Filter.parse(case["expr"])
    except FilterError:
        return "error"
    if case["mode"] == "parse":
        return "parses"
    value = f.evaluate(case.get("props", {}))
    return value is True if case["mode"] == "match" else value


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_jms_selector(case: dict[str, Any]) -> None:
    assert verdict(case) == case["expect"], case["expr"]


@pytest.mark.parametrize("case", EVALUATED, ids=[case["id"] for case in EVALUATED])
def test_jms_selector_survives_printing_and_json(case: dict[str, Any]) -> None:
    f = Filter.parse(case["expr"])
    props = case.get("props", {})
    for copy in (Filter.parse(str(f)), Filter.from_json(f.to_json())):
        assert copy == f
        assert copy.evaluate(props) is f.evaluate(props)
