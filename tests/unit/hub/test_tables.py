"""Tables against events: publishing rows as a table equals publishing them one by one."""

import datetime as dt
import random

import pyarrow as pa
import pytest

import conceptpubsub as cps
from conceptpubsub.errors import InvalidEvent
from conceptpubsub.model.codecs import events_to_table, table_to_events


@pytest.fixture(scope="module")
def onto():
    return cps.Ontology.bundled("vehicles")


def reports(count, seed=1):
    r = random.Random(seed)
    for number in range(count):
        unit = r.choice(["degF", "degC", "kelvin"])
        attributes = {
            "InTemperature": cps.SemanticObject("Temperature", r.randint(-20, 400) / 2, cps.Context(unit=unit)),
            "Odometer": cps.SemanticObject("Distance", r.randint(-2, 90), cps.Context(unit="mile")),
            "LicensePlate": f"P{r.randint(0, 4)}",
            "PartFailure": r.choice(["Engine", "Brake", "Wheell", None]),
            "Occupants": r.choice([1, 2, None]),
        }
        yield cps.SemanticEvent(
            r.choice(["VehicleStatus", "VehicleAlarm"]),
            {key: value for key, value in attributes.items() if r.random() < 0.9},
            id=str(number),
            time="2026-11-18T05:00Z",
        )


WISHES = [
    ("Temperature > 25 degC", None),
    ("Temperature > 25 degC", cps.Context(unit="kelvin")),
    ("Distance < 30 km OR LicensePlate = 'P1'", cps.Context(unit="km")),
    ("PartFailure ISA Brake", {"Temperature": cps.Context(unit="degC"), "Odometer": cps.Context(unit="m")}),
    ("EVENT ISA VehicleAlarm", cps.Context(language="de")),
]


def gathered(onto, publish, batch):
    got = [[] for _ in WISHES]
    letters = []
    with cps.Hub(ontology=onto, dead_letter=letters.append) as hub:
        for mine, (text, context) in zip(got, WISHES, strict=True):
            hub.subscribe(text, mine.append, context=context, batch=batch)
        receipts = publish(hub)
    return got, letters, receipts


@pytest.mark.parametrize("seed", range(3))
def test_a_table_is_delivered_as_its_rows_are(onto, seed):
    events = list(reports(60, seed))
    table = events_to_table(events)
    singly, letters, receipts = gathered(onto, lambda hub: [hub.publish(event) for event in events], False)
    by_table, table_letters, receipt = gathered(onto, lambda hub: hub.publish_batch(table), False)
    assert by_table == singly
    assert 0 < len(letters) == len(table_letters)
    assert [letter.reason for letter in letters] == [letter.reason for letter in table_letters]
    assert receipt.matched == sum(each.matched for each in receipts)
    batches, _, _ = gathered(onto, lambda hub: hub.publish_batch(table), True)
    for one, many in zip(singly, batches, strict=True):
        read = [event for batch in many for event in table_to_events(batch.table).events]
        assert [event.id for event in read] == [event.id for event in one]
        for mine, theirs in zip(read, one, strict=True):
            assert set(mine) == set(theirs)
            for key in mine:
                assert mine[key].context == theirs[key].context
                value = theirs[key].value
                assert mine[key].value == (pytest.approx(value) if isinstance(value, int | float) else value)


def test_units_in_metadata_stay_there(onto):
    field = pa.field("InTemperature", pa.float64(), metadata={"unit": "degF"})
    table = pa.table(
        [pa.array([86.0, None, 50.0]), pa.array(["VehicleStatus"] * 3)],
        schema=pa.schema([field, ("@concept", pa.string())]),
    )
    got = []
    with cps.Hub(ontology=onto) as hub:
        hub.subscribe("Temperature > 0 degC", got.append, batch=True, context=cps.Context(unit="degC"))
        assert hub.publish_batch(table).matched == 2
        assert hub.publish_batch(table.to_batches()[0]).matched == 2
    assert got[0].table.column("InTemperature").to_pylist() == pytest.approx([30, 10])
    assert got[0].table.schema.field("InTemperature").metadata == {b"unit": b"degC"}


def test_currencies_convert_by_the_time_of_the_row():
    conv = cps.Converters.default()
    conv.register("currency", {"2026-11-17": {"USD": 1.25}, "2026-11-18": {"USD": 1.6}}, pivot="EUR")
    table = pa.table(
        {
            "price": [100.0, 100.0, 100.0],
            "price@currency": ["USD", "USD", "GBP"],
            "@time": ["2026-11-17T12:00Z", "2026-11-18T12:00Z", "2026-11-18T12:00Z"],
        }
    )
    got = []
    with cps.Hub(converters=conv) as hub:
        hub.subscribe("price IS NOT NULL", got.append, batch=True, context=cps.Context(currency="EUR"))
        hub.publish_batch(table)
    rows = got[0].table.select(["price", "price@currency"]).to_pylist()
    assert rows == [
        {"price": 80, "price@currency": "EUR"},
        {"price": 62.5, "price@currency": "EUR"},
        {"price": 100, "price@currency": "GBP"},
    ]


def test_a_row_that_is_not_finite_costs_only_itself():
    got = []
    with cps.Hub() as hub:
        hub.subscribe("x > 0", got.append, batch=True)
        receipt = hub.publish_batch(pa.table({"x": [1.0, float("nan"), 3.0]}))
    assert (receipt.matched, len(receipt.problems)) == (2, 1)
    assert got[0].table.column("x").to_pylist() == [1.0, 3.0]


def test_empty_tables(onto):
    with cps.Hub(ontology=onto) as hub:
        assert hub.publish_batch(pa.table({"InTemperature": pa.array([], pa.float64())})).matched == 0
        assert hub.publish_batch([]).matched == 0


@pytest.mark.parametrize("vehicles", [False, True])
@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"Odometer": pa.array([None, [1, 2], None])}, "one value a cell"),
        ({"Odometer": pa.array([None, b"far", None])}, "binary"),
        ({"@time": ["2026-11-18T05:00Z", "yesterday", None], "Odometer": [1, 2, 3]}, "yesterday"),
        ({"@time": pa.array([None, dt.datetime(2026, 11, 18), None])}, "time zone"),
    ],
)
def test_a_row_that_cannot_be_an_event_is_told_to_the_publisher(onto, columns, reason, vehicles):
    with cps.Hub(onto if vehicles else None) as hub:
        got = []
        hub.subscribe("", got.append)
        receipt = hub.publish_batch(pa.table({**columns, "@concept": ["VehicleStatus"] * 3}))
        assert len(receipt.problems) == 1
        assert reason in receipt.problems[0]
        assert (receipt.matched, len(got), hub.dead_letters.count) == (2, 2, 1)


def test_what_is_no_table_is_told():
    hub = cps.Hub()
    with pytest.raises(InvalidEvent, match="ChunkedArray"):
        hub.publish_batch(pa.chunked_array([[1]]))
    with pytest.raises(InvalidEvent, match="two columns 'x'"):
        hub.publish_batch(pa.table([[1], [2]], names=["x", "x"]))
