"""Tables for engines that take one event at a time: each row becomes an event, a bad one becomes a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.matching.engine import Engine, Fault, Matches
from conceptpubsub.model import SemanticEvent

EVENT_PARTS = ("time", "id", "source")


def row_events(table: Any, faults: list[Fault]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The good rows of a table as (row, event); the others are added to the faults."""
    from conceptpubsub.model.codecs.arrow_reading import table_to_events

    events, errors = table_to_events(table, concept=_NO_CONCEPT)
    faults.extend(Fault(row, None, reason) for row, reason in errors)
    bad = {row for row, _ in errors}
    good = (row for row in range(table.num_rows) if row not in bad)
    for row, event in zip(good, events, strict=True):
        yield row, _as_mapping(event)


_NO_CONCEPT = "\x00none"


def _as_mapping(event: SemanticEvent) -> Mapping[str, Any]:
    """The event as a mapping, which unlike a SemanticEvent may be of no concept."""
    made: dict[str, Any] = dict(event.attributes)
    made.update({f"@{part}": value for part in EVENT_PARTS if (value := getattr(event, part)) is not None})
    if event.concept != _NO_CONCEPT:
        made["@concept"] = event.concept
    return made


def match_rows(engine: Engine, table: Any) -> Matches:
    """The slots that match each row, by asking an engine row after row."""
    return Matches(*_by_row(table, engine.match))


def interface_rows(engine: Engine, table: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Fault]]:
    """The interfaces of each row, by asking an engine row after row."""
    return _by_row(table, lambda event, _: sorted(engine.interfaces(event)))


def _by_row(
    table: Any, ask: Callable[[Mapping[str, Any], list[Fault]], Iterable[int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Fault]]:
    faults: list[Fault] = []
    counts = np.zeros(table.num_rows + 1, np.int64)
    found: list[NDArray[np.int64]] = []
    for row, event in row_events(table, faults):
        mine: list[Fault] = []
        try:
            answer = np.asarray(ask(event, mine), np.int64)
        except ConceptPubSubError as error:
            faults.append(Fault(row, None, str(error)))
            continue
        faults.extend(fault._replace(row=row) for fault in mine)
        counts[row + 1] = len(answer)
        found.append(answer)
    faults.sort(key=lambda fault: (fault.row, -1 if fault.slot is None else fault.slot))
    return np.cumsum(counts), np.concatenate(found) if found else np.zeros(0, np.int64), faults
