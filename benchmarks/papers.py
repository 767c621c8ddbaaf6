"""Both papers' experiments, on their workloads, beside their figures; and who is quickest today.

Shared BDDs: nodes before and after restriction, time by message density and by variable order. Fast forwarding: time
by the number of filters, interfaces and names, and the share of messages that nobody wants. ``--quick`` takes about two
minutes, the default about twenty, ``--full`` goes to eight million filters. All times are CPU times.
"""

from __future__ import annotations

import argparse

from benchmarks import papers_bdd, papers_sff
from benchmarks.calibrate import show
from benchmarks.papers_loads import workloads
from benchmarks.report import arguments


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--full", action="store_true", help="up to eight million filters")
    parser.add_argument("--only", choices=("bdd", "sff"), help="one paper of the two")


def main() -> None:
    """Run the experiments."""
    asked = arguments(__doc__ or "", _more)
    module = workloads()
    if module is None:
        return
    show(asked.quick)
    if asked.only != "sff":
        papers_bdd.run(module, asked.quick)
    if asked.only != "bdd":
        papers_sff.run(module, asked.quick, asked.full)


if __name__ == "__main__":
    main()
