"""The hub as a publisher and a subscriber see it."""

import threading

import pytest

import conceptpubsub as cps
from conceptpubsub.errors import (
    ConceptPubSubError,
    FilterTypeError,
    HubError,
    InvalidEvent,
    InvalidValue,
    NoConversion,
    UnknownUnit,
)
from conceptpubsub.hub import Batch, Retry

WARM = cps.SemanticObject("Temperature", 86, cps.Context(unit="degF"))


@pytest.fixture(scope="module")
def onto():
    return cps.Ontology.bundled("vehicles")


@pytest.fixture
def hub(onto):
    with cps.Hub(ontology=onto) as made:
        yield made


def status(**attributes):
    return cps.SemanticEvent("VehicleStatus", attributes, id="1", time="2026-11-18T05:00Z")


def test_each_subscriber_reads_its_own_unit(hub):
    kelvin, celsius, plain = [], [], []
    hub.subscribe("Temperature > 25 degC", kelvin.append, context=cps.Context(unit="kelvin"))
    hub.subscribe("Temperature > 77 degF", celsius.append, context={"InTemperature": cps.Context(unit="degC")})
    hub.subscribe("Temperature > 290 kelvin", plain.append)
    hub.subscribe("Temperature > 30 degC", plain.append)
    event = status(InTemperature=WARM, Odometer=cps.SemanticObject("Distance", 5, cps.Context(unit="mile")))
    assert hub.publish(event).matched == 3
    assert [e["InTemperature"].value for e in (*kelvin, *celsius, *plain)] == [303.15, 30, 86]
    assert kelvin[0]["Odometer"] == event["Odometer"]
    assert plain == [event]


def test_unsubscribed_is_silent(hub):
    got = []
    sub = hub.subscribe("Temperature > 25 degC", got.append)
    hub.unsubscribe(sub)
    assert hub.publish(status(InTemperature=WARM)).matched == 0
    assert got == []
    with pytest.raises(HubError, match="has ended"):
        hub.unsubscribe(sub)


@pytest.mark.parametrize(
    ("text", "context", "error"),
    [
        ("Temprature > 25 degC", None, FilterTypeError),
        ("Temperature > 25 degC", cps.Context(unit="kelvn"), UnknownUnit),
        ("Temperature > 25 degC", {"Temperature": cps.Context(unit="kg")}, NoConversion),
    ],
)
def test_a_subscription_that_could_never_work_is_refused_at_once(hub, text, context, error):
    with pytest.raises(error):
        hub.subscribe(text, print, context=context)
    assert hub.subscriptions == ()


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"InTemprature": 3}, "no such concept"),
        ({"InTemperature": "warm"}, "number"),
        ({"InTemperature": cps.SemanticObject("Temperature", 3, cps.Context(unit="kg"))}, "kg"),
        ({"Occupants": 1.5}, "integer"),
        ({"FuelLevel": cps.SemanticObject("FuelLevel", 150, cps.Context(unit="percent"))}, "at most"),
        ({"InTemperature": [1, 2]}, "one value"),
        ({"InTemperature": float("nan")}, "finite"),
        (7, "mapping"),
    ],
)
def test_an_invalid_event_becomes_a_dead_letter(hub, event, reason):
    got = []
    hub.subscribe("", got.append)
    hub.publish(status(InTemperature=WARM))
    receipt = hub.publish({"@concept": "VehicleStatus", **event} if isinstance(event, dict) else event)
    assert not receipt.accepted
    assert reason in receipt.problems[0]
    assert reason in next(iter(hub.dead_letters)).reason
    assert (len(got), hub.dead_letters.count) == (1, 1)


def test_shapes_seen_before_are_still_judged_by_their_values(hub):
    for value, good in ((50, True), (50, True), (150, False), (100, True), (-1, False), (0, True), (99.5, True)):
        level = cps.SemanticObject("FuelLevel", value, cps.Context(unit="percent"))
        assert hub.publish(status(FuelLevel=level)).accepted is good, value


def test_a_callback_that_raises_is_retried_and_harms_nobody(onto):
    letters, got, tries = [], [], []
    with cps.Hub(ontology=onto, dead_letter=letters.append) as hub:

        def twice(event):
            tries.append(event)
            if len(tries) < 3:
                raise RuntimeError("not yet")

        def never(event):
            raise ValueError("never")

        hub.subscribe("Temperature > 25 degC", never, retry=Retry(attempts=2, delay=0.001), name="grumpy")
        hub.subscribe("Temperature > 25 degC", twice, retry=Retry(attempts=3, delay=0.001))
        hub.subscribe("Temperature > 25 degC", got.append)
        hub.publish(status(InTemperature=WARM))
        assert len(got) == 1
        assert hub.flush()
        assert len(tries) == 3
        assert [(letter.subscription, letter.reason, letter.attempts) for letter in letters] == [
            ("grumpy", "ValueError: never", 2)
        ]


def test_the_first_failure_of_a_callback_is_logged_with_its_trace(caplog):
    with cps.Hub(retry=Retry(attempts=1)) as hub:
        hub.subscribe("n > 0", lambda event: event.nosuch, name="typo")
        hub.publish({"n": 1})
        hub.publish({"n": 2})
    (record,) = caplog.records
    assert "typo failed 1 times" in record.message
    assert "nosuch" in record.message
    assert record.exc_info[1].__traceback__ is not None
    assert hub.dead_letters.count == 2


def test_a_handler_of_dead_letters_that_raises_is_left_out():
    def broken(letter):
        raise OSError("disk full")

    hub = cps.Hub(dead_letter=broken, dead_letters_kept=1)
    assert not hub.publish([]).accepted
    assert not hub.publish(3).accepted
    assert hub.dead_letters.count == 2
    assert len(hub.dead_letters) == 1
    assert hub.dead_letters.handler_error == "OSError: disk full"


def test_batch_callbacks_get_batches(hub):
    got = []
    hub.subscribe("Temperature > 25 degC", got.append, batch=True, context=cps.Context(unit="degC"))
    receipt = hub.publish_batch([status(InTemperature=WARM), {"Nonsense": 1}, status(OutTemperature=WARM)])
    assert (receipt.matched, len(receipt.problems)) == (2, 1)
    assert len(got) == 1
    assert isinstance(got[0], Batch)
    assert [next(iter(e.attributes.values())).value for e in got[0]] == [30, 30]
    hub.publish(status(InTemperature=WARM))
    assert len(got[1]) == 1
    assert got[1].table.column("InTemperature").to_pylist() == [30]


def test_plain_attributes_without_an_ontology():
    hub = cps.Hub(semantics="default", types={"volume": "int"})
    got = []
    hub.subscribe("symbol = 'IBM' AND price <> 5", got.append)
    assert hub.publish({"symbol": "IBM"}).matched == 1
    assert hub.publish({"symbol": "IBM", "price": 5}).matched == 0


def test_quenching(hub):
    hub.subscribe("Temperature > 25 degC AND Odometer < 100 km", print)
    hub.subscribe(cps.Filter.parse("Occupants > 3", ontology=hub.ontology, converters=hub.converters), print)
    assert hub.wanted("InTemperature > 300 kelvin")
    assert not hub.wanted("Odometer > 200 mile AND Occupants IS NULL")
    hub.unsubscribe(hub.subscriptions[1])
    assert not hub.wanted("Odometer > 200 mile")


def test_a_callback_may_use_the_hub(hub):
    seen = []

    def once(event):
        seen.append(event)
        if len(seen) < 3:
            hub.publish(event)
        else:
            hub.unsubscribe(sub)

    sub = hub.subscribe("Temperature > 25 degC", once)
    hub.publish(status(InTemperature=WARM))
    hub.publish(status(InTemperature=WARM))
    assert len(seen) == 3


def test_converters_registered_later_count(onto):
    conv = cps.Converters.default(onto).register("currency", {"USD": 1.25}, pivot="EUR")
    hub = cps.Hub(converters=conv)
    got = []
    hub.subscribe("price > 10 USD", got.append, context=cps.Context(currency="EUR"))
    hub.publish({"price": cps.SemanticObject("price", 100, cps.Context(currency="USD"))})
    conv.register("currency", {"USD": 2}, pivot="EUR")
    hub.publish({"price": cps.SemanticObject("price", 100, cps.Context(currency="USD"))})
    assert [event["price"].value for event in got] == [80, 50]


def test_many_threads(hub):
    got, lock = [], threading.Lock()

    def keep(event):
        with lock:
            got.append(event)

    hub.subscribe("Temperature > 25 degC", keep)
    stop = threading.Event()

    def churn():
        while not stop.is_set():
            hub.unsubscribe(hub.subscribe("Temperature > 90 degC", keep))

    churning = threading.Thread(target=churn)
    churning.start()
    publishers = [
        threading.Thread(target=lambda: [hub.publish(status(InTemperature=WARM)) for _ in range(50)]) for _ in range(4)
    ]
    for thread in publishers:
        thread.start()
    for thread in publishers:
        thread.join()
    stop.set()
    churning.join()
    assert len(got) == 200


def test_a_closed_hub(hub):
    sub = hub.subscribe("Temperature > 25 degC")
    hub.publish(status(InTemperature=WARM))
    hub.close()
    assert len(list(sub)) == 1
    with pytest.raises(HubError, match="closed"):
        hub.publish(status())
    with pytest.raises(HubError, match="ended"):
        sub.get()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"price": 3}, "this is one"),
        (cps.SemanticEvent("E", {"n": 1}), "this is one"),
        ("events.jsonl", "not a str"),
        (None, "not a NoneType"),
    ],
)
def test_what_is_no_batch_is_told(given, told):
    with pytest.raises(InvalidEvent, match=told):
        cps.Hub().publish_batch(given)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"callback": "print"}, "function of one event"),
        ({"context": "kelvin"}, "Context"),
        ({"retry": 3}, "Retry"),
    ],
)
def test_what_cannot_be_subscribed_with_is_told(options, told):
    hub = cps.Hub()
    with pytest.raises(InvalidValue, match=told):
        hub.subscribe("n > 0", **options)
    assert hub.subscriptions == ()


def test_a_hub_that_could_never_read_a_filter_is_not_made():
    with pytest.raises(InvalidValue, match="bundled"):
        cps.Hub("vehicles")
    with pytest.raises(ConceptPubSubError, match="sqll"):
        cps.Hub(semantics="sqll")
    with pytest.raises(ConceptPubSubError, match="integer"):
        cps.Hub(types={"n": "integer"})
