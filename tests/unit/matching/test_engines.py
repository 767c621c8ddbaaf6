"""One conformance suite for every engine: what a Matcher answers, whatever works behind it."""

from __future__ import annotations

import pickle
import threading
from importlib.util import find_spec

import numpy as np
import pytest

from conceptpubsub.errors import DuplicateKey, FilterError, InvalidEvent, UnknownKey, UnsupportedSemantics
from conceptpubsub.filters import Filter
from conceptpubsub.matching import Matcher
from conceptpubsub.matching.engine import ENGINES, make_engine

pa = pytest.importorskip("pyarrow")
NAMES = [name for name, home in ENGINES.items() if find_spec(home.partition(":")[0]) is not None]


@pytest.fixture(params=NAMES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def semantics_of(engine: str) -> str:
    """A semantics the engine has under which these simple filters mean the same: sql, else strict."""
    known = make_engine(engine).semantics
    return "sql" if "sql" in known else "strict"


def flt(text: str, engine: str, semantics: str | None = None) -> Filter:
    return Filter.parse(text, semantics=semantics or semantics_of(engine))


def test_keys_come_in_the_order_added(engine: str) -> None:
    m = Matcher(engine=engine)
    for key in ("c", "a", ("tuple", 1), 7):
        m.add(key, flt("x > 1", engine))
    assert m.match({"x": 2}) == ["c", "a", ("tuple", 1), 7]
    assert m.match({"x": 1}) == []
    assert list(m) == ["c", "a", ("tuple", 1), 7]


def test_a_known_key_is_refused_unless_replaced(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add("k", flt("x > 1", engine))
    m.add("l", flt("x > 1", engine))
    with pytest.raises(DuplicateKey):
        m.add("k", flt("x > 5", engine))
    with pytest.raises(KeyError):
        m.add_many([("n", flt("x > 5", engine)), ("k", flt("x > 5", engine))])
    assert len(m) == 3
    m.add("k", flt("x > 5", engine), replace=True)
    assert m.match({"x": 2}) == ["l"]
    assert m.match({"x": 6}) == ["l", "n", "k"]
    m.add_many([("k", flt("x > 8", engine))], replace=True)
    assert m.match({"x": 6}) == ["l", "n"]
    assert len(m) == 3


def test_an_unknown_key_cannot_be_removed(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add("alpha", flt("x > 1", engine))
    with pytest.raises(UnknownKey, match="alpha"):
        m.remove("alhpa")
    m.remove("alpha")
    with pytest.raises(KeyError):
        m.remove("alpha")
    assert m.match({"x": 2}) == []
    assert len(m) == 0


def test_interfaces(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add(1, flt("x > 1", engine), interface="A")
    m.add(2, flt("x > 2", engine), interface={"A", "B"})
    m.add(3, flt("x > 3", engine))
    m.add(4, flt("y = 'u' AND x > 3", engine), interface="C")
    assert m.interfaces({"x": 2}) == {"A"}
    assert m.interfaces({"x": 3}) == {"A", "B"}
    assert m.interfaces({"x": 9, "y": "u"}) == {"A", "B", "C"}
    assert m.interfaces({"x": 0}) == set()
    m.remove(2)
    assert m.interfaces({"x": 3}) == {"A"}
    table = pa.table({"x": [0, 2, 9], "y": [None, "u", "u"]})
    assert m.interfaces_batch(table) == [set(), {"A"}, {"A", "C"}]


def test_batch_of_int_keys_is_an_int_array(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add_many([(10, flt("x >= 1", engine)), (20, flt("x >= 2", engine)), (30, flt("s = 'a'", engine))])
    found = m.match_batch(pa.table({"x": [2, 1, None], "s": ["a", "b", "a"]}))
    assert found.offsets.tolist() == [0, 3, 4, 5]
    assert found.offsets.dtype == np.int64
    assert found.keys.dtype == np.int64
    assert found.keys.tolist() == [10, 20, 30, 10, 30]
    assert np.unpackbits(found.bitmap(), axis=1)[:, :3].tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 1]]
    assert found.errors == []


def test_batch_of_other_keys_is_an_object_array(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add("a", flt("x >= 1", engine))
    m.add(True, flt("x >= 1", engine))
    m.add((1, 2), flt("x >= 2", engine))
    found = m.match_batch(pa.table({"x": [2, 1]}))
    assert found.keys.dtype == object
    assert found.keys.tolist() == ["a", True, (1, 2), "a", True]
    assert found.row(1) == ["a", True]


def test_bitmap_columns_close_up_after_removal(engine: str) -> None:
    m = Matcher(engine=engine)
    for key in range(20):
        m.add(key, flt(f"x > {key}", engine))
    for key in range(0, 20, 3):
        m.remove(key)
    left = [key for key in range(20) if key % 3]
    found = m.match_batch(pa.table({"x": [5, 100]}))
    assert found.bitmap().shape == (2, 2)
    bits = np.unpackbits(found.bitmap(), axis=1)[:, : len(left)]
    assert [key for key, bit in zip(left, bits[0], strict=True) if bit] == [1, 2, 4]
    assert bits[1].all()


def test_a_bad_row_is_reported_and_the_rest_matched(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add("k", flt("x > 1", engine))
    found = m.match_batch(pa.table({"x": [2.0, float("nan"), 3.0, None]}))
    assert found.keys.tolist() == ["k", "k"]
    assert found.offsets.tolist() == [0, 1, 1, 2, 2]
    assert [(error.row, error.key) for error in found.errors] == [(1, None)]
    assert "finite" in found.errors[0].reason


def test_a_bad_event_raises(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add("k", flt("x > 1", engine))
    with pytest.raises(InvalidEvent):
        m.match({"x": [1, 2]})
    with pytest.raises(InvalidEvent):
        m.match("x = 1")  # type: ignore[arg-type]
    assert m.match({"x": 2}) == ["k"]


def test_total_reports_what_is_missing_and_matches_the_rest(engine: str) -> None:
    if "total" not in make_engine(engine).semantics:
        pytest.skip("the engine has no total semantics")
    m = Matcher(engine=engine)
    m.add("t", flt("x > 1 AND y > 1", engine, "total"))
    m.add("u", flt("x > 1", engine, "total"))
    errors: list[tuple[object, ...]] = []
    assert m.match({"x": 2}, errors) == ["u"]  # type: ignore[arg-type]
    assert [(error[1], "y" in str(error[2])) for error in errors] == [("t", True)]
    assert m.match({"x": 2}) == ["u"]
    found = m.match_batch(pa.table({"x": [2, None, 2], "y": [2, 2, None]}))
    assert found.keys.tolist() == ["t", "u", "u"]
    assert [(error.row, error.key) for error in found.errors] == [(1, "t"), (1, "u"), (2, "t")]


def test_semantics_an_engine_lacks_are_refused(engine: str) -> None:
    missing = {"sql", "strict", "total", "default"} - make_engine(engine).semantics
    m = Matcher(engine=engine)
    for semantics in missing:
        with pytest.raises(UnsupportedSemantics):
            m.add("k", flt("x > 1", engine, semantics))
    assert len(m) == 0


def test_what_is_no_filter_is_refused(engine: str) -> None:
    with pytest.raises(FilterError):
        Matcher(engine=engine).add("k", "x > 1")  # type: ignore[arg-type]


def test_an_empty_matcher_and_an_empty_table(engine: str) -> None:
    m = Matcher(engine=engine)
    assert m.match({"x": 1}) == []
    assert m.interfaces({"x": 1}) == set()
    found = m.match_batch(pa.table({"x": [1, 2]}))
    assert found.offsets.tolist() == [0, 0, 0]
    assert found.bitmap().shape == (2, 0)
    m.add("k", flt("x > 1", engine))
    assert m.match_batch(pa.table({"x": pa.array([], pa.int64())})).offsets.tolist() == [0]


def test_a_matcher_pickles(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add("k", flt("x > 1 AND s = 'a'", engine), interface="A")
    m.match({"x": 2, "s": "a"})
    copy = pickle.loads(pickle.dumps(m))
    assert copy.match({"x": 2, "s": "a"}) == ["k"]
    assert copy.interfaces({"x": 2, "s": "a"}) == {"A"}
    copy.add("l", flt("x > 1", engine))
    assert copy.match({"x": 2}) == ["l"]
    assert m.match({"x": 2}) == []


def test_stats_and_explain(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add("k", flt("x > 1", engine))
    m.warm_up()
    assert m.stats()["filters"] == 1
    assert m.stats()["engine"] == m.engine
    assert "x > 1" in m.explain("k", {"x": 2})


def test_explaining_an_unknown_key_offers_near_keys(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add_many([("alpha", flt("x > 1", engine)), (7, flt("x > 1", engine))])
    with pytest.raises(UnknownKey, match="Did you mean 'alpha'") as caught:
        m.explain("alhpa", {"x": 2})
    assert caught.value.near == ("alpha",)
    with pytest.raises(UnknownKey, match="Did you mean 7"):
        m.explain("7", {"x": 2})
    m.add_many((f"client-{n}/eu", flt("x > 1", engine)) for n in range(1200))
    with pytest.raises(UnknownKey, match="client-17"):
        m.explain("client17/eu", {"x": 2})


def test_stats_count_what_events_cost(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add_many((n, flt(f"x = {n} AND y > 0", engine)) for n in range(300))
    m.warm_up()
    before = m.stats()
    m.match({"x": 3, "y": 1})
    m.match({"x": 3, "y": 0})
    after = m.stats()
    assert (after.filters, after.engine) == (300, engine)
    assert after.work.events - before.work.events == 2
    assert after.work.passed - before.work.passed == 1
    assert after.work.candidates - before.work.candidates >= 1
    assert before.work.events == 0
    assert str(after).splitlines()[0].split() == ["engine", engine]
    assert "300" in str(after)
    with pytest.raises(KeyError):
        after["no such figure"]
    m.remove(5)
    assert m.stats().filters == 299


def test_stats_count_the_work_of_every_thread(engine: str) -> None:
    m = Matcher(engine=engine)
    m.add("k", flt("x > 1", engine))
    m.warm_up()
    before = m.stats().work
    for _ in range(3):
        worker = threading.Thread(target=m.match, args=({"x": 2},))
        worker.start()
        worker.join()
    m.match_batch(pa.table({"x": [1, 2, 3]}))
    after = m.stats().work
    assert after.events - before.events == 6
    assert after.passed - before.passed == 5


def test_an_unknown_engine_offers_near_names() -> None:
    with pytest.raises(FilterError, match="counting"):
        Matcher(engine="countin")
