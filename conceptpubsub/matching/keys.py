"""Keys and slots: who asked for which filter, in which order, on which interfaces."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conceptpubsub.errors import UnknownKey, hint, near

if TYPE_CHECKING:
    from conceptpubsub.filters import Filter

_GONE: Any = object()


class KeyTable:
    """Keys by slot and back."""

    def __init__(self) -> None:
        self.by_slot: list[Hashable] = []
        self.interface_names: list[Hashable] = []
        self._interface_ids: dict[Hashable, int] = {}
        self._slots: dict[Hashable, int] = {}
        self._filters: dict[int, Filter] = {}

    @property
    def next_slot(self) -> int:
        """The slot that the next filter will get."""
        return len(self.by_slot)

    def __len__(self) -> int:
        return len(self._slots)

    def slot(self, key: Any) -> int | None:
        """The slot of a key, or None."""
        return self._slots.get(key)

    def known(self, key: Hashable) -> int:
        """The slot of a key that must be there."""
        found = self._slots.get(key)
        if found is None:
            texts = [k for k in self._slots if isinstance(k, str)] if len(self._slots) <= 1000 else []
            raise UnknownKey(f"the matcher has no filter under {key!r}.{hint(near(str(key), texts))}", key=key)
        return found

    def all(self) -> list[Hashable]:
        """The keys, in the order added."""
        return sorted(self._slots, key=self._slots.__getitem__)

    def filter(self, slot: int) -> Filter:
        """The filter of a slot."""
        return self._filters[slot]

    def put(self, key: Hashable, filter: Filter, interface: Any) -> None:
        """Enter a key under the next slot."""
        slot = len(self.by_slot)
        old = self._slots.get(key)
        self.by_slot.append(key)
        self._slots[key] = slot
        self._filters[slot] = filter
        if old is not None:
            self._forget(old)

    def drop(self, key: Hashable) -> None:
        """Forget a key."""
        self._forget(self._slots.pop(key))

    def _forget(self, slot: int) -> None:
        del self._filters[slot]

    def interface_ids(self, interface: Any) -> tuple[int, ...]:
        """The dense numbers of an interface or a set of them."""
        if interface is None:
            return ()
        named = interface if isinstance(interface, set | frozenset | list) else (interface,)
        return tuple(self._number(name) for name in named)

    def _number(self, name: Hashable) -> int:
        found = self._interface_ids.get(name)
        if found is None:
            found = self._interface_ids[name] = len(self.interface_names)
            self.interface_names.append(name)
        return found

    def arrays(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The key of each slot (int64 if all are ints, else objects), and each slot's place among the live ones."""
        live = np.zeros(len(self.by_slot), bool)
        live[list(self._filters)] = True
        positions = np.cumsum(live) - 1
        if all(type(key) is int and -(1 << 63) <= key < 1 << 63 for key in self._slots):
            keys = np.array([key if type(key) is int else 0 for key in self.by_slot], np.int64)
            return keys, positions
        made = np.empty(len(self.by_slot), object)
        made[:] = self.by_slot
        return made, positions
