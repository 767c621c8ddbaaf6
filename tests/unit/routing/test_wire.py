"""Messages on the wire: what is written reads back, and whatever else arrives is a MessageError."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.errors import MessageError
from conceptpubsub.filters import Filter
from conceptpubsub.model import Context, SemanticEvent
from conceptpubsub.routing import messages as m
from conceptpubsub.routing.clients import as_event
from conceptpubsub.routing.wire import MAX_BYTES, NAMES, Wire
from tests.generators import generators
from tests.worlds import NAMES as WORLDS
from tests.worlds import world

WIRE = Wire([onto for onto in (world(name).ontology for name in WORLDS) if onto is not None])
names = st.text(max_size=12).filter(lambda text: text.isprintable())
counts = st.integers(0, 2**62)


@st.composite
def messages(draw: st.DrawFn) -> m.Message:
    make = draw(generators())

    def event() -> SemanticEvent:
        return as_event(make.event())

    def publish() -> m.Publish:
        return m.Publish(draw(names), draw(counts), event())

    context = draw(
        st.sampled_from([None, Context(), Context(unit="kelvin", scale=1000), {"Temperature": Context(unit="degC")}])
    )
    subscribe = m.Subscribe(draw(names), make.filter(), context)
    advertise = m.Advertise(draw(names), make.filter())
    one = draw(st.sampled_from(sorted(NAMES.values())))
    made: dict[str, Any] = {
        "subscribe": lambda: subscribe,
        "unsubscribe": lambda: m.Unsubscribe(draw(names)),
        "advertise": lambda: advertise,
        "unadvertise": lambda: m.Unadvertise(draw(names)),
        "publish": publish,
        "attach": lambda: m.Attach(
            draw(names), draw(counts), (subscribe,), (advertise,), (("B1", 1), ("B2", 2)), (("C1", 9),), draw(counts)
        ),
        "attached": lambda: m.Attached(draw(names), draw(counts)),
        "detach": lambda: m.Detach(draw(names)),
        "leave": lambda: m.Leave(draw(names)),
        "left": lambda: m.Left(draw(names)),
        "deliver": lambda: m.Deliver(draw(names), draw(names), draw(counts), event()),
        "problem": lambda: m.Problem(draw(names), draw(names)),
        "handover": lambda: m.Handover(draw(names), draw(counts), "B1", "B2"),
        "replay": lambda: m.Replay(
            draw(names), 3, "B1", tuple(publish() for _ in range(draw(st.integers(0, 3)))), draw(st.booleans()), False
        ),
        "link-up": m.LinkUp,
        "link-down": m.LinkDown,
    }
    return made[one]()  # type: ignore[no-any-return]


@given(message=messages())
def test_what_is_written_reads_back(message: m.Message) -> None:
    assert WIRE.decode(WIRE.encode(message)) == message


@given(message=messages(), cut=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_damaged_bytes_are_a_message_or_a_message_error(message: m.Message, cut: int, byte: int) -> None:
    data = bytearray(WIRE.encode(message))
    data[cut % len(data)] = byte
    for damaged in (bytes(data), bytes(data[: cut % len(data)])):
        with contextlib.suppress(MessageError):  # any other exception fails the test
            assert type(WIRE.decode(damaged)) in NAMES


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "malformed"),
        (b"\xff\xfe", "malformed"),
        (b"[1]", "version 1"),
        (b'{"v":2,"type":"leave","client":"C"}', "version 1"),
        (b'{"v":1}', "no message is a"),
        (b'{"v":1,"type":["leave"]}', "no message is a"),
        (b'{"v":1,"type":"teleport"}', "no message is a 'teleport'"),
        (b'{"v":1,"type":"leave"}', "lacks client"),
        (b'{"v":1,"type":"leave","client":5}', "'client' is text"),
        (b'{"v":1,"type":"leave","client":"C","x":1}', "no field 'x'"),
        (b'{"v":1,"type":"leave","client":"C"}\n{}', "lines that do not belong"),
        (b'{"v":1,"type":"publish","publisher":"C","sequence":1}', "lacks its event"),
        (b'{"v":1,"type":"publish","publisher":"C","sequence":-1}\n{"concept":"E"}', "whole number"),
        (b'{"v":1,"type":"publish","publisher":"C","sequence":true}\n{"concept":"E"}', "whole number"),
        (b'{"v":1,"type":"subscribe","key":"a","filter":"x > 5"}', "a filter is a JSON object"),
        (b'{"v":1,"type":"subscribe","key":"a","filter":{"text":"x >"}}', "malformed"),
        (b'{"v":1,"type":"subscribe","key":"a","filter":{"text":"x","mood":"odd"}}', "no field 'mood'"),
        (b'{"v":1,"type":"subscribe","key":"a","filter":{"text":"x = 1","semantics":"loose"}}', "malformed"),
        (b'{"v":1,"type":"subscribe","key":"a","filter":{"text":"x = 1","types":[]}}', "types"),
        (b'{"v":1,"type":"subscribe","key":"a","filter":{"text":"x = 1","ontology":"abc"}}', "no ontology abc"),
        (b'{"v":1,"type":"subscribe","key":"a","filter":{"text":"x = 1"},"context":"kelvin"}', "a context is"),
        (b'{"v":1,"type":"replay","client":"C","epoch":1,"to":"B","events":[["C",1]]}', "lacks its event"),
        (b'{"v":1,"type":"replay","client":"C","epoch":1,"to":"B","events":[["C"]]}', "2 fields"),
        (b'{"v":1,"type":"replay","client":"C","epoch":1,"to":"B","last":1}', "true or false"),
        (b'{"v":1,"type":"attach","client":"C","epoch":1,"trail":{}}', "a list"),
        (b'{"v":1,"type":"leave","client":"' + b"x" * 2000 + b'"}', "at most 1024 characters"),
    ],
)
def test_malformed_messages(data: bytes, complaint: str) -> None:
    with pytest.raises(MessageError, match=complaint):
        Wire().decode(data)


def test_bounds() -> None:
    with pytest.raises(MessageError, match="at most"):
        Wire().decode(b" " * (MAX_BYTES + 1))
    huge = m.Problem("x", "y" * MAX_BYTES)
    with pytest.raises(MessageError, match="at most"):
        Wire().encode(huge)
    with pytest.raises(MessageError, match="bytes, not str"):
        Wire().decode("{}")  # type: ignore[arg-type]
    deep = b'{"v":1,"type":"leave","client":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    with pytest.raises(MessageError):
        Wire().decode(deep)


def test_filters_are_shared() -> None:
    data = WIRE.encode(m.Subscribe("a", Filter.parse("x > 5", types={"x": "int"})))
    first, second = WIRE.decode(data), WIRE.decode(data)
    assert isinstance(first, m.Subscribe)
    assert isinstance(second, m.Subscribe)
    assert first.filter is second.filter


def test_the_form_is_readable() -> None:
    head, event = WIRE.encode(m.Publish("C1", 7, SemanticEvent("Reading", {"t": 30}))).split(b"\n")
    assert json.loads(head) == {"v": 1, "type": "publish", "publisher": "C1", "sequence": 7}
    assert json.loads(event) == {"concept": "Reading", "attributes": {"t": 30}}
