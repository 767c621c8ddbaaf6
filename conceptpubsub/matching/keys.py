"""Keys and slots: who asked for which filter, in which order, on which interfaces."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.errors import UnknownKey, near
from conceptpubsub.matching.shelf import FilterShelf

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter

_OFFERED_BELOW = 1000


class KeyTable:
    """Keys by slot and back.

    While all keys are ints they are kept as 64-bit numbers: a result of some hundred keys costs a third of what it
    costs to fetch as many objects from all over the memory.
    """

    def __init__(self, keep_filters: bool = True) -> None:
        self.interface_names: list[Hashable] = []
        self.shelf = FilterShelf(keep_filters)
        self.next_slot = 0
        """The slot that the next filter will get."""
        self._interface_ids: dict[Hashable, int] = {}
        self._all_interfaces: frozenset[Hashable] = frozenset()
        self._slots: dict[Hashable, int] = {}
        self._by_slot: NDArray[Any] = np.zeros(64, np.int64)
        self._changes = 0
        """Counted up after each change."""
        self._arrays: tuple[int, tuple[NDArray[Any], NDArray[np.int64], int]] = (-1, (self._by_slot, np.arange(0), 0))

    def __len__(self) -> int:
        return len(self._slots)

    def slot(self, key: Any) -> int | None:
        """The slot of a key, or None."""
        return self._slots.get(key)

    def known(self, key: Hashable) -> int:
        """The slot of a key that must be there."""
        found = self._slots.get(key)
        if found is None:
            offered = self._near(key)
            said = f" Did you mean {' or '.join(map(repr, offered))}?" if offered else ""
            raise UnknownKey(f"the matcher has no filter under {key!r}.{said}", key=key, near=offered)
        return found

    def _near(self, key: Hashable) -> tuple[Hashable, ...]:
        """Keys that read like one that is not there: with many keys only those of about its length."""
        text = str(key)
        names = {str(each): each for each in self._slots}
        if text in names:
            return (names[text],)  # '7' for 7
        if len(names) > _OFFERED_BELOW:
            ends = (text[:2].lower(), text[-2:].lower())
            alike = (n for n in names if abs(len(n) - len(text)) < 3 and (n[:2].lower(), n[-2:].lower()) == ends)
            names = {name: names[name] for name in itertools.islice(alike, _OFFERED_BELOW)}
        return tuple(names[name] for name in near(text, names))

    def all(self) -> list[Hashable]:
        """The keys, in the order added."""
        return sorted(self._slots, key=self._slots.__getitem__)

    def prepare(self, key: Hashable) -> int:
        """Write a key down under the next slot, which is returned: whoever finds the slot matched finds the key."""
        slot = self.next_slot
        held = self._by_slot
        if held.dtype != object and not _is_small(key):
            held = self._by_slot = held.astype(object)
        if slot == len(held):
            held = self._by_slot = np.concatenate([held, np.zeros(slot, held.dtype)])
        held[slot] = key
        self._changes += 1
        return slot

    def enter(self, key: Hashable, filter: Filter) -> None:
        """Enter a prepared key; one that was there before is replaced."""
        slot = self.next_slot
        old = self._slots.get(key)
        self._slots[key] = slot
        self.shelf.put(slot, filter)
        self.next_slot = slot + 1
        self._changes += 1
        if old is not None:
            self.shelf.drop(old)

    def drop(self, key: Hashable) -> None:
        """Forget a key."""
        self.shelf.drop(self._slots.pop(key))
        self._changes += 1

    def at(self, slot: int) -> Hashable:
        """The key of a slot."""
        made: list[Hashable] = self._by_slot[slot : slot + 1].tolist()
        return made[0]

    def of(self, slots: Any) -> list[Hashable]:
        """The keys of some slots."""
        made: list[Hashable] = self._by_slot[slots].tolist() if len(slots) else []
        return made

    def arrays(self) -> tuple[NDArray[Any], NDArray[np.int64], int]:
        """The key of each slot (int64 if all are ints, else objects), the place of each among those in use, and how
        many these are. A slot that is only prepared has a key but no place yet."""
        changes, held = self._changes, self._arrays
        if held[0] != changes:
            held = self._arrays = (changes, self._made_arrays())
        return held[1]

    def _made_arrays(self) -> tuple[NDArray[Any], NDArray[np.int64], int]:
        slots, keys = self._slots.copy(), self._by_slot  # one step each: others may add meanwhile
        last = max(slots.values(), default=-1) + 1
        if len(slots) == last:
            return keys, np.arange(last), last
        used = np.zeros(last, bool)
        used[np.fromiter(slots.values(), np.int64, len(slots))] = True
        if keys.dtype == object and all(map(_is_small, slots)):
            numbers = np.zeros(len(keys), np.int64)
            numbers[:last][used] = keys[:last][used].astype(np.int64)
            keys = numbers
        return keys, np.cumsum(used) - 1, len(slots)

    def renumbered(self) -> tuple[KeyTable, dict[int, int]]:
        """The same keys under slots without gaps, and the new slot of each old one."""
        made = KeyTable()
        made.interface_names, made._interface_ids = self.interface_names, self._interface_ids
        order = np.sort(np.fromiter(self._slots.values(), np.int64, len(self._slots)))
        slots = dict(zip(order.tolist(), range(len(order)), strict=True))
        made._slots = {key: slots[slot] for key, slot in self._slots.items()}
        made._by_slot = np.concatenate([self._by_slot[order], np.zeros(64, self._by_slot.dtype)])
        made.next_slot = len(order)
        made.shelf = self.shelf.renumbered(slots)
        return made, slots

    # ------------------------------------------------------------------ interfaces

    def interface_ids(self, interface: Any) -> tuple[int, ...]:
        """The dense numbers of an interface or a set of them, ascending."""
        if interface is None:
            return ()
        if not isinstance(interface, set | frozenset | list):
            return (self._number(interface),)
        return tuple(sorted({self._number(name) for name in interface}))

    def _number(self, name: Hashable) -> int:
        found = self._interface_ids.get(name)
        if found is None:
            found = self._interface_ids[name] = len(self.interface_names)
            self.interface_names.append(name)
        return found

    def interfaces(self, numbers: Collection[int]) -> set[Hashable]:
        """The interfaces of some numbers, each given once."""
        names = self.interface_names
        if len(self._all_interfaces) != len(names):
            # A copy has the size that copies of it get, which makes them cheaper.
            self._all_interfaces = frozenset(set(names))
        if len(numbers) == len(names):
            return set(self._all_interfaces)
        missing = getattr(numbers, "missing", ())
        if len(numbers) + len(missing) != len(names):
            return {names[number] for number in numbers}
        found = set(self._all_interfaces)
        for number in missing:
            found.discard(names[number])
        return found


def _is_small(key: Hashable) -> bool:
    return type(key) is int and -(1 << 63) <= key < 1 << 63
