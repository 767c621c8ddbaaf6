"""Registration: by call, decorator and entry point; paths through several converters; failures that name themselves."""

import pickle
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from conceptpubsub.converters import CodeList, Converters
from conceptpubsub.errors import ConverterFailed, InvalidValue, NoConversion, UnknownAspect
from conceptpubsub.model import Context, Instant, SemanticObject
from conceptpubsub.model.ontology import Ontology

NOW = Instant.parse("2026-11-18T05:00Z")


def shout(value: str, source: str, target: str) -> str:
    return value.upper()


def test_by_call_and_by_decorator(plain: Converters) -> None:
    plain.register("case", shout, source="lower", target="upper")

    @plain.converter("grid")
    def shifted(value: float, source: str, target: str, at: Instant | None, concept: Any) -> Any:
        return (value + 1, at, concept)[0] if at == NOW else None

    word = SemanticObject("Word", "ada", Context(case="lower"))
    assert plain.convert(word, Context(case="upper")) == SemanticObject("Word", "ADA", Context(case="upper"))
    place = SemanticObject("Place", 5, Context(grid="old"))
    assert plain.convert(place, Context(grid="new"), at=NOW).value == 6
    with pytest.raises(NoConversion, match="shifted"):
        plain.convert(place, Context(grid="new"))
    assert shifted(1, "a", "b", NOW, None) == 2
    assert {"case", "grid", "unit"} <= set(plain.aspects)


def test_each_registration_raises_the_revision_and_is_seen(shop: Ontology) -> None:
    conv = Converters.default(shop)
    symbol, context = shop["Symbol"], Context(scheme="NYSE")
    before, digest = conv.revision, conv.digest
    assert conv.canonical(symbol, "IBM", context) is None
    conv.register("scheme", CodeList.of({"NYSE": {"IBM": "Big Blue"}}, common="company"))
    assert conv.canonical(symbol, "IBM", context) == "Big Blue"
    assert conv.revision > before
    assert conv.digest != digest


def test_a_path_through_several_converters(plain: Converters) -> None:
    for source, target in (("a", "b"), ("b", "c"), ("c", "d"), ("x", "a")):
        plain.register("step", lambda value, source, target: f"{value}{target}", source=source, target=target)
    obj = SemanticObject("Thing", "a", Context(step="a"))
    assert plain.convert(obj, Context(step="d")).value == "abcd"
    with pytest.raises(NoConversion, match="d' to 'a'") as caught:
        plain.convert(SemanticObject("Thing", "d", Context(step="d")), Context(step="a"))
    assert len(caught.value.registered) == 4


def test_a_missing_path_lists_what_is_registered(plain: Converters) -> None:
    plain.register("scheme", CodeList.of({"NYSE": {"IBM": "Big Blue"}}, common="company"))
    with pytest.raises(NoConversion, match=r"code list \(company <-> NYSE\)"):
        plain.convert(SemanticObject("Symbol", "IBM", Context(scheme="NYSE")), Context(scheme="XETRA"))


def test_a_converter_that_raises(plain: Converters) -> None:
    @plain.converter("case")
    def broken(value: str, source: str, target: str) -> str:
        raise KeyError("no such letter")

    with pytest.raises(ConverterFailed, match="broken") as caught:
        plain.convert(SemanticObject("Word", "ada", Context(case="lower")), Context(case="upper"))
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.converter.endswith("broken")


def test_a_converter_that_raises_makes_a_value_missing(shop: Ontology) -> None:
    def broken(value: str, source: str, target: str) -> str:
        raise RuntimeError("the service is away")

    conv = Converters(shop).register("scheme", broken)
    assert conv.canonical(shop["Symbol"], "IBM", {"scheme": "NYSE"}) is None
    assert "the service is away" in (conv.problem(shop["Symbol"], "IBM", {"scheme": "NYSE"}) or "")


@pytest.mark.parametrize(
    ("aspect", "converter"), [("", shout), (None, shout), ("unit", shout), ("scale", shout), ("case", 5)]
)
def test_bad_registrations_are_refused(plain: Converters, aspect: Any, converter: Any) -> None:
    with pytest.raises(InvalidValue):
        plain.register(aspect, converter)


def test_an_unknown_aspect_offers_near_names(plain: Converters) -> None:
    with pytest.raises(UnknownAspect, match="timezone"):
        plain.convert(SemanticObject("Thing", 1), Context(timezon="UTC"))


def test_a_registry_pickles_when_its_pieces_do(shop: Ontology) -> None:
    conv = Converters.default(shop).register("case", shout).register("currency", {"USD": 2}, pivot="EUR")
    restored = pickle.loads(pickle.dumps(conv))
    assert (restored.revision, restored.digest) == (conv.revision, conv.digest)
    assert restored.rate("EUR", "USD") == 2
    assert restored.convert(SemanticObject("Size", "m", Context(case="l")), Context(case="u")).value == "M"


def test_threads_register_and_read_at_once(plain: Converters) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(50):
                plain.register(f"aspect{number}", shout, source=str(step), target=str(step + 1))
                obj = SemanticObject("Word", "ada", Context({f"aspect{number}": str(step), "unit": "km"}))
                assert plain.convert(obj, Context({f"aspect{number}": str(step + 1)})).value == "ADA"
                assert plain.canonical(None, number, Context(unit="km", scale=step + 1)) is not None
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert plain.revision == 400


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with two entry points, of which one cannot be loaded."""
    (tmp_path / "shouting.py").write_text("def shout(value, source, target):\n    return value.upper()\n", "utf-8")
    info = tmp_path / "shouting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(
        "[conceptpubsub.converters]\nvoice = shouting:shout\nvoice.lost = shouting:nothing\nunit = shouting:shout\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "shouting", raising=False)


@pytest.mark.usefixtures("plugin")
def test_entry_points_are_loaded_when_first_needed_and_failures_are_warnings() -> None:
    conv = Converters.default()
    assert "shouting" not in sys.modules
    conv.canonical(None, 5, Context(unit="km"))
    assert "shouting" not in sys.modules
    with pytest.warns(RuntimeWarning, match=r"voice\.lost|'unit'") as caught:
        found = conv.convert(SemanticObject("Word", "ada", Context(voice="low")), Context(voice="high"))
    assert found.value == "ADA"
    assert len(caught) == 2
    assert "voice" not in Converters().aspects
