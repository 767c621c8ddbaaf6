"""What every benchmark shares: CPU timing, an aligned table, and a plot where matplotlib is installed."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

OUT = Path(__file__).resolve().parent.parent / "out"


def arguments(description: str, *more: Callable[[argparse.ArgumentParser], Any]) -> argparse.Namespace:
    """The command line of a benchmark: ``--quick`` and whatever the benchmark adds."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="smaller loads, fewer repeats")
    for add in more:
        add(parser)
    return parser.parse_args()


def cpu_seconds(action: Callable[[], Any], repeats: int = 5, number: int = 1) -> float:
    """CPU seconds of one call: the median of some repeats of ``number`` calls, after one to warm up."""
    action()
    found = []
    for _ in range(repeats):
        started = time.process_time()
        for _ in range(number):
            action()
        found.append((time.process_time() - started) / number)
    return statistics.median(found)


def duration(seconds: float) -> str:
    """A duration in the unit that reads best.

    >>> duration(0.00000123), duration(0.5)
    ('1.23 µs', '500 ms')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table with aligned columns: the first to the left, the others to the right."""
    texts = [[_text(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(header))]
    print(f"\n{title}")
    for place, row in enumerate(texts):
        cells = [
            cell.ljust(width) if not i else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
        if not place:
            print("  ".join("-" * width for width in widths))


def _text(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def plot(name: str, draw: Callable[[Any], None]) -> Path | None:
    """Let ``draw`` fill the axes of a figure and keep it as ``out/<name>.png``; None without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    draw(axes)
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{name}.png"
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    print(f"plot: {path.relative_to(OUT.parent)}")
    return path
