"""Brokers by themselves: what they send where, and that nothing others say stops them."""

import pytest

from conceptpubsub.filters import Filter
from conceptpubsub.model import Context, SemanticEvent, SemanticObject
from conceptpubsub.routing import Network, Simulation
from conceptpubsub.routing import messages as m
from conceptpubsub.routing.broker import Broker
from conceptpubsub.routing.strategies import STRATEGIES, strategy
from conceptpubsub.routing.wire import Wire

WIDE, NARROW, OTHER = Filter.parse("x > 5"), Filter.parse("x > 7"), Filter.parse("y = 1")


def broker(name: str = "covering", **options: object) -> Broker:
    return Broker("B0", ["B1", "B2", "B3"], strategy(name), **options)  # type: ignore[arg-type]


def event(**attributes: object) -> SemanticEvent:
    return SemanticEvent("Reading", attributes)


def shown(outputs: list[tuple[str, m.Message]]) -> list[str]:
    return sorted(
        f"{to} {type(message).__name__.lower()} {getattr(message, 'filter', getattr(message, 'sequence', ''))}".strip()
        for to, message in outputs
    )


def attached(at: Broker, client: str = "C1", **more: object) -> Broker:
    assert at.receive(m.Attach(client, 1, **more), client)  # type: ignore[arg-type]
    return at


def test_covering_hides_and_exposes() -> None:
    at = broker()
    assert shown(at.receive(m.Subscribe("n", NARROW), "B1")) == ["B2 subscribe x > 7", "B3 subscribe x > 7"]
    wider = at.receive(m.Subscribe("w", WIDE), "B1")
    assert [(to, type(message)) for to, message in wider] == [
        (to, kind) for to in ("B2", "B3") for kind in (m.Subscribe, m.Unsubscribe)
    ], "the new is announced before the old is withdrawn"
    assert shown(at.receive(m.Subscribe("w", WIDE), "B2")) == ["B1 subscribe x > 5"]
    exposed = at.receive(m.Unsubscribe("w"), "B1")
    assert shown(exposed) == ["B2 subscribe x > 7", "B2 unsubscribe"], "B3 still hears of the one from B2"


def test_an_event_goes_where_it_is_wanted_and_not_back() -> None:
    at = broker()
    at.receive(m.Subscribe("a", WIDE), "B1")
    at.receive(m.Subscribe("b", NARROW), "B2")
    published = m.Publish("C9", 1, event(x=9))
    assert at.receive(published, "B3") == [("B1", published), ("B2", published)]
    assert at.receive(published, "B1") == [("B2", published)]
    assert at.receive(m.Publish("C9", 2, event(x=6)), "B1") == []


def test_flooding_sends_everywhere_else() -> None:
    at = broker("flooding")
    published = m.Publish("C9", 1, event(x=9))
    assert at.receive(published, "B3") == [("B1", published), ("B2", published)]


def test_a_client_gets_an_event_once_in_the_context_of_its_first_subscription() -> None:
    warm = Filter.parse("t > 20 degC")
    subscriptions = (
        m.Subscribe("kelvin", warm, Context(unit="kelvin")),
        m.Subscribe("fahrenheit", Filter.parse("t > 10 degC"), Context(unit="degF")),
    )
    at = attached(broker(), subscriptions=subscriptions)
    hot, mild = (
        m.Publish("P", n, event(t=SemanticObject("t", v, Context(unit="degC")))) for n, v in ((1, 30), (2, 15))
    )
    (to, first), (_, second) = at.receive(hot, "B1") + at.receive(mild, "B1")
    assert isinstance(first, m.Deliver)
    assert isinstance(second, m.Deliver)
    assert (to, first.subscription, first.event["t"].value) == ("C1", "kelvin", 303.15)
    assert (second.subscription, second.event["t"].value) == ("fahrenheit", 59)


def test_subscriptions_travel_only_toward_overlapping_advertisements() -> None:
    at = broker(advertisements=True)
    at.receive(m.Subscribe("s", NARROW), "B1")
    assert shown(at.receive(m.Advertise("a", WIDE), "B2")) == [
        "B1 advertise x > 5", "B2 subscribe x > 7", "B3 advertise x > 5",
    ]  # fmt: skip
    assert shown(at.receive(m.Advertise("a", OTHER), "B3")) == [
        "B1 advertise y = 1", "B2 advertise y = 1", "B3 subscribe x > 7",
    ], "an event may have both x and y"  # fmt: skip
    assert shown(at.receive(m.Advertise("b", Filter.parse("x < 3")), "B1")) == [
        "B2 advertise x < 3", "B3 advertise x < 3",
    ]  # fmt: skip
    assert shown(at.receive(m.Unadvertise("a"), "B2")) == ["B1 unadvertise", "B2 unsubscribe", "B3 unadvertise"]


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("advertisements", [False, True])
def test_a_broker_keeps_serving(name: str, advertisements: bool) -> None:
    at = attached(broker(name, advertisements=advertisements), advertisements=(m.Advertise("all", Filter.parse("")),))
    at.receive(m.Subscribe("good", WIDE), "C1")
    wire = Wire()
    bad: list[tuple[m.Message, str, str]] = [
        (m.Subscribe("s", WIDE), "B9", "unknown sender"),
        (m.Publish("C8", 1, event(x=9)), "C8", "unknown sender"),
        (m.Publish("C8", 1, event(x=9)), "C1", "unknown sender"),
        (m.Attach("C2", 1), "C3", "unknown sender"),
        (m.Attach("C1", 2), "C1", "duplicate client"),
        (m.Attach("B1", 2), "B1", "unexpected message"),
        (m.Deliver("s", "C1", 1, event(x=1)), "B1", "unexpected message"),
        (m.Handover("C1", 1, "B0", "B1"), "C1", "unexpected message"),
        (m.Subscribe("good", NARROW), "C1", "duplicate key"),
        (m.Advertise("all", NARROW), "C1", "duplicate key"),
        (m.Unsubscribe("nothing"), "C1", "unknown key"),
        (m.Unadvertise("nothing"), "C1", "unknown key"),
        (m.Unsubscribe("nothing"), "B1", "unknown key"),
        (m.Unadvertise("nothing"), "B1", "unknown key"),
        (m.Subscribe("never", Filter.parse("x > 5 AND x < 5")), "C1", "never matches"),
        (m.Publish("C1", 0, event(x=9)), "C1", "duplicate event"),
    ]
    for message, from_, reason in bad:
        before = at.dead_letters[reason]
        at.receive(message, from_)
        assert at.dead_letters[reason] == before + 1, (message, at.dead_letters)
    for data in (b"", b"{", b"\xff", b'{"v":1,"type":"subscribe"}', b'{"v":1,"type":"publish","event":1}'):
        assert at.receive_bytes(data, "B1", wire) == []
    assert at.dead_letters["malformed message"] == 5
    assert ("C1", 3) in [
        (to, message.sequence)
        for to, message in at.receive(m.Publish("C9", 3, event(x=9)), "B1")
        if isinstance(message, m.Deliver)
    ], "and still delivers"
    assert at.receive(m.Publish("C1", 1, event(x=9)), "C1")


def test_a_key_may_be_used_once_on_a_link() -> None:
    at = broker()
    at.receive(m.Subscribe("s", WIDE), "B1")
    at.receive(m.Advertise("a", WIDE), "B1")
    assert at.receive(m.Subscribe("s", OTHER), "B1") == []
    at.receive(m.Advertise("a", OTHER), "B1")
    assert at.dead_letters == {"duplicate key": 2}
    assert at.tables.subscriptions == {"B1": {"s": WIDE}}


def test_a_client_is_told_what_went_wrong() -> None:
    at = attached(broker(advertisements=True), advertisements=(m.Advertise("a", WIDE),))
    ((to, problem),) = at.receive(m.Publish("C1", 1, event(x=1)), "C1")
    assert (to, problem) == (
        "C1",
        m.Problem("event 1", "event 1 matches none of the publisher's advertisements"),
    )
    assert at.dead_letters == {"not advertised": 1}
    never = at.receive(m.Subscribe("never", Filter.parse("x > 5 AND x < 5")), "C1")
    assert never == [("C1", m.Problem("never", "no event can match x > 5 AND x < 5"))]
    assert at.receive(m.Unsubscribe("never"), "C1") == []


def test_under_total_a_missing_reference_is_reported_and_never_delivered() -> None:
    total = Filter.parse("x > 5 AND y > 1", semantics="total")
    at = attached(broker(), subscriptions=(m.Subscribe("t", total), m.Subscribe("s", Filter.parse("x > 8"))))
    first = at.receive(m.Publish("P", 1, event(x=6)), "B1")
    assert [(to, type(message)) for to, message in first] == [("C1", m.Problem)]
    both = at.receive(m.Publish("P", 2, event(x=9)), "B1")
    assert {type(message) for _, message in both} == {m.Deliver, m.Problem}
    assert [type(message) for _, message in at.receive(m.Publish("P", 3, event(x=6, y=2)), "B1")] == [m.Deliver]


def test_total_filters_stand_for_others_only_where_they_name_the_same() -> None:
    at = broker()
    either = Filter.parse("x > 0 OR z > 0", semantics="total")
    at.receive(m.Subscribe("wide", either), "B1")
    hidden = at.receive(m.Subscribe("narrow", Filter.parse("x > 5", semantics="total")), "B1")
    assert shown(hidden) == ["B2 subscribe x > 5", "B3 subscribe x > 5"], "an event without z would be lost to it"
    strict = at.receive(m.Subscribe("sql", Filter.parse("x > 9")), "B1")
    assert len(strict) == 2, "and total is a stranger to the others"


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_filter_of_which_no_example_is_known_is_routed_like_others(name: str) -> None:
    sim = Simulation(Network.line(3), name)
    reader, writer = sim.client("B1"), sim.client("B3")
    kept = reader.subscribe("t MATCHES 'a{2}b'")
    reader.subscribe("t MATCHES 'a{2}b' AND x > 1")
    sim.run()
    writer.publish({"t": "aab"})
    writer.publish({"t": "ab"})
    sim.run()
    assert [event["t"].value for event in reader.received] == ["aab"]
    reader.unsubscribe(kept)
    sim.run()
    writer.publish({"t": "aab"})
    sim.run()
    assert len(reader.received) == 1


def test_an_event_that_nothing_can_be_made_of_is_a_dead_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    from conceptpubsub.errors import InvalidEvent

    at = broker()

    def refuse(event: SemanticEvent) -> set[str]:
        raise InvalidEvent("absurd")

    monkeypatch.setattr(at.tables.forwarding, "interfaces", refuse)
    assert at.receive(m.Publish("P", 1, event(x=6)), "B1") == []
    assert at.dead_letters == {"event cannot be matched": 1}


def test_a_lost_link_is_forgotten_and_a_new_one_is_told_everything() -> None:
    at = broker(advertisements=True)
    at.receive(m.Advertise("a", WIDE), "B1")
    at.receive(m.Advertise("a", WIDE), "B2")
    at.receive(m.Subscribe("s", NARROW), "B2")
    assert shown(at.receive(m.LinkDown(), "B2")) == ["B1 unadvertise", "B1 unsubscribe"]
    assert at.receive(m.Subscribe("late", WIDE), "B2") == []
    assert at.dead_letters == {"link is down": 1}
    assert shown(at.receive(m.LinkUp(), "B2")) == ["B2 advertise x > 5"]
    assert at.receive(m.Subscribe("s", NARROW), "B2")
