"""Code lists: scheme to scheme through the common one, from dictionaries and files."""

import pickle
from pathlib import Path

import pytest

from conceptpubsub.converters import CodeList, Converters
from conceptpubsub.errors import InvalidValue, NoConversion
from conceptpubsub.model import Context, SemanticObject
from conceptpubsub.model.ontology import Ontology

TABLES = {"NYSE": {"IBM": "Big Blue", "T": "Ma Bell"}, "XETRA": {"IBM.DE": "Big Blue", "SOBA": "Ma Bell"}}


@pytest.fixture
def exchanges() -> CodeList:
    return CodeList.of(TABLES, common="company")


def test_every_pair_of_schemes(exchanges: CodeList) -> None:
    assert exchanges.schemes == ("company", "NYSE", "XETRA")
    assert exchanges.convert("IBM", "NYSE", "XETRA") == "IBM.DE"
    assert exchanges.convert("SOBA", "XETRA", "company") == "Ma Bell"
    assert exchanges.convert("Ma Bell", "company", "NYSE") == "T"
    assert exchanges.convert("GONE", "NYSE", "XETRA") is None


def test_from_a_file(tmp_path: Path, exchanges: CodeList) -> None:
    path = tmp_path / "exchanges.csv"
    path.write_text("company,NYSE,XETRA\nBig Blue,IBM,IBM.DE\nMa Bell,T,SOBA\n", "utf-8-sig")
    assert CodeList.read(path) == exchanges
    assert CodeList.read(path).digest == exchanges.digest
    assert pickle.loads(pickle.dumps(exchanges)) == exchanges


def test_a_code_with_two_meanings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="both"):
        CodeList.rows([{"c": "one", "s": "X"}, {"c": "two", "s": "X"}], "c")
    with pytest.raises(InvalidValue, match="without its"):
        CodeList.rows([{"c": "", "s": "X"}], "c")
    path = tmp_path / "bad.csv"
    path.write_text("only\nx\n", "utf-8")
    with pytest.raises(InvalidValue, match="two schemes"):
        CodeList.read(path)


def test_objects_convert_between_schemes(exchanges: CodeList, shop: Ontology) -> None:
    conv = Converters(shop).register("scheme", exchanges)
    obj = SemanticObject("Symbol", "IBM", Context(scheme="NYSE"))
    assert conv.convert(obj, Context(scheme="XETRA")) == SemanticObject("Symbol", "IBM.DE", Context(scheme="XETRA"))
    with pytest.raises(NoConversion, match="'GONE'"):
        conv.convert(SemanticObject("Symbol", "GONE", Context(scheme="NYSE")), Context(scheme="XETRA"))


def test_values_compare_in_the_concepts_own_scheme(exchanges: CodeList, shop: Ontology) -> None:
    conv = Converters(shop).register("scheme", exchanges)
    symbol = shop["Symbol"]
    assert conv.canonical(symbol, "IBM", {"scheme": "NYSE"}) == "Big Blue"
    assert conv.canonical(symbol, "IBM.DE", {"scheme": "XETRA"}) == "Big Blue"
    assert conv.canonical(symbol, "Big Blue") == "Big Blue"
    assert conv.canonical(symbol, "GONE", {"scheme": "NYSE"}) is None


def test_without_an_ontology_codes_meet_in_the_common_scheme(exchanges: CodeList) -> None:
    conv = Converters().register("scheme", exchanges)
    assert conv.canonical(None, "IBM", {"scheme": "NYSE"}) == conv.canonical(None, "IBM.DE", {"scheme": "XETRA"})


def test_two_lists_meet_in_a_scheme_they_share(exchanges: CodeList) -> None:
    conv = Converters().register("scheme", exchanges)
    conv.register("scheme", CodeList.of({"NYSE": {"IBM": "US4592001014"}}, common="ISIN"))
    obj = SemanticObject("Symbol", "IBM.DE", Context(scheme="XETRA"))
    assert conv.convert(obj, Context(scheme="ISIN")).value == "US4592001014"
