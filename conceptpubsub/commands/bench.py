"""``conceptpubsub bench [TOPIC …]``: the benchmarks of the source tree, short by default."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from conceptpubsub.errors import InvalidValue, hint, near

_EXAMPLES = """examples:
  conceptpubsub bench                    # lists the topics
  conceptpubsub bench hub conversion
  conceptpubsub bench matching --full

Figures are CPU time, beside what one would use instead. They come with the source tree.
"""
_BESIDE = ("calibrate", "report")


def register(subparsers: Any) -> None:
    """Add the command to the parser."""
    command = subparsers.add_parser(
        "bench",
        help="run benchmarks and print their tables",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("topic", nargs="*", help="such as conversion or hub; all of them: all")
    command.add_argument("--full", action="store_true", help="full loads instead of short ones")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the benchmarks named, each in a process of its own."""
    root = Path(__file__).resolve().parents[2]
    folder = root / "benchmarks"
    if not folder.is_dir():
        raise InvalidValue("the benchmarks come with the source tree, not with the installed package")
    known = sorted(file.stem for file in folder.glob("[!_]*.py") if file.stem not in _BESIDE and _runs(file))
    if not args.topic:
        print("\n".join(known))
        return 0
    for topic in args.topic:
        if topic not in known and topic != "all":
            raise InvalidValue(f"no benchmark {topic!r}.{hint(near(topic, known))} There are {', '.join(known)}.")
    for topic in known if "all" in args.topic else args.topic:
        print(f"== {topic}", file=sys.stderr)
        command = [sys.executable, "-m", f"benchmarks.{topic}", *([] if args.full else ["--quick"])]
        done = subprocess.run(command, cwd=root, check=False)
        if done.returncode:
            return 1
    return 0


def _runs(file: Path) -> bool:
    """Whether a file is a benchmark rather than a part of one."""
    return "__main__" in file.read_text(encoding="utf-8")
