"""What tests of archives share: reading deliveries and dead letters back, and comparing events by meaning."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from conceptpubsub import SemanticEvent, SemanticObject
from conceptpubsub.model.codecs import table_to_events

Key = tuple[str, int]
EXTRA = ("@subscription", "@file", "@row")


def delivered(out: Path) -> dict[Key, SemanticEvent]:
    """Every delivery by (subscription, row); a doubled one is an error, and files are sorted."""
    found: dict[Key, SemanticEvent] = {}
    for path in sorted((out / "deliveries").rglob("*.parquet")):
        table = pq.ParquetFile(path).read()
        keys = list(zip(table["@subscription"].to_pylist(), table["@row"].to_pylist(), strict=True))
        assert keys == sorted(keys), path
        events, errors = table_to_events(table.drop_columns(list(EXTRA)))
        assert not errors
        for key, event in zip(keys, events, strict=True):
            assert key not in found, f"{key} was delivered twice"
            found[key] = event
    return found


def rows(out: Path, kind: str = "deliveries") -> list[dict[str, Any]]:
    """Every row below a folder of the output, in an order that no engine decides; nulls left out."""
    found: list[dict[str, Any]] = []
    for path in sorted((out / kind).rglob("*.parquet")):
        found.extend(pq.ParquetFile(path).read().to_pylist())
    return sorted(({k: v for k, v in row.items() if v is not None} for row in found), key=repr)


def schemas(out: Path) -> set[str]:
    """The schemas of all files of deliveries."""
    return {str(pa.schema(pq.read_schema(p)).remove_metadata()) for p in (out / "deliveries").rglob("*.parquet")}


def same_event(one: SemanticEvent, other: SemanticEvent) -> bool:
    """Whether two events mean the same, numbers to the last digits of a float."""
    heads = (one.concept, one.time, one.id, one.source) == (other.concept, other.time, other.id, other.source)
    return heads and _same_parts(one.attributes, other.attributes)


def _same_parts(one: Any, other: Any) -> bool:
    return one.keys() == other.keys() and all(same_object(one[key], other[key]) for key in one)


def same_object(one: SemanticObject, other: SemanticObject) -> bool:
    """Whether two objects mean the same."""
    if one.is_complex or other.is_complex:
        return one.is_complex and other.is_complex and _same_parts(one.value, other.value)
    if one.concept != other.concept or one.context != other.context:
        return False
    numeric = all(isinstance(o.value, int | float) and not isinstance(o.value, bool) for o in (one, other))
    if numeric:
        return math.isclose(one.value, other.value, rel_tol=1e-12, abs_tol=1e-9)
    return bool(one == other)
