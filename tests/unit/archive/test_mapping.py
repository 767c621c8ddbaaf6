"""Column mappings: what a foreign table means, cell by cell."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conceptpubsub.archive import ColumnMapping, reprocess
from conceptpubsub.errors import ArchiveError
from tests.archives import delivered, rows

MAPPING: dict[str, Any] = {
    "concept": {"column": "kind", "codes": {"w": "Weather"}},
    "time": {"column": "when", "timezone": "America/New_York"},
    "id": {"columns": ["kind", "n"]},
    "null": ["", "NA"],
    "columns": {
        "temp": {"attribute": "t", "unit": "degF"},
        "pay": {"attribute": "fare", "currency": {"column": "cur"}},
        "sky": {"attribute": "sky", "codes": {"1": "clear", "2": "rain"}},
        "n": {"attribute": "n", "type": "int"},
        "ok": {"attribute": "ok", "type": "bool"},
    },
}
CSV = """kind,n,when,temp,pay,cur,sky,ok
w,1,2013-07-01 12:00,86,10,EUR,1,true
w,2,2013-07-01 12:00,NA,NA,,2,false
x,3,2013-01-01T00:00:00Z,warm,3.5,USD,9,true
w,4
w,5,noon,1e1,1,EUR,"a, b",true
"""


def test_csv_cell_by_cell(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    found = reprocess(tmp_path / "a.csv", {"all": ""}, tmp_path / "out", mapping=MAPPING, processes=1)
    got = {row: event for (_, row), event in delivered(tmp_path / "out").items()}
    assert sorted(got) == [0, 1, 2, 4]
    assert (got[0].concept, got[0].id, str(got[0].time)) == ("Weather", "w-1", "2013-07-01T16:00:00Z")
    assert (got[0]["t"].value, got[0]["t"].context["unit"], got[0]["sky"].value) == (86.0, "degF", "clear")
    assert (got[0]["fare"].context["currency"], got[0]["ok"].value, got[0]["n"].value) == ("EUR", True, 1)
    assert (got[1].get("t"), got[1].get("fare"), got[1]["sky"].value) == (None, None, "rain")
    assert (got[2].concept, got[2].get("t"), got[2]["sky"].value) == ("x", None, "9")
    assert (got[4].time, got[4]["t"].value, got[4]["sky"].value) == (None, 10.0, "a, b")
    assert found.counts.dead_letters == {"malformed": 2, "out of type": 1}
    assert {letter["row"] for letter in rows(tmp_path / "out", "dead_letters")} == {2, 3, 4}


def test_csv_in_pieces_equals_csv_whole(tmp_path: Path) -> None:
    lines = [f"w,{n},2013-07-01 12:00,{n},1,EUR,1,true" if n % 7 else "broken" for n in range(500)]
    (tmp_path / "a.csv").write_text("\n".join([CSV.splitlines()[0], *lines]))
    whole = reprocess(tmp_path / "a.csv", {"hot": "t > 20 degC"}, tmp_path / "one", mapping=MAPPING, processes=1)
    cut = reprocess(
        tmp_path / "a.csv", {"hot": "t > 20 degC"}, tmp_path / "many", mapping=MAPPING, processes=1, piece=999
    )
    assert cut.tasks > 10
    assert cut.counts == whole.counts
    assert rows(tmp_path / "one") == rows(tmp_path / "many")
    assert rows(tmp_path / "one", "dead_letters") == rows(tmp_path / "many", "dead_letters")


def test_a_table_without_units_gets_them(tmp_path: Path) -> None:
    pq.write_table(pa.table({"temp": [86.0, float("nan")], "rest": [1, 2]}), tmp_path / "a.parquet")
    mapping = {"null": ["NaN"], "columns": {"temp": {"attribute": "t", "unit": "degF"}}}
    found = reprocess(tmp_path / "a.parquet", {"hot": "t > 25 degC"}, tmp_path / "out", mapping=mapping)
    assert (found.events, found.deliveries, found.dead_letters) == (2, 1, 0)


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({"colums": {}}, "Did you mean 'columns'"),
        ({"columns": {"a": {"unit": "m"}}}, "give the attribute"),
        ({"columns": {"a": {"attribute": "a", "type": "reel"}}}, "Did you mean 'real'"),
        ({"time": {"colum": "a"}}, "unknown key 'colum'"),
        ({"id": 7}, "names a column"),
        (7, "a mapping is a table"),
    ],
)
def test_mistakes_in_a_mapping_are_named(tree: Any, said: str) -> None:
    with pytest.raises(ArchiveError, match=said):
        ColumnMapping.of(tree)
