"""Mappings checked before anything is read: what could never be right is an error here, not a dead letter a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conceptpubsub.archive.mapping import ColumnMapping, MappedColumn
from conceptpubsub.converters import Converters
from conceptpubsub.errors import ArchiveError, ConceptPubSubError, hint
from conceptpubsub.model.codecs.columns import Column
from conceptpubsub.model.context import Context
from conceptpubsub.model.instants import Instant

_SOME_TIME = "2026-01-01T00:00:00"


def check_mapping(mapping: ColumnMapping, converters: Converters) -> None:
    """An error where a mapping names a concept, unit or time zone that there is not, or an attribute twice."""
    _check_zone(mapping.time)
    _check_concepts(mapping.concept, converters)
    holders: dict[str, str] = {}
    for one in mapping.columns:
        if one.attribute in holders:
            raise ArchiveError(
                f"columns {holders[one.attribute]!r} and {one.column!r} hold the same attribute, {one.attribute}: "
                "an event has one value of it",
                column=one.column,
            )
        holders[one.attribute] = one.column
        _check_column(one, converters)


def _check_zone(time: Any) -> None:
    if isinstance(time, Mapping) and "timezone" in time:
        try:
            Instant.of(_SOME_TIME, time["timezone"])
        except ConceptPubSubError as error:
            raise ArchiveError(f"time: {error}") from error


def _check_concepts(told: Any, converters: Converters) -> None:
    """Concepts that the mapping itself names; what a column holds is judged row by row."""
    if converters.ontology is None:
        return
    named = list(told.get("codes", {}).values()) if isinstance(told, Mapping) else [told] if told is not None else []
    for name in named:
        if converters.ontology.find(str(name)) is None:
            raise ArchiveError(
                f"concept: no concept {name!r}.{hint(converters.ontology.near(str(name)))}", concept=name
            )


def _check_column(one: MappedColumn, converters: Converters) -> None:
    concept = None
    if converters.ontology is not None:
        for name in Column.parse(one.attribute).path:
            concept = converters.ontology.find(name)
            if concept is None:
                offered = hint(converters.ontology.near(name))
                raise ArchiveError(f"column {one.column!r}: no concept {name!r}.{offered}", column=one.column)
    fixed = {aspect: value for aspect, value in one.aspects.items() if not isinstance(value, Mapping)}
    try:
        found = converters.plan(concept, Context(fixed)).problem
        said = None if found is None else found.sentence
    except ConceptPubSubError as error:
        said = str(error)
    if said is not None:
        raise ArchiveError(f"column {one.column!r}: {said}", column=one.column)
