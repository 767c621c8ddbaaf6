"""Compiled code that is kept between processes, and vectors inside kernels."""

from __future__ import annotations

import numpy as np

from conceptpubsub.matching import Matcher, jit
from conceptpubsub.matching.match_kernels import find_row
from conceptpubsub.matching.slice_kernels import transpose


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


def test_squares_of_bits_are_transposed() -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2, (64, 8, 64), dtype=np.uint8)  # row, lane, bit
    block = np.packbits(bits, axis=2, bitorder="little").reshape(64, 64).copy()
    transpose(block.ctypes.data)
    turned = np.unpackbits(block.reshape(64, 8, 8), axis=2, bitorder="little")
    assert (turned == bits.transpose(2, 1, 0)).all()
