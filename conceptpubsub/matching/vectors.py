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


class VectorType(types.Type):  # type: ignore[misc]
    """The type of a vector, as the compiler knows it."""

    def __init__(self) -> None:
        super().__init__(name="Words8")


class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


register_model(VectorType)(_VectorModel)
_vector = VectorType()


def _all(builder: Any, word: Any) -> Any:
    """A vector with the same word in every lane."""
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), word, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), zeros)


def _vector_at(context: Any, address: Any) -> Any:
    """The vector at an address."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[0], _VECTOR.as_pointer()), align=8)

    return _vector(types.int64), generate


def _put_vector(context: Any, address: Any, vector: Any) -> Any:
    """Write a vector to an address."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], _VECTOR.as_pointer()), align=8)
        return inner.get_dummy_value()

    return types.void(types.int64, _vector), generate


def _join_vector(context: Any, address: Any, vector: Any) -> Any:
    """Set the bits of a vector at an address."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], _VECTOR.as_pointer())
        builder.store(builder.or_(builder.load(place, align=8), args[1]), place, align=8)
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
shifted_up = _shift("shl")
shifted_down = _shift("lshr")


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


def _bits_set(context: Any, vector: Any) -> Any:
    """The number of bits set in all lanes."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        count = builder.module.declare_intrinsic("llvm.ctpop.v8i64", (), ir.FunctionType(_VECTOR, [_VECTOR]))
        counts = builder.call(count, [args[0]])
        kind = ir.FunctionType(_WORD, [_VECTOR])
        add = builder.module.declare_intrinsic("llvm.vector.reduce.add.v8i64", (), kind)
        return builder.call(add, [counts])

    return types.int64(_vector), generate


vector_at = intrinsic(_vector_at)
lanes_set = intrinsic(_lanes_set)
bits_set = intrinsic(_bits_set)
put_vector = intrinsic(_put_vector)
join_vector = intrinsic(_join_vector)
every = intrinsic(_every)
any_bit = intrinsic(_any_bit)
