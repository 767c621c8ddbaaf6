"""How fast is this machine today? One fixed piece of work, to compare figures of different machines and hours.

The sum of a hundred million float32 with NumPy; other benchmarks print it beside their figures.
"""

from __future__ import annotations

import numpy as np

from benchmarks.report import arguments, cpu_seconds, duration, print_table

SIZE = 100_000_000


def calibration(size: int = SIZE, repeats: int = 3) -> float:
    """CPU seconds of the sum of ``size`` float32, scaled to a hundred million."""
    values = np.ones(size, dtype=np.float32)
    return cpu_seconds(lambda: float(values.sum()), repeats) * (SIZE / size)


def show(quick: bool = False) -> float:
    """Measure, print one line, and return the CPU seconds."""
    seconds = calibration(SIZE // 10 if quick else SIZE)
    print(f"calibration: NumPy sums 1e8 float32 in {duration(seconds)} of CPU time")
    return seconds


def main() -> None:
    """Print the calibration as a table."""
    quick = arguments(__doc__ or "").quick
    seconds = calibration(SIZE // 10 if quick else SIZE)
    print_table("Calibration (CPU time)", ("work", "time"), [("sum of 1e8 float32, NumPy", duration(seconds))])


if __name__ == "__main__":
    main()
