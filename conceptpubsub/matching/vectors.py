"""Vectors of 512 bits inside kernels: eight words that are read, joined and written at once.

Where a machine has no registers of that width, the compiler splits them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import models, register_model

from conceptpubsub.matching.jit import intrinsic

LANES = 8
BYTES = 8 * LANES
BITS = 64 * LANES
_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, LANES)
CODES = 16
"""Codes of 32 bits in a vector."""
_CODES = ir.VectorType(ir.IntType(32), CODES)


class VectorType(types.Type):  # type: ignore[misc]
    """The type of a vector, as the compiler knows it."""

    def __init__(self) -> None:
        super().__init__(name="Words8")


class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


register_model(VectorType)(_VectorModel)
_vector = VectorType()


def _all(builder: Any, word: Any, kind: Any = _VECTOR) -> Any:
    """A vector with the same word in every lane."""
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), word, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros)


def _vector_at(context: Any, address: Any) -> Any:
    """The vector at an address."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[0], _VECTOR.as_pointer()), align=1)

    return _vector(types.int64), generate


def _put_vector(context: Any, address: Any, vector: Any) -> Any:
    """Write a vector to an address."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], _VECTOR.as_pointer()), align=1)
        return inner.get_dummy_value()

    return types.void(types.int64, _vector), generate


def _join_vector(context: Any, address: Any, vector: Any) -> Any:
    """Set the bits of a vector at an address."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], _VECTOR.as_pointer())
        builder.store(builder.or_(builder.load(place, align=1), args[1]), place, align=1)
        return inner.get_dummy_value()

    return types.void(types.int64, _vector), generate


def _every(context: Any, word: Any) -> Any:
    """A vector with this word in every lane."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _all(builder, args[0])

    return _vector(types.uint64), generate


def _binary(name: str) -> Any:
    def both(context: Any, one: Any, other: Any) -> Any:
        def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, name)(*args)

        return _vector(_vector, _vector), generate

    both.__doc__ = f"The {name.strip('_')} of two vectors."
    return intrinsic(both)


def _shift(name: str) -> Any:
    def shift(context: Any, vector: Any, bits: Any) -> Any:
        def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, name)(args[0], _all(builder, args[1]))

        return _vector(_vector, types.uint64), generate

    shift.__doc__ = f"Every lane shifted ({name})."
    return intrinsic(shift)


both_of = _binary("and_")
either_of = _binary("or_")
one_of = _binary("xor")
sum_of = _binary("add")
shifted_up = _shift("shl")
shifted_down = _shift("lshr")


def _exchange(distance: int, upper: bool) -> Any:
    """An intrinsic of two vectors whose lanes change places so far apart: what the first, or the second, has then."""
    mask = [
        (lane + distance if upper else lane) if not lane & distance else LANES + (lane if upper else lane - distance)
        for lane in range(LANES)
    ]

    def exchange(context: Any, one: Any, other: Any) -> Any:
        def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.shuffle_vector(*args, ir.Constant(ir.VectorType(ir.IntType(32), LANES), mask))

        return _vector(_vector, _vector), generate

    return intrinsic(exchange)


lanes_4, other_lanes_4 = _exchange(4, False), _exchange(4, True)
lanes_2, other_lanes_2 = _exchange(2, False), _exchange(2, True)
lanes_1, other_lanes_1 = _exchange(1, False), _exchange(1, True)
"""Lanes of two vectors as rows of squares: the upper right quarter of the first changes places with the lower left one
of the second."""


def _any_bit(context: Any, vector: Any) -> Any:
    """Whether any bit is set."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        unequal = builder.icmp_unsigned("!=", args[0], ir.Constant(_VECTOR, [0] * LANES))
        mask = builder.bitcast(unequal, ir.IntType(LANES))
        return builder.icmp_unsigned("!=", mask, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(_vector), generate


def _lanes_set(context: Any, vector: Any) -> Any:
    """A bit for each lane that has any bit set."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        unequal = builder.icmp_unsigned("!=", args[0], ir.Constant(_VECTOR, [0] * LANES))
        return builder.zext(builder.bitcast(unequal, ir.IntType(LANES)), _WORD)

    return types.int64(_vector), generate


def _lane_counts(context: Any, vector: Any) -> Any:
    """How many bits are set in each lane."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        count = builder.module.declare_intrinsic("llvm.ctpop.v8i64", (), ir.FunctionType(_VECTOR, [_VECTOR]))
        return builder.call(count, args)

    return _vector(_vector), generate


def _lanes_summed(context: Any, vector: Any) -> Any:
    """The sum of all lanes."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_WORD, [_VECTOR])
        return builder.call(builder.module.declare_intrinsic("llvm.vector.reduce.add.v8i64", (), kind), args)

    return types.int64(_vector), generate


def _admitted(context: Any, codes: Any, low: Any, span: Any) -> Any:
    """Of 16 codes at an address, a bit for each that lies in a run: at ``low``, or up to ``span`` behind it."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], _CODES.as_pointer())
        low, span = (_all(builder, builder.trunc(arg, _CODES.element), _CODES) for arg in args[1:])
        inside = builder.icmp_unsigned("<=", builder.sub(builder.load(place, align=1), low), span)
        return builder.zext(builder.bitcast(inside, ir.IntType(CODES)), _WORD)

    return types.int64(types.int64, types.int64, types.int64), generate


def _admitting(context: Any, code: Any, lows: Any, spans: Any) -> Any:
    """Of 16 runs, a bit for each that a code lies in. Where they begin and how long they are stands at addresses."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _all(builder, builder.trunc(args[0], _CODES.element), _CODES)
        low, span = (builder.load(builder.inttoptr(arg, _CODES.as_pointer()), align=1) for arg in args[1:])
        inside = builder.icmp_unsigned("<=", builder.sub(code, low), span)
        return builder.zext(builder.bitcast(inside, ir.IntType(CODES)), _WORD)

    return types.int64(types.int64, types.int64, types.int64), generate


admitted = intrinsic(_admitted)
admitting = intrinsic(_admitting)
vector_at = intrinsic(_vector_at)
lanes_set = intrinsic(_lanes_set)
lane_counts = intrinsic(_lane_counts)
lanes_summed = intrinsic(_lanes_summed)
put_vector = intrinsic(_put_vector)
join_vector = intrinsic(_join_vector)
every = intrinsic(_every)
any_bit = intrinsic(_any_bit)
