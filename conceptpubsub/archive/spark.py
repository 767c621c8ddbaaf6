"""DataFrames of events: ``match``, ``enrich`` and ``deliver`` for people who live in Spark.

Columns are named as in every event table: ``Name``, ``Name@unit``, ``@concept``, ``@time``, ``@id``, ``@source``; a
unit that a whole column shares stands in the metadata of its field. A row of which no event can be made (NaN) matches
nothing. For archives in files use ``reprocess(engine="spark")``: it is faster, keeps dead letters, and resumes.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from conceptpubsub.archive.columns import times
from conceptpubsub.archive.enrichment import enriched
from conceptpubsub.archive.expressions import Test, compiled
from conceptpubsub.archive.pipeline import Pipeline
from conceptpubsub.archive.subscriptions import subscriptions_of
from conceptpubsub.archive.worker import BatchMapper
from conceptpubsub.converters import Converters
from conceptpubsub.model.ontology import Ontology

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter

SUBSCRIPTION = "@subscription"
_TESTS = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def match(
    df: Any, subscriptions: Any, *, ontology: Ontology | None = None, converters: Converters | None = None
) -> Any:
    """A row for each match: the columns of ``df``, and ``@subscription``.

    One subscription that compiles to plain tests becomes a filter of the plan, which Spark pushes down to the files;
    all others go through the Matcher, broadcast once.
    """
    conv = converters if converters is not None else Converters.default(ontology)
    asked = subscriptions_of(subscriptions)
    if len(asked) == 1:
        from pyspark.sql import functions

        tests = condition(asked[0].parsed(ontology, conv), df)
        if tests is not None:
            return df.filter(tests).withColumn(SUBSCRIPTION, functions.lit(asked[0].id))
    pipeline = Pipeline.compile(asked, "", ontology, conv)
    schema = arrow_schema(df)
    return _mapped(df, schema.append(pa.field(SUBSCRIPTION, pa.string())), (pipeline, schema), _match)


def enrich(df: Any, ontology: Ontology | None, *, converters: Converters | None = None) -> Any:
    """The columns of ``df``, ``@closure`` (concepts at and above the event's) and ``Name@canonical`` for quantities."""
    conv = converters if converters is not None else Converters.default(ontology)
    schema = arrow_schema(df)
    made = enriched(schema.empty_table(), conv).schema
    return _mapped(df, made, (conv, schema), _enrich)


def deliver(
    df: Any, subscription: Any, *, ontology: Ontology | None = None, converters: Converters | None = None
) -> Any:
    """The events that one subscription matches, in its context; aspects stand in columns beside the values."""
    conv = converters if converters is not None else Converters.default(ontology)
    pipeline = Pipeline.compile(subscriptions_of([subscription]), "", ontology, conv)
    schema = arrow_schema(df)
    none = np.zeros(0, np.int64)
    made = _plain(pipeline.deliveries.deliver(schema.empty_table(), none, none, none)).schema
    return _mapped(df, made, (pipeline, schema), _deliver)


def condition(filter: Filter, df: Any) -> Any:
    """The filter as a Column that is true exactly where it matches; None where only the Matcher can tell."""
    from pyspark.sql import functions

    schema = arrow_schema(df)
    tests = compiled(filter, schema)
    if tests is None:
        return None
    if tests.never:
        return functions.lit(False)
    finite = [_finite(field.name) for field in schema if pa.types.is_floating(field.type)]
    return reduce(operator.and_, [*map(_column, tests.tests), *finite], functions.lit(True))


def arrow_schema(df: Any) -> pa.Schema:
    """The schema of a DataFrame in Arrow, with the aspects in its fields' metadata."""
    from pyspark.sql.pandas.types import to_arrow_schema

    made = to_arrow_schema(df.schema, timezone="UTC")
    fields = []
    for described, known in zip(made, df.schema.fields, strict=True):
        aspects = {
            key: str(value) for key, value in (known.metadata or {}).items() if isinstance(value, str | int | float)
        }
        fields.append(described.with_metadata(aspects or None))
    return pa.schema(fields)


def _mapped(df: Any, schema: pa.Schema, value: Any, function: Any) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    shared = df.sparkSession.sparkContext.broadcast((*value, schema))
    return df.mapInArrow(BatchMapper(shared, function), from_arrow_schema(schema))


def _match(value: Any, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    pipeline, schema, made = value
    table = _table(batch, schema)
    matched, _, _ = pipeline.match(table)
    ids = pa.array(pipeline.ids, pa.string()).take(pa.array(matched.subscriptions))
    order = pa.array(np.lexsort((matched.subscriptions, matched.rows)))
    found = table.take(pa.array(matched.rows)).append_column(SUBSCRIPTION, ids).take(order)
    yield from _batches(found, made)


def _enrich(value: Any, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    converters, schema, made = value
    table = _table(batch, schema)
    yield from _batches(enriched(table, converters, times(table)), made)


def _deliver(value: Any, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    pipeline, schema, made = value
    table = _table(batch, schema)
    matched, _, _ = pipeline.match(table)
    if len(matched.rows):
        yield from _batches(_plain(pipeline.delivered(table, matched, times(table))), made)


def _table(batch: pa.RecordBatch, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_batches([batch]).cast(schema)


def _plain(table: pa.Table) -> pa.Table:
    """Dictionaries as text, which is what Spark takes."""
    for place, described in enumerate(table.schema):
        if pa.types.is_dictionary(described.type):
            text = table.column(place).cast(described.type.value_type)
            table = table.set_column(place, described.with_type(text.type), text)
    return table


def _batches(table: pa.Table, schema: pa.Schema) -> Iterable[pa.RecordBatch]:
    bare = pa.schema([pa.field(described.name, described.type) for described in schema])
    return pa.Table.from_arrays(table.columns, names=table.schema.names).cast(bare).to_batches()  # type: ignore[no-any-return]


def _named(name: str) -> Any:
    from pyspark.sql import functions

    return functions.col("`" + name.replace("`", "``") + "`")


def _finite(name: str) -> Any:
    """No event holds NaN or an infinity, and Spark takes NaN for greater than any number."""
    from pyspark.sql import functions

    column = _named(name)
    odd = functions.isnan(column) | (functions.abs(column) == float("inf"))
    return functions.coalesce(~odd, functions.lit(True))


def _column(test: Test) -> Any:
    column = _named(test.column)
    if test.op == "in":
        return column.isin(*test.value)
    if test.op == "is not null":
        return column.isNotNull()
    return _TESTS[test.op](column, test.value)
