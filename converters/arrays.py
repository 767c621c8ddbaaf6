"""Whole columns: NumPy and Arrow arrays converted at the speed of a multiply-add.

Floats stay floats of their width, integers become float64, nulls stay null. Two operations in place, so a result may
differ from the exact one in its last digit; the exact ones are for thresholds, not for columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conceptpubsub.converters.logs import LogScale
from conceptpubsub.converters.pairs import Pair
from conceptpubsub.errors import InvalidValue
from conceptpubsub.model.values import to_float

if TYPE_CHECKING:
    from numpy.typing import NDArray


def convert_numpy(values: NDArray[Any], pair: Pair, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """A NumPy array in the target's unit; ``out`` may be the input itself."""
    if values.dtype.kind not in "fiu":
        raise InvalidValue(f"an array of {values.dtype} holds no numbers", value=str(values.dtype))
    made = np.empty(values.shape, values.dtype if values.dtype.kind == "f" else np.float64) if out is None else out
    if pair.shifts is None:
        made[...] = _through_base(values, pair)
        return made
    before, factor, after = pair.shifts
    if before:
        np.add(values, before, out=made, casting="unsafe")
        values = made
    if factor != 1.0 or values is not made:
        np.multiply(values, factor, out=made, casting="unsafe")
    if after:
        np.add(made, after, out=made)
    return made


def _through_base(values: NDArray[Any], pair: Pair) -> NDArray[Any]:
    source, target = pair.source, pair.target
    base = values.astype(np.float64)
    if source.log is not None:
        base = _quantity(base, source.log)
    else:
        base = base * to_float(source.factor) + to_float(source.offset)
    if pair.up is not None:
        base = _quantity(base, pair.up)
    elif pair.down is not None:
        base = _level(base, pair.down)
    if target.log is not None:
        return _level(base, target.log)
    made: NDArray[Any] = (base - to_float(target.offset)) / to_float(target.factor)
    return made


def _quantity(levels: NDArray[Any], log: LogScale) -> NDArray[Any]:
    made: NDArray[Any] = 10.0 ** (levels / to_float(log.multiplier)) * to_float(log.reference)
    return made


def _level(quantities: NDArray[Any], log: LogScale) -> NDArray[Any]:
    with np.errstate(divide="ignore", invalid="ignore"):
        made: NDArray[Any] = np.log10(quantities / to_float(log.reference)) * to_float(log.multiplier)
    return made


def convert_arrow(values: Any, pair: Pair) -> Any:
    """An Arrow array or chunked array in the target's unit; nulls stay null."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        chunks = [convert_arrow(chunk, pair) for chunk in values.chunks]
        return pa.chunked_array(chunks, type=None if chunks else pa.float64())
    if pa.types.is_decimal(values.type) or pa.types.is_float16(values.type):
        values = values.cast(pa.float64())
    if not (pa.types.is_floating(values.type) or pa.types.is_integer(values.type)):
        raise InvalidValue(f"an Arrow array of {values.type} holds no numbers", value=str(values.type))
    width = np.dtype(values.type.to_pandas_dtype())
    validity, data = values.buffers()
    raw = np.frombuffer(data, dtype=width)[values.offset : values.offset + len(values)] if data else np.empty(0, width)
    made = convert_numpy(raw, pair)
    if values.null_count and values.offset:  # a shifted bitmap: let Arrow place it
        return pa.array(made, mask=values.is_null().to_numpy(zero_copy_only=False))
    kept = validity if values.null_count else None
    return pa.Array.from_buffers(pa.from_numpy_dtype(made.dtype), len(made), [kept, pa.py_buffer(made)])
