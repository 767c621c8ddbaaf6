"""Compiled code that is kept between processes, and vectors inside kernels."""

from __future__ import annotations

import numpy as np
import pytest

from conceptpubsub.matching import Matcher, jit
from conceptpubsub.matching import turn_kernels as tn
from conceptpubsub.matching.jit import free_kernel
from conceptpubsub.matching.match_kernels import find_row
from conceptpubsub.matching.vectors import admitted


def test_kept_code_counts_only_while_no_kernel_has_changed() -> None:
    """Kernels are compiled into each other: a change in one file makes what is kept of all others stale."""
    Matcher().warm_up()
    kept = find_row._cache._cache_file  # type: ignore[attr-defined]
    assert kept._source_stamp == jit._sources()
    assert kept._load_index(), "there should be something to keep"
    try:
        kept._source_stamp = "another"
        assert not kept._load_index()
    finally:
        kept._source_stamp = jit._sources()


@pytest.mark.parametrize(
    ("events", "size", "joins"), [(512, 64, 0), (300, 64, 1), (512, 13, 0), (70, 13, 1), (0, 64, 0)]
)
def test_a_block_is_turned_into_the_lines_that_packbits_makes(events: int, size: int, joins: int) -> None:
    rng, stride = np.random.default_rng(1), 100
    bits = rng.integers(0, 2, (512, 512), dtype=np.uint8)  # slot, event
    block = np.zeros((8, tn.WORD_BYTES), np.uint8)
    block[:, : 64 * 64] = np.packbits(bits, axis=1, bitorder="little").reshape(8, 64 * 64)
    alive, room = rng.integers(0, 256, 64, dtype=np.uint8), np.zeros(8 * 64, np.uint8)
    rows = rng.integers(0, 256, (events + 1, stride), dtype=np.uint8)
    expected = rows.copy()
    lines = (np.packbits(bits.T[:events], axis=1) & alive)[:, :size]
    expected[:events, :size] = lines | expected[:events, :size] if joins else lines
    addresses = block.ctypes.data, events, alive.ctypes.data, joins, room.ctypes.data, size, rows.ctypes.data, stride
    tn.write_lines(*addresses)
    assert (rows == expected).all()


def test_codes_within_a_run_around_the_circle() -> None:
    codes = np.array([0, 1, 5, 6, 7, 8, 2**31, 2**32 - 1] * 2, np.uint32)
    for low, span in ((5, 2), (7, 2**32 - 2), (0, 0), (0, 2**32 - 1), (2**32 - 1, 1)):
        expected = [(int(code) - low) % 2**32 <= span for code in codes]
        found = _admitted(codes.ctypes.data, low, span)
        assert [bool(found >> i & 1) for i in range(16)] == expected


@free_kernel
def _admitted(codes: int, low: int, span: int) -> int:
    found: int = admitted(codes, low, span)
    return found
