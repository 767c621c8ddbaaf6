"""Events from a stream of lines: one event or one complaint a line, whatever the lines hold.

Rule 1  One bad line never stops the rest: not broken JSON, not bytes that are no UTF-8, not a line without end.
Rule 2  Memory is bounded by ``max_bytes``, however long a line is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any

from conceptpubsub.errors import CodecError
from conceptpubsub.model.codecs.plain_json import from_json
from conceptpubsub.model.codecs.strict_json import MAX_BYTES
from conceptpubsub.model.objects import SemanticEvent


def read_lines(
    stream: IO[Any], decode: Callable[[bytes], SemanticEvent] = from_json, *, max_bytes: int = MAX_BYTES
) -> Iterator[tuple[int, SemanticEvent | CodecError]]:
    """The number of each line that is not blank, with its event or what is wrong with it.

    >>> import io
    >>> [found for found in read_lines(io.StringIO('{"concept": "A"}\\n\\n{"concept": }\\n'))][1]
    (3, CodecError('not JSON: Expecting value (line 1, column 13)'))
    """
    source = getattr(stream, "buffer", stream)  # a text file's bytes: a bad byte must not stop the reading
    number = 0
    while line := source.readline(max_bytes + 2):
        number += 1
        content = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        if not content.endswith(b"\n") and len(line) > max_bytes:
            while line and not line.endswith("\n" if isinstance(line, str) else b"\n"):
                line = source.readline(max_bytes)
        if len(content.rstrip(b"\r\n")) > max_bytes:
            yield number, CodecError(f"a line of more than {max_bytes} bytes", place="", limit=max_bytes)
        elif content.strip():
            yield number, _decoded(content.rstrip(b"\r\n"), decode)


def _decoded(content: bytes, decode: Callable[[bytes], SemanticEvent]) -> SemanticEvent | CodecError:
    try:
        return decode(content)
    except CodecError as error:
        return error
