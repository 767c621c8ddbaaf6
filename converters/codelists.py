"""Code lists: tables that say which code of one scheme means the same as which code of another.

A row is one thing; a column is one scheme. The first column is the common scheme, through which the others meet.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike

from conceptpubsub.errors import InvalidValue


@dataclass(frozen=True, slots=True)
class CodeList:
    """Codes of several schemes that mean the same.

    >>> exchanges = CodeList.of({"NYSE": {"IBM": "Big Blue"}, "XETRA": {"IBM.DE": "Big Blue"}}, common="company")
    >>> exchanges.convert("IBM", "NYSE", "XETRA")
    'IBM.DE'
    """

    common: str
    schemes: tuple[str, ...]
    to_common: Mapping[str, Mapping[str, str]]
    from_common: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, tables: Mapping[str, Mapping[str, str]], common: str = "common") -> CodeList:
        """From ``{scheme: {code: common name}}``."""
        rows = [
            {common: str(name), scheme: str(code)} for scheme, codes in tables.items() for code, name in codes.items()
        ]
        return cls.rows(rows, common)

    @classmethod
    def rows(cls, rows: Iterable[Mapping[str, str]], common: str) -> CodeList:
        """From rows, each a mapping from scheme to code; every row names its thing in the common scheme."""
        to_common: dict[str, dict[str, str]] = {}
        from_common: dict[str, dict[str, str]] = {}
        for row in rows:
            name = row.get(common)
            if not name:
                raise InvalidValue(f"a row of a code list without its {common!r}: {dict(row)!r:.120}", value=common)
            for scheme, code in row.items():
                if scheme == common or not code:
                    continue
                known = to_common.setdefault(scheme, {}).setdefault(code, name)
                if known != name:
                    raise InvalidValue(f"the code {code!r} of {scheme} means both {known!r} and {name!r}", value=code)
                from_common.setdefault(scheme, {}).setdefault(name, code)
        return cls(common, (common, *to_common), to_common, from_common)

    @classmethod
    def read(cls, path: str | PathLike[str], common: str | None = None) -> CodeList:
        """From a CSV file: the header names the schemes, the first of them is the common one unless given."""
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            header = reader.fieldnames or ()
            if len(header) < 2 or (common is not None and common not in header):
                raise InvalidValue("a code list has a header with at least two schemes", value=str(list(header))[:200])
            return cls.rows(list(reader), common or header[0])

    def convert(self, value: str, source: str, target: str) -> str | None:
        """The code of another scheme that means the same; None where this list does not say."""
        name = value if source == self.common else self.to_common.get(source, {}).get(value)
        if name is None or target == self.common:
            return name
        return self.from_common.get(target, {}).get(name)

    @property
    def digest(self) -> str:
        """A name for the content: equal lists have equal digests."""
        content = sorted((scheme, sorted(codes.items())) for scheme, codes in self.to_common.items())
        return hashlib.sha256(repr((self.common, content)).encode()).hexdigest()

    @property
    def name(self) -> str:
        """How listings call it."""
        return "code list"
