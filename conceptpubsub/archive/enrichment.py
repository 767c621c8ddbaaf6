"""Enrichment: what the ontology knows, as columns for those who go on with SQL or DataFrames.

``@closure`` lists the names of the event's concept and all above it. ``Name@canonical`` is a numeric attribute in the
canonical unit of its concept (without an ontology, in the coherent SI unit), null where the value counts as missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from conceptpubsub.archive.columns import Attribute, attributes, contexts_of, is_numeric, numbers, valid_mask
from conceptpubsub.archive.judging import judge
from conceptpubsub.converters import Converters
from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.model.codecs.arrow_codes import Codes, encoded
from conceptpubsub.model.ontology import Ontology
from conceptpubsub.model.values import to_float


def enriched(table: pa.Table, converters: Converters, at: Codes | None = None) -> pa.Table:
    """The table with its closure and its values in canonical units.

    >>> onto = Ontology.bundled("vehicles")
    >>> table = pa.table({"@concept": ["VehicleStatus"], "InTemperature": [86.0], "InTemperature@unit": ["degF"]})
    >>> found = enriched(table, Converters.default(onto))
    >>> found["InTemperature@canonical"].to_pylist(), "VehicleStatus" in found["@closure"][0].as_py()
    ([30.0], True)
    """
    rows = np.arange(table.num_rows, dtype=np.int64)
    when = np.zeros(table.num_rows, np.int64) if at is None else at
    bad = {(fault.attribute, fault.row) for fault in judge(table, rows, when, converters, (), True)}
    made = table
    if converters.ontology is not None and "@concept" in table.schema.names:
        made = made.append_column("@closure", closure(table.column("@concept"), converters.ontology))
    for attribute in attributes(table.schema):
        column = table.column(attribute.column)
        if not is_numeric(column.type) or not _measured(converters, attribute):
            continue
        codes, contexts = contexts_of(table, attribute)
        lines = [_line(converters, attribute.key, context) for context in contexts]
        factor = np.array([line[0] if line else np.nan for line in lines])[codes]
        offset = np.array([line[1] if line else np.nan for line in lines])[codes]
        values = numbers(column).astype(np.float64) * factor + offset
        missing = ~valid_mask(column) | np.isnan(values)
        wrong = [row for name, row in bad if name == attribute.column and row is not None]
        missing[wrong] = True
        made = made.append_column(f"{attribute.column}@canonical", pa.array(values, mask=missing))
    return made


def closure(column: Any, ontology: Ontology) -> Any:
    """For each concept named, the names of it and all above; null where the ontology has none."""
    codes, values = encoded(column)
    listed = []
    for name in values.to_pylist():
        found = ontology.find(name) if isinstance(name, str) else None
        listed.append(None if found is None else sorted({above.name for above in found.ancestors}))
    lists = pa.array([*listed, None], pa.list_(pa.string()))
    return lists.take(pa.array(np.where(codes < 0, len(listed), codes)))


def _measured(converters: Converters, attribute: Attribute) -> bool:
    """Whether an attribute may have a unit, whatever its rows hold."""
    concept = converters.concept(attribute.key)
    beside = concept is None and any(aspect == "unit" for aspect, _ in attribute.aspects)
    return beside or converters.plan(concept, attribute.fixed).unit is not None


def _line(converters: Converters, key: str, context: Any) -> tuple[float, float] | None:
    """(factor, offset) from a context to the canonical unit; None where there is no unit, or no line to it."""
    concept = converters.concept(key)
    plan = converters.plan(concept, context)
    if plan.problem is not None or plan.unit is None or plan.currency is not None:
        return None
    home = concept.canonical_unit if concept is not None and concept.canonical_unit else plan.unit.dimension.base_unit
    try:
        factor, offset = converters.affine(str(plan.context["unit"]), str(home))
    except ConceptPubSubError:
        return None
    return to_float(factor * plan.scale), to_float(offset)
