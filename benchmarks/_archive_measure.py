"""CPU seconds and memory of a run with all its processes."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from benchmarks._archive_load import Load

Run = Callable[[Load, Path], int]


class TreeCpu:
    """CPU seconds of this process and all below it, also of those that end meanwhile, and the most memory at a time."""

    def __init__(self) -> None:
        self.seen: dict[tuple[int, float], float] = {}
        self.peak = 0

    def read(self) -> float:
        """What has been used so far."""
        resident = 0
        me = psutil.Process()
        for process in (me, *me.children(recursive=True)):
            try:
                used = process.cpu_times()
                self.seen[process.pid, process.create_time()] = used.user + used.system
                resident += process.memory_info().rss
            except psutil.Error:
                continue
        self.peak = max(self.peak, resident)
        return sum(self.seen.values())


def measured(run: Run, load: Load, folder: Path) -> tuple[int, float, float, int]:
    """(matches, CPU seconds, wall seconds, peak memory in MB) of one run."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    cpu = TreeCpu()
    before, started, done = cpu.read(), time.monotonic(), threading.Event()

    def watch() -> None:
        while not done.wait(0.2):
            cpu.read()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        found = run(load, out)
    finally:
        done.set()
        watcher.join()
    used, wall = cpu.read() - before, time.monotonic() - started
    shutil.rmtree(out, ignore_errors=True)
    return found, used, wall, cpu.peak >> 20
