"""How kernels are compiled: on first call, kept for the next process where a cache can be written.

A kernel takes addresses and counts rather than arrays: an int costs a tenth of an array to hand over from Python, and
inside a kernel an array handed on is counted up and down, which costs more than what is done with it. Whoever calls a
kernel keeps the arrays alive.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba import extending, types

F = TypeVar("F", bound=Callable[..., Any])
Int: TypeAlias = Any
"""A 64-bit integer inside a kernel, or an address."""
i64: Any = np.int64
u64: Any = np.uint64
intrinsic: Any = extending.intrinsic
_CONSTANTS = ("codes", "cubes", "jit", "program", "vectors")
"""What kernels take constants from, besides each other."""
_OPTIONS = {"boundscheck": False, "error_model": "numpy"}


def kernel(function: F) -> F:
    """Compile a function that keeps the interpreter lock: one call is one step for other threads."""
    return _compiled(function, nogil=False)


def free_kernel(function: F) -> F:
    """Compile a function that lets other threads run meanwhile."""
    return _compiled(function, nogil=True)


def _compiled(function: F, nogil: bool) -> F:
    made: Any
    try:
        made = numba.njit(cache=True, nogil=nogil, **_OPTIONS)(function)
        made._cache._cache_file._source_stamp = _sources()
    except RuntimeError:  # nowhere to keep it: compile anew in each process
        made = numba.njit(nogil=nogil, **_OPTIONS)(function)
    kept: F = made
    return kept


@cache
def _sources() -> str:
    """What all kernels are made from. Kernels are compiled into each other, while numba itself would look only at the
    file of each: after a change elsewhere, it would go on with what it has kept."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        text = path.read_bytes()
        if b"kernel\ndef " in text or path.stem in _CONSTANTS:
            digest.update(text)
    return digest.hexdigest()


def _trailing_zeros(context: Any, word: Any) -> Any:
    """The index of the lowest bit set in a word that is not zero."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.cttz(args[0], ir.Constant(ir.IntType(1), 1)), ir.IntType(64))

    return types.int64(types.uint64), generate


def _leading_zeros(context: Any, word: Any) -> Any:
    """How many bits are clear above the highest one set, in a word that is not zero."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _bytes_turned(context: Any, word: Any) -> Any:
    """A word with its bytes in the other order."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bswap(args[0])

    return types.uint64(types.uint64), generate


def _bit_count(context: Any, word: Any) -> Any:
    """The number of bits set in a word."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


def _reader(width: int, made: Any) -> Any:
    """An intrinsic that reads the n-th unsigned number of some bits from an address on."""

    def read(context: Any, address: Any, index: Any) -> Any:
        def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = builder.inttoptr(args[0], ir.IntType(width).as_pointer())
            held = builder.load(builder.gep(place, [args[1]]))
            return held if width == 64 else builder.zext(held, ir.IntType(64))

        return made(types.int64, types.int64), generate

    return intrinsic(read)


def _writer(width: int, given: Any, joined: bool) -> Any:
    """An intrinsic that writes the n-th number of some bits from an address on, or joins bits to it."""

    def write(context: Any, address: Any, index: Any, value: Any) -> Any:
        def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = builder.gep(builder.inttoptr(args[0], ir.IntType(width).as_pointer()), [args[1]])
            value = args[2] if width == 64 else builder.trunc(args[2], ir.IntType(width))
            builder.store(builder.or_(builder.load(place), value) if joined else value, place)
            return inner.get_dummy_value()

        return types.void(types.int64, types.int64, given), generate

    return intrinsic(write)


def _bit_moves(name: str, told: str) -> Any:
    """An intrinsic that moves the bits of a word as a mask says, in one instruction of the processor."""

    def move(context: Any, word: Any, mask: Any) -> Any:
        def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
            number = ir.IntType(64)
            kind = ir.FunctionType(number, [number, number])
            function = builder.module.declare_intrinsic(f"llvm.x86.bmi.{name}.64", (), kind)
            return builder.call(function, args)

        return types.uint64(types.uint64, types.uint64), generate

    move.__doc__ = told
    return intrinsic(move)


@free_kernel
def gathered_bit_by_bit(word: Any, mask: Any) -> Any:
    """The bits of a word at the places of a mask, side by side from the lowest on."""
    made, at = u64(0), u64(0)
    while mask != 0:
        lowest = mask & (u64(0) - mask)
        if word & lowest != 0:
            made |= u64(1) << at
        at += u64(1)
        mask ^= lowest
    return made


@free_kernel
def scattered_bit_by_bit(word: Any, mask: Any) -> Any:
    """The lowest bits of a word, put to the places of a mask."""
    made = u64(0)
    while mask != 0:
        lowest = mask & (u64(0) - mask)
        if word & u64(1) != 0:
            made |= lowest
        word >>= u64(1)
        mask ^= lowest
    return made


def _has_bit_moves() -> bool:
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    return bool(llvm.get_host_cpu_features().get("bmi2"))


if _has_bit_moves():
    gathered = _bit_moves("pext", gathered_bit_by_bit.__doc__ or "")
    scattered = _bit_moves("pdep", scattered_bit_by_bit.__doc__ or "")
else:
    gathered, scattered = gathered_bit_by_bit, scattered_bit_by_bit
trailing_zeros = intrinsic(_trailing_zeros)
leading_zeros = intrinsic(_leading_zeros)
bytes_turned = intrinsic(_bytes_turned)
bit_count = intrinsic(_bit_count)
u8_at = _reader(8, types.int64)
u16_at = _reader(16, types.int64)
u32_at = _reader(32, types.int64)
i64_at = _reader(64, types.int64)
u64_at = _reader(64, types.uint64)
put_u8 = _writer(8, types.int64, False)
put_u16 = _writer(16, types.int64, False)
put_u32 = _writer(32, types.int64, False)
put_i64 = _writer(64, types.int64, False)
put_u64 = _writer(64, types.uint64, False)
join_u8 = _writer(8, types.int64, True)
join_u64 = _writer(64, types.uint64, True)


def _f64_at(context: Any, address: Any, index: Any) -> Any:
    """The n-th float from an address on."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], ir.DoubleType().as_pointer())
        return builder.load(builder.gep(place, [args[1]]))

    return types.float64(types.int64, types.int64), generate


f64_at = intrinsic(_f64_at)


def _f32_at(context: Any, address: Any, index: Any) -> Any:
    """The n-th 32-bit float from an address on, as a float."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], ir.FloatType().as_pointer())
        return builder.fpext(builder.load(builder.gep(place, [args[1]])), ir.DoubleType())

    return types.float64(types.int64, types.int64), generate


f32_at = intrinsic(_f32_at)


@free_kernel
def signed_at(value: Int, bits: Int) -> Int:
    """An unsigned number of some bits, read as a signed one."""
    return value - (i64(1) << bits) if value >> (bits - 1) else value


def _prefetch(context: Any, address: Any) -> Any:
    """Ask for the memory at an address, which will be read soon."""

    def generate(inner: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        place = builder.inttoptr(args[0], pointer)
        builder.call(function, [place, ir.Constant(number, 0), ir.Constant(number, 3), ir.Constant(number, 1)])
        return inner.get_dummy_value()

    return types.void(types.int64), generate


prefetch = intrinsic(_prefetch)
