"""Eight vectors at a time: as many as stay in registers while something is done with each."""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching.jit import Int, free_kernel
from conceptpubsub.matching.vectors import put_vector, vector_at


@free_kernel
def eight_at(place: Int, step: Int) -> Any:
    """The vectors at an address and at the next seven that are a step apart."""
    return (
        vector_at(place),
        vector_at(place + step),
        vector_at(place + 2 * step),
        vector_at(place + 3 * step),
        vector_at(place + 4 * step),
        vector_at(place + 5 * step),
        vector_at(place + 6 * step),
        vector_at(place + 7 * step),
    )


@free_kernel
def put_eight(place: Int, step: Int, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> None:
    """Write vectors to an address and to the next seven that are a step apart."""
    put_vector(place, a)
    put_vector(place + step, b)
    put_vector(place + 2 * step, c)
    put_vector(place + 3 * step, d)
    put_vector(place + 4 * step, e)
    put_vector(place + 5 * step, f)
    put_vector(place + 6 * step, g)
    put_vector(place + 7 * step, h)
