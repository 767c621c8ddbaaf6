"""The rows of a batch, from their words to the slots that match. Other threads run meanwhile.

Where the room for results is used up, the kernel stops before the row that may not fit, and is called again.
"""

from __future__ import annotations

from conceptpubsub.matching import event_kernels as ev
from conceptpubsub.matching import match_kernels as mk
from conceptpubsub.matching.jit import Int, free_kernel, i64_at, put_i64, u8_at, u32_at
from conceptpubsub.matching.single_kernels import mark_all

# What a batch is told and tells, by place. Addresses, unless said otherwise.
(
    ROWS, STARTS, ENDS, BAD, OFFSETS, SLOTS, SLOTS_ROOM, ASKED_ROWS, ASKED_SLOTS, ASKED_ROOM, GROUPS, GROUP_ENDS,
    GROUP_COLUMNS, LACKS, LACKS_ROOM, NEXT, SLOT_COUNT, ASKED_COUNT, LACK_COUNT, TASK_SIZE,
) = range(20)  # fmt: skip
"""ROWS, the rooms and GROUPS are numbers; so are NEXT and the counts, which the kernel moves on."""
DONE, FULL = 0, 1


@free_kernel
def note_lacks(header: Int, task: Int, row: Int) -> None:
    """Note the groups of columns of which the loaded event lacks some: row, group, and a bit for each it lacks."""
    x, columns, ends = i64_at(header, ev.CODES), i64_at(task, GROUP_COLUMNS), i64_at(task, GROUP_ENDS)
    count, lacks = i64_at(task, LACK_COUNT), i64_at(task, LACKS)
    start = 0
    for group in range(i64_at(task, GROUPS)):
        end = i64_at(ends, group)
        missing = 0
        for i in range(start, end):
            if u32_at(x, u32_at(columns, i)) == 0:
                missing |= 1 << min(i - start, 62)
        start = end
        if missing:
            put_i64(lacks, 3 * count, row)
            put_i64(lacks, 3 * count + 1, group)
            put_i64(lacks, 3 * count + 2, missing)
            count += 1
    put_i64(task, LACK_COUNT, count)


@free_kernel
def note_asked(header: Int, task: Int, row: Int, asked: Int) -> Int:
    """Write down the slots about which the evaluator must be asked for a row; returns how many there are by now."""
    words, alive = i64_at(header, ev.SLOT_WORDS), i64_at(header, ev.ALIVE)
    rows, slots = i64_at(task, ASKED_ROWS), i64_at(task, ASKED_SLOTS)
    more = mk.emit(i64_at(header, ev.ASKED), i64_at(header, ev.ASKED_SUMMARY), words, alive, slots + 8 * asked)
    for i in range(more):
        put_i64(rows, asked + i, row)
    return asked + more


@free_kernel
def match_rows(header: Int, task: Int) -> Int:
    """Match rows from NEXT on; DONE, FULL, or what `event_kernels.load` says is wrong with the row at NEXT."""
    words, alive = i64_at(header, ev.SLOT_WORDS), i64_at(header, ev.ALIVE)
    starts, ends, bad, offsets = i64_at(task, STARTS), i64_at(task, ENDS), i64_at(task, BAD), i64_at(task, OFFSETS)
    slots = i64_at(task, SLOTS)
    count, asked = i64_at(task, SLOT_COUNT), i64_at(task, ASKED_COUNT)
    groups = i64_at(task, GROUPS)
    code, row = DONE, i64_at(task, NEXT)
    while row < i64_at(task, ROWS):
        if u8_at(bad, row) == 0:
            if (
                count + 64 * words > i64_at(task, SLOTS_ROOM)
                or asked + 64 * words > i64_at(task, ASKED_ROOM)
                or i64_at(task, LACK_COUNT) + groups > i64_at(task, LACKS_ROOM)
            ):
                code = FULL
                break
            touched, several = ev.load(header, i64_at(starts, row), i64_at(ends, row))
            if touched < 0:
                code = touched
                break
            mark_all(header, touched, several, 0)
            if groups:
                note_lacks(header, task, row)
            ev.unload(header, touched)
            count += mk.emit(
                i64_at(header, ev.FOUND), i64_at(header, ev.FOUND_SUMMARY), words, alive, slots + 8 * count
            )
            asked = note_asked(header, task, row, asked)
        row += 1
        put_i64(offsets, row, count)
    put_i64(task, NEXT, row)
    put_i64(task, SLOT_COUNT, count)
    put_i64(task, ASKED_COUNT, asked)
    return code
