"""The loads of the routing benchmark, and one run of the largest in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from conceptpubsub.routing.experiment import Case, Outcome, cases, run_case
from conceptpubsub.routing.scenario import Scenario
from conceptpubsub.routing.workload import Workload

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "scenarios"
NETWORK: dict[str, Any] = {
    "seed": 1,
    "network": {"kind": "tree", "brokers": 1000, "seed": 1, "latency": 0.01},
    "run": {"rate": 1000.0},
    "clients": {"subscribers": 10_000, "publishers": 200, "regions": 100, "locality": 0.9},
}
"""1,000 brokers in 100 regions; nine of ten subscriptions are for the subscriber's own region."""
TRADES: dict[str, Any] = {
    **NETWORK,
    "variables": {
        "region": {"region": True},
        "symbol": {"choose": [f"S{number}" for number in range(100)], "skew": 1.0},
        "price": {"low": 0, "high": 1000, "step": 1},
    },
    "subscriptions": [
        {"weight": 4, "text": "venue = '{region}' AND symbol = '{symbol}' AND price >= {price}"},
        {"weight": 4, "text": "venue = '{region}' AND symbol = '{symbol}' AND price BETWEEN {price} AND {price+50}"},
        {"weight": 1, "text": "venue = '{region}' AND price > {price+950}"},
    ],
    "advertisements": [{"text": "venue = '{region}'"}],
    "events": [
        {"concept": "Trade", "attributes": {"venue": "{region}", "symbol": "{symbol}", "price": "{price}"}},
    ],
}
"""Trades at a region's venue: plain attributes, 100 symbols, the first of them asked for most."""
WEATHER: dict[str, Any] = {
    **NETWORK,
    "ontology": "observations",
    "variables": {
        "region": {"region": True},
        "warm": {
            "low": -20,
            "high": 40,
            "step": 0.5,
            "units": {"degC": [1, 0], "degF": [1.8, 32], "kelvin": [1, 273.15]},
        },
        "windy": {"low": 0, "high": 40, "step": 0.5, "units": {"m/s": [1, 0], "km/hour": [3.6, 0]}},
        "clear": {"low": 0, "high": 20, "step": 0.1, "units": {"km": [1, 0], "m": [1000, 0]}},
        "air": ["AirTemperature", "OutdoorTemperature", "Temperature"],
        "blow": ["WindSpeed", "WindGust", "Speed"],
    },
    "subscriptions": [
        {"weight": 3, "text": "EVENT.source = '{region}' AND {air} BETWEEN {warm} AND {warm+2}"},
        {"weight": 2, "text": "EVENT.source = '{region}' AND {air} > {warm+10} AND {blow} > {windy+10}"},
        {
            "weight": 2,
            "text": "EVENT.source = '{region}' AND {blow} BETWEEN {windy} AND {windy+5} AND Visibility < {clear}",
        },
    ],
    "advertisements": [{"text": "EVENT ISA WeatherObservation AND EVENT.source = '{region}'"}],
    "events": [
        {
            "concept": "WeatherObservation",
            "source": "{region}",
            "attributes": {"OutdoorTemperature": "{warm}", "WindSpeed": "{windy}", "Visibility": "{clear}"},
        }
    ],
}
"""Stations report the weather of their region: concepts and sub-concepts, each client in units of its own."""
LARGE = {"trades": TRADES, "weather": WEATHER}


def sample(name: str, subscriptions: tuple[int, ...], events: int, locality: float | None = None) -> list[Outcome]:
    """The runs of a sample scenario, of that size; nobody roams, so that all control traffic is subscriptions'."""
    scenario = Scenario.load(SAMPLES / f"{name}.toml").resized(subscriptions, events)
    people = replace(scenario.population, roaming=0.0)
    if locality is not None:
        people = replace(people, locality=locality)
    scenario = replace(scenario, population=people, plan=replace(scenario.plan, excess=0.0))
    workload = Workload(scenario)
    return [run_case(scenario, workload, case, say) for case in cases(scenario)]


def say(part: str, done: float) -> None:
    """A sign of life."""
    print(f"\r{part:<16} {done:4.0%}", end="\r", file=sys.stderr, flush=True)


def large(load: str, subscriptions: int, events: int) -> dict[str, Any]:
    """The figures of a large run, made in a process of its own, so that its memory is its own."""
    command = [sys.executable, "-m", "benchmarks._routing_loads", load, str(subscriptions), str(events)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=SAMPLES.parent.parent)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _large(load: str, subscriptions: int, events: int) -> dict[str, Any]:
    import resource

    started, clock = time.process_time(), time.monotonic()
    scenario = Scenario.read(LARGE[load]).resized([subscriptions], events)
    workload = Workload(scenario)
    settled: list[float] = []

    def report(part: str, done: float) -> None:
        if part == "events" and not settled:
            settled.append(time.process_time())
        say(part, done)

    outcome = run_case(scenario, workload, Case("covering", True, "semantic", subscriptions), report)
    ended = time.process_time()
    return {
        **outcome.row(),
        "setup_seconds": settled[0] - started,
        "cpu_seconds": ended - started,
        "clock_seconds": time.monotonic() - clock,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        / (1 << 10 if sys.platform == "linux" else 1 << 20),
    }


if __name__ == "__main__":
    print(json.dumps(_large(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
