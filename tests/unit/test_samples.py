"""Every sample runs by itself, is short, and shows what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = {
    "building.py": ["too warm: room 101, IndoorTemperature 26.0 degC", "HeatEnergy 10.0 kWh", "Did you mean"],
    "own_ontology.py": ["1.055 sg: 1 matched", "'Gravity': 13.502", "1.04 sg: 0 matched"],
    "plain_filters.py": ["covers it: False", "color is missing"],
    "price_alerts.py": ["Anna : camera for 300.00 EUR", "Bob  : lens for 144.00 USD", "384"],
    "stocks.py": [
        "large trades: [('IBM', 10000, '2026-11-17T15:05:00Z')]",
        "missed 5 events, caught up with 2 -> [150, 160, 200, 120]",
        "NYS has no entry for 'ACME'",
    ],
    "vehicles.py": ["'Odometer': 6195.9744", "are the same: True", "covers 'CoolantTemperature > 373.15 kelvin': True"],
}


def test_every_sample_is_listed() -> None:
    assert {file.name for file in (ROOT / "samples").glob("*.py")} == {*SAMPLES, "spark_reprocessing.py"}


@pytest.mark.parametrize("name", [*SAMPLES, "spark_reprocessing.py"])
def test_it_is_short_and_says_how_to_run_it(name: str) -> None:
    lines = (ROOT / "samples" / name).read_text().splitlines()
    assert len(lines) < 80
    assert f"python samples/{name}" in "\n".join(lines[:12])


@pytest.mark.parametrize("name", SAMPLES)
def test_it_runs_and_shows_what_it_promises(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "samples" / name)], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    for words in SAMPLES[name]:
        assert words in done.stdout


@pytest.mark.spark
def test_reprocessing_with_spark(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    file = ROOT / "samples" / "spark_reprocessing.py"
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    if done.returncode == 3:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("hot: 333 deliveries") == done.stdout.count("far: 378 deliveries") == 2
