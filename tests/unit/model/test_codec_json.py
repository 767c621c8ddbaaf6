"""Plain JSON reads back what it wrote, and says where anything else is wrong."""

import contextlib
import io
import json
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.errors import CodecError
from conceptpubsub.model import Context, Instant, SemanticEvent, SemanticObject
from conceptpubsub.model.codecs import from_json, read_lines, to_json
from tests.unit.model.event_strategies import events


@given(events)
def test_every_event_reads_back(event: SemanticEvent) -> None:
    assert from_json(to_json(event)) == event
    assert from_json(to_json(event).encode()) == event


def test_the_form_is_the_one_documented() -> None:
    event = SemanticEvent(
        "VehicleStatus",
        {
            "Odometer": SemanticObject("Distance", 3850, Context(unit="mile", scale=1)),
            "PartFailure": "Engine",
            "Third": Fraction(1, 3),
            "Start": Instant.parse("2026-11-18T05:00Z"),
            "Engine": {"Speed": SemanticObject("Speed", 0.1, Context(unit="rpm", concept="odd"))},
        },
        id="7",
        time="2026-11-18T05:00:00.000000001Z",
    )
    assert json.loads(to_json(event)) == {
        "concept": "VehicleStatus",
        "id": "7",
        "time": "2026-11-18T05:00:00.000000001Z",
        "attributes": {
            "Odometer": {"value": 3850, "concept": "Distance", "unit": "mile", "scale": 1},
            "PartFailure": "Engine",
            "Third": {"value": "1/3", "type": "rational"},
            "Start": {"value": "2026-11-18T05:00:00Z", "type": "instant"},
            "Engine": {"attributes": {"Speed": {"value": 0.1, "unit": "rpm", "context": {"concept": "odd"}}}},
        },
    }


@pytest.mark.parametrize(
    ("literal", "meant"),
    [
        ("0.1", Fraction(1, 10)),
        ("0.10000000000000000000000001", Fraction(Decimal("0.10000000000000000000000001"))),
        ("12345678901234567890123", 12345678901234567890123),
        ("9007199254740993.0", 9007199254740993),
        ("1e400", 10**400),
        ("1E-400", Fraction(1, 10**400)),
        ("-0.0", 0),
    ],
)
def test_numbers_are_what_is_written_not_the_nearest_float(literal: str, meant: Any) -> None:
    read = from_json(f'{{"concept": "A", "attributes": {{"x": {literal}}}}}')
    assert read["x"] == SemanticObject("x", meant)


def test_null_is_missing() -> None:
    read = from_json('{"concept": "A", "id": null, "attributes": {"x": null, "y": {"value": null, "unit": "km"}}}')
    assert read == SemanticEvent("A")


def attribute(tree: str) -> str:
    return f'{{"concept": "A", "attributes": {{"x": {tree}}}}}'


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        (attribute("NaN"), "/attributes/x", "NaN"),
        (attribute('{"value": -Infinity}'), "/attributes/x/value", "Infinity"),
        (attribute("1e999999999"), "/attributes/x", "digits"),
        (attribute("9" * 5000), "/attributes/x", "at most"),
        (attribute('{"value": 1, "unit": "km", "unit": "mile"}'), "/attributes/x/unit", "twice"),
        (attribute('"\\ud800"'), "/attributes/x", "surrogate"),
        (attribute("[1, 2]"), "/attributes/x", "one event a value"),
        (attribute('{"value": [1]}'), "/attributes/x/value", "one event a value"),
        (attribute('{"value": {"a": 1}}'), "/attributes/x/value", "attributes"),
        (attribute('{"unit": "km"}'), "/attributes/x", "either"),
        (attribute('{"value": 1, "attributes": {}}'), "/attributes/x", "either"),
        (attribute('{"value": "soon", "type": "instant"}'), "/attributes/x", "ISO 8601"),
        (attribute('{"value": 5, "type": "instant"}'), "/attributes/x", "text"),
        (attribute('{"value": "5", "type": "colour"}'), "/attributes/x", "rational"),
        (attribute('{"value": "1/0", "type": "rational"}'), "/attributes/x", "zero"),
        (attribute('{"value": "1/" , "type": "rational"}'), "/attributes/x", "not a decimal"),
        (attribute('{"value": "2026-01-01T00:00:00.1234567", "type": "datetime"}'), "/attributes/x", "microsecond"),
        (attribute('{"value": "2026-01-01T00:00Z", "type": "datetime"}'), "/attributes/x", "instant"),
        (attribute('{"value": 1, "scale": [1]}'), "/attributes/x/scale", "list"),
        (attribute('{"value": 1, "context": 5}'), "/attributes/x/context", "object"),
        (attribute('{"value": 1, "concept": 5}'), "/attributes/x/concept", "text"),
        ('{"concept": "A", "attributes": {"a/b~c": NaN}}', "/attributes/a~1b~0c", "NaN"),
        ('{"concept": "A", "attributes": []}', "/attributes", "a list"),
        ('{"concept": "A", "attributes": {"": 1}}', "", "concept"),
        ('{"concept": ""}', "", "concept"),
        ('{"concept": 5}', "/concept", "text"),
        ('{"attributes": {}}', "/concept", "text"),
        ('{"concept": "A", "time": "2026-11-18"}', "/time", "time zone"),
        ('{"concept": "A", "time": 5}', "/time", "text"),
        ('{"concept": "A", "id": 5}', "/id", "text"),
        ('{"concept": "A", "colour": 5}', "/colour", "unknown"),
        ('{"concept": "A"} x', "", "Extra data"),
        ("[]", "", "a list"),
        ("", "", "not JSON"),
        ("[" * 100_000, "", "deeply"),
    ],
)
def test_bad_input_is_refused_with_its_place(text: str, place: str, says: str) -> None:
    started = time.process_time()
    with pytest.raises(CodecError, match=says) as caught:
        from_json(text)
    assert caught.value.place == place
    assert len(str(caught.value)) < 500
    assert time.process_time() - started < 2


@pytest.mark.parametrize("levels", [34, 300, 480])
def test_nesting_is_bounded(levels: int) -> None:
    tree = "1"
    for _ in range(levels):
        tree = '{"attributes": {"x": ' + tree + "}}"
    with pytest.raises(CodecError, match="nested"):
        from_json(attribute(tree))


def test_size_and_encoding_are_bounded() -> None:
    with pytest.raises(CodecError, match="at most 100"):
        from_json(" " * 101, max_bytes=100)
    with pytest.raises(CodecError, match="UTF-8"):
        from_json(b'{"concept": "\xff"}')
    with pytest.raises(CodecError, match="text or bytes"):
        from_json({"concept": "A"})  # type: ignore[arg-type]
    assert from_json(b'\xef\xbb\xbf{"concept": "A"}') == SemanticEvent("A")


def test_half_a_character_is_not_written() -> None:
    with pytest.raises(CodecError, match="surrogate") as caught:
        to_json(SemanticEvent("A", {"x": "\ud800"}))
    assert caught.value.place == "/attributes/x"
    assert from_json(to_json(SemanticEvent("A", {"x": "\\ud800 😀"})))["x"].value == "\\ud800 😀"


@given(st.binary(max_size=60) | st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_input_is_an_event_or_a_codec_error(text: bytes | str) -> None:
    with contextlib.suppress(CodecError):
        assert isinstance(from_json(text), SemanticEvent)


LINES = b'{"concept": "A"}\r\n\n{"concept": NaN}\n\xff\xfe\n' + b"9" * 5000 + b'\n{"concept": "B"}'


@pytest.mark.parametrize("text", [False, True])
def test_one_bad_line_never_stops_the_rest(text: bool) -> None:
    stream = io.TextIOWrapper(io.BytesIO(LINES), encoding="utf-8") if text else io.BytesIO(LINES)
    read = list(read_lines(stream, max_bytes=1000))
    assert [number for number, _ in read] == [1, 3, 4, 5, 6]
    assert read[0][1] == SemanticEvent("A")
    assert [type(found) for _, found in read[1:4]] == [CodecError] * 3
    assert read[4][1] == SemanticEvent("B")


@pytest.mark.parametrize("extra", range(-3, 4))
def test_a_line_may_be_as_long_as_the_limit(extra: int) -> None:
    line = '{"concept": "A"}'
    stream = io.BytesIO((line.ljust(50 + extra) + "\r\n" + line + "\n").encode())
    (first, found), (second, after) = read_lines(stream, max_bytes=50)
    assert (first, second) == (1, 2)
    assert isinstance(found, CodecError) == (extra > 0)
    assert after == SemanticEvent("A")


def test_lines_of_text_without_bytes_beneath() -> None:
    assert [n for n, _ in read_lines(io.StringIO('{"concept": "A"}\n' + "9" * 200 + "\n{}"), max_bytes=100)] == [
        1,
        2,
        3,
    ]
