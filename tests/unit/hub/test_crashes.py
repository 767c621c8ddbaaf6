"""kill -9 at random moments: nothing acknowledged is lost, nothing the subscriber acknowledged comes again."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import conceptpubsub as cps

CHILD = Path(__file__).with_name("crashing.py")


def run(folder: Path, until: int, kills: int, longest: float, seed: int) -> int:
    """Start the child so many times and kill it, then let it finish; gives how many kills hit it alive and at work."""
    r = random.Random(seed)
    landed = 0
    command = [sys.executable, str(CHILD), str(folder / "events.db"), str(folder / "diary"), str(until)]
    for number in range(kills):
        child = subprocess.Popen([*command, str(number)])
        diary = folder / "diary"
        at_work = False
        before, waited = diary.stat().st_size if diary.exists() else 0, time.monotonic()
        while child.poll() is None and time.monotonic() - waited < 60:
            if diary.exists() and diary.stat().st_size > before:  # it is at work: let it be for a random while
                at_work = True
                time.sleep(r.uniform(0, longest))
                break
            time.sleep(0.005)
        assert child.poll() in (None, 0), "it fell by itself"
        landed += at_work and child.poll() is None
        child.kill()
        child.wait()
    subprocess.run([*command, str(kills)], check=True, timeout=3600)
    return landed


def judge(folder: Path, until: int) -> tuple[int, int]:
    """What the diary and the store say; gives how many events were received, and how many of them anew."""
    lines = (folder / "diary").read_text().splitlines()
    published, received, acknowledged, again = set(), set(), set(), 0
    for line in lines:
        letter, _, text = line.partition(" ")
        number = int(text)
        if letter == "P":
            assert number not in published
            published.add(number)
        elif letter == "R":
            assert number not in acknowledged, f"{number} came again after its acknowledgment"
            again += number in received
            received.add(number)
        else:
            acknowledged.add(number)
    with cps.Hub(store=folder / "events.db") as hub:
        stored = [(offset, event["n"].value) for offset, event in hub.replay("n >= 0")]
    assert stored == [(n, n) for n in range(until)]
    assert published <= received == set(range(until))
    return len(received), again


def test_a_few_kills(tmp_path):
    assert run(tmp_path, 3000, kills=4, longest=0.02, seed=1) > 0
    assert judge(tmp_path, 3000)[0] == 3000


@pytest.mark.long
def test_many_kills_while_a_million_events_are_published(tmp_path):
    landed = run(tmp_path, 1_000_000, kills=60, longest=0.5, seed=2)
    print(f"{landed} of 60 kills hit the process at work")
    assert landed >= 30
    received, again = judge(tmp_path, 1_000_000)
    assert received == 1_000_000
    assert again > 0  # the kills did hit between delivery and acknowledgment
