"""Interfaces that an event has reached, as bits: one for each, then one for each set of several.

Filters come with a set of interfaces, and sets have numbers. The bit of a set of one is its interface's; a set of
several has a bit of its own, which says that all its members are known to be reached. So one bit tells whether a cube
may bring anything new. The bit of the empty set is always there.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching.jit import (
    Int,
    bit_count,
    free_kernel,
    i64,
    i64_at,
    join_u64,
    put_i64,
    put_u32,
    put_u64,
    trailing_zeros,
    u32_at,
    u64,
    u64_at,
)

# What is known of interfaces, by place. Addresses, unless said otherwise.
(
    REACHED, WORDS, SPECIAL, SET_BITS, SET_ENDS, SET_MEMBERS, SLOT_SETS, INTERFACES, TOTAL, FOUND, COUNT, LISTS, MARKED,
    MARKED_COUNT, ASKED, UNIONS, LEFT, MADE_AT, IS_WHOLE, SEEN, SEEN_AT, ENOUGH, RENEW,
    STATE_SIZE,
) = range(24)  # fmt: skip
"""REACHED has WORDS words; from bit SPECIAL on they are those of the empty set and of sets of several. SET_BITS has the
bit of each set, SLOT_SETS the set of each slot. INTERFACES and TOTAL are numbers: one more than the greatest interface,
and how many some filter has had. FOUND takes what is found, COUNT is how many that are. Where LISTS is not 0, there are
too many interfaces to look through all their bits: then those found are listed at once, and bits of sets in MARKED.
ASKED counts the cubes that passed and about which the evaluator must be asked.

UNIONS has the unions of each segment, or 0; they are right while the number at LEFT, which counts the filters removed,
is MADE_AT. IS_WHOLE tells that no segment lacks them. SEEN counts the events that came without, since LEFT was SEEN_AT;
with ENOUGH of them, it is time to make them, which is RENEW where a filter was removed."""
ALL_BUT = 1 << 30


@free_kernel
def note_events(state: Int, events: Int) -> Int:
    """Count events that do without unions; whether it is time to make them."""
    left = i64_at(i64_at(state, LEFT), 0)
    if left == i64_at(state, MADE_AT) and i64_at(state, IS_WHOLE):
        return 0
    if left != i64_at(state, SEEN_AT):
        put_i64(state, SEEN_AT, left)
        put_i64(state, SEEN, 0)
        if left != i64_at(state, MADE_AT):
            put_i64(state, ENOUGH, i64_at(state, RENEW))
    put_i64(state, SEEN, i64_at(state, SEEN) + events)
    return i64_at(state, SEEN) >= i64_at(state, ENOUGH)


@free_kernel
def is_done(state: Int) -> Int:
    """Whether no interface is left to find."""
    return i64_at(state, COUNT) == i64_at(state, TOTAL)


@free_kernel
def _covered(state: Int, number: Int, bit: Int) -> Int:
    """Whether all members of a set are reached; the bit of a set of several then tells so from now on."""
    if bit < i64_at(state, SPECIAL):
        return 0
    ends, members, reached = i64_at(state, SET_ENDS), i64_at(state, SET_MEMBERS), i64_at(state, REACHED)
    for i in range(u32_at(ends, number), u32_at(ends, number + 1)):
        interface = u32_at(members, i)
        if u64_at(reached, interface >> 6) >> u64(interface & 63) & u64(1) == 0:
            return 0
    _mark(state, bit)
    return 1


@free_kernel
def _mark(state: Int, bit: Int) -> None:
    join_u64(i64_at(state, REACHED), bit >> 6, u64(1) << u64(bit & 63))
    if i64_at(state, LISTS):
        put_u32(i64_at(state, MARKED), i64_at(state, MARKED_COUNT), bit)
        put_i64(state, MARKED_COUNT, i64_at(state, MARKED_COUNT) + 1)


@free_kernel
def is_old(state: Int, reached: Int, bits: Int, number: Int) -> Int:
    """Whether a set brings nothing new."""
    bit = u32_at(bits, number)
    if u64_at(reached, bit >> 6) >> u64(bit & 63) & u64(1):
        return 1
    return _covered(state, number, bit)


@free_kernel
def _gain(state: Int, interface: Int) -> None:
    reached, bit = i64_at(state, REACHED), u64(1) << u64(interface & 63)
    if u64_at(reached, interface >> 6) & bit == 0:
        join_u64(reached, interface >> 6, bit)
        count = i64_at(state, COUNT)
        if i64_at(state, LISTS):
            put_i64(i64_at(state, FOUND), count, interface)
        put_i64(state, COUNT, count + 1)


@free_kernel
def reach(state: Int, header: Int, number: Int, owner: Int) -> None:
    """A cube passed: its interfaces are reached, unless its filter is gone or the evaluator must be asked."""
    slot = owner & 0x7FFFFFFF
    if u64_at(i64_at(header, ev.ALIVE), slot >> 6) >> u64(slot & 63) & u64(1) == 0:
        return
    if owner >> 31:
        mk.mark(header, owner)
        put_i64(state, ASKED, i64_at(state, ASKED) + 1)
        return
    bit = u32_at(i64_at(state, SET_BITS), number)
    if bit < i64_at(state, SPECIAL):
        _gain(state, bit)
        return
    ends, members = i64_at(state, SET_ENDS), i64_at(state, SET_MEMBERS)
    for i in range(u32_at(ends, number), u32_at(ends, number + 1)):
        _gain(state, u32_at(members, i))
    _mark(state, bit)


@free_kernel
def join(state: Int, row: Int, words: Int) -> None:
    """All interfaces of a row of bits are reached."""
    reached, gained = i64_at(state, REACHED), i64(0)
    for i in range(words):
        held = u64_at(reached, i)
        fresh = u64_at(row, i) & ~held
        put_u64(reached, i, held | fresh)
        gained += bit_count(fresh)
    put_i64(state, COUNT, i64_at(state, COUNT) + gained)


@free_kernel
def _clear(state: Int, count: Int) -> None:
    reached, special = i64_at(state, REACHED), i64_at(state, SPECIAL)
    if i64_at(state, LISTS):
        found, marked = i64_at(state, FOUND), i64_at(state, MARKED)
        for i in range(count):
            put_u64(reached, i64_at(found, i) >> 6, u64(0))
        for i in range(i64_at(state, MARKED_COUNT)):
            put_u64(reached, u32_at(marked, i) >> 6, u64(0))
        put_i64(state, MARKED_COUNT, 0)
    else:
        for i in range(i64_at(state, WORDS)):
            put_u64(reached, i, u64(0))
    put_u64(reached, special >> 6, u64(1))
    put_i64(state, COUNT, 0)
    put_i64(state, ASKED, 0)


@free_kernel
def _list_bits(state: Int, flipped: Any) -> None:
    """List the interfaces that are reached, or with all bits flipped those that are not."""
    reached, found, count = i64_at(state, REACHED), i64_at(state, FOUND), 0
    last, left = i64_at(state, INTERFACES), u64(0)
    for i in range((last + 63) >> 6):
        left = u64_at(reached, i) ^ flipped
        if last - 64 * i < 64:
            left &= (u64(1) << u64(last & 63)) - u64(1)
        while left != 0:
            put_i64(found, count, 64 * i + trailing_zeros(left))
            left &= left - u64(1)
            count += 1


@free_kernel
def finish(state: Int) -> Int:
    """List the interfaces that were found, and make ready for the next event; returns how many."""
    count, found = i64_at(state, COUNT), i64_at(state, FOUND)
    if i64_at(state, LISTS) == 0:
        if count == i64_at(state, INTERFACES):
            for i in range(count):
                put_i64(found, i, i)
        else:
            _list_bits(state, u64(0))
    _clear(state, count)
    return count


@free_kernel
def finish_short(state: Int) -> Int:
    """As `finish`; but where most are found, those are listed that are not, and ALL_BUT is added to their number."""
    count, all_of_them = i64_at(state, COUNT), i64_at(state, INTERFACES)
    if i64_at(state, LISTS) or 2 * count < all_of_them:
        return finish(state)
    if count < all_of_them:
        _list_bits(state, ~u64(0))
    _clear(state, count)
    return ALL_BUT + all_of_them - count
