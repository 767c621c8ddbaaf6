"""The clockwork and the links."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.errors import InvalidValue
from conceptpubsub.routing.kernel import NORMAL, URGENT, Kernel
from conceptpubsub.routing.links import Channel


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([URGENT, NORMAL]))))
def test_actions_run_by_time_then_priority_then_order(asked: list[tuple[int, int]]) -> None:
    kernel, seen = Kernel(), []
    for number, (time, priority) in enumerate(asked):
        kernel.at(time, lambda entry=(time, priority, number): seen.append(entry), priority)  # type: ignore[misc]
    assert kernel.run() == len(asked)
    assert seen == sorted(seen)
    assert len(kernel) == 0


def test_time_stops_where_it_is_told() -> None:
    kernel, seen = Kernel(), []
    kernel.at(1.0, lambda: kernel.after(1.0, lambda: seen.append(kernel.now)))
    assert kernel.run(until=1.5) == 1
    assert (kernel.now, kernel.next_time, seen) == (1.5, 2.0, [])
    kernel.run()
    assert (seen, kernel.next_time) == ([2.0], None)


@pytest.mark.parametrize("time", [-1.0, float("nan"), float("inf")])
def test_impossible_times(time: float) -> None:
    with pytest.raises(InvalidValue):
        Kernel().at(time, lambda: None)


@given(
    sent=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1000)), min_size=1),
    latency=st.floats(0, 2),
    bandwidth=st.none() | st.floats(1, 1e6),
)
def test_channels_keep_order(sent: list[tuple[float, int]], latency: float, bandwidth: float | None) -> None:
    channel, now, arrivals = Channel(latency, bandwidth), 0.0, []
    for pause, size in sent:
        now += pause
        arrivals.append(channel.arrival(now, size))
        assert arrivals[-1] >= now + latency
    assert arrivals == sorted(arrivals)
