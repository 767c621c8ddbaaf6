"""Networks: trees only, and what is wrong with others is named."""

import itertools

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conceptpubsub.errors import NetworkError
from conceptpubsub.routing.network import Link, Network


def links(*pairs: str) -> list[Link]:
    return [Link(*pair.split("-")) for pair in pairs]


@pytest.mark.parametrize(
    ("pairs", "cycle"),
    [
        (["A-B", "B-C", "C-A"], {"A", "B", "C"}),
        (["R-A", "A-B", "B-C", "C-D", "D-B", "R-X"], {"B", "C", "D"}),
        (["A-B", "C-D", "D-E", "E-C", "B-C"], {"C", "D", "E"}),
    ],
)
def test_a_cycle_is_named(pairs: list[str], cycle: set[str]) -> None:
    with pytest.raises(NetworkError) as caught:
        Network(links(*pairs))
    found = caught.value.cycle
    assert set(found) == cycle
    assert found[0] == found[-1]
    joined = {frozenset(pair.split("-")) for pair in pairs}
    assert all(frozenset(step) in joined for step in itertools.pairwise(found))


def test_doubled_links_and_loops_are_cycles_too() -> None:
    with pytest.raises(NetworkError, match="linked to itself"):
        Network(links("A-A"))
    with pytest.raises(NetworkError, match="linked twice"):
        Network(links("A-B", "B-A"))


def test_what_cannot_be_reached_is_named() -> None:
    with pytest.raises(NetworkError, match="C, D cannot be reached from A"):
        Network(links("A-B", "C-D"))
    with pytest.raises(NetworkError, match="at least one broker"):
        Network()


@pytest.mark.parametrize(("latency", "bandwidth"), [(-1, None), (float("nan"), None), (0.1, 0), ("slow", None)])
def test_impossible_links(latency: object, bandwidth: object) -> None:
    with pytest.raises(NetworkError, match="latency"):
        Network([Link("A", "B", latency, bandwidth)])  # type: ignore[arg-type]


@given(brokers=st.integers(1, 60), seed=st.integers(0, 99), shape=st.sampled_from(["line", "star", "kary", "tree"]))
def test_paths_are_those_of_networkx(brokers: int, seed: int, shape: str) -> None:
    network = {
        "line": lambda: Network.line(brokers),
        "star": lambda: Network.star(brokers),
        "kary": lambda: Network.kary(brokers, 1 + seed % 4),
        "tree": lambda: Network.tree(brokers, seed),
    }[shape]()
    graph = networkx.Graph([(link.a, link.b) for link in network.links])
    graph.add_nodes_from(network.brokers)
    assert networkx.is_tree(graph)
    assert len(network) == brokers
    start = network.brokers[seed % brokers]
    expected = networkx.single_source_shortest_path(graph, start)
    assert {to: list(network.path(start, to)) for to in network.brokers} == expected
    assert set(network.neighbours(start)) == set(graph.neighbors(start))


def test_networkx_goes_in() -> None:
    graph = networkx.balanced_tree(2, 2)
    graph.edges[0, 1]["latency"] = 0.5
    network = Network.from_networkx(graph)
    assert network.link("0", "1").latency == 0.5
    assert network.path("3", "6") == ("3", "1", "0", "2", "6")
    with pytest.raises(NetworkError, match="cycle"):
        Network.from_networkx(networkx.cycle_graph(4))


def test_toml_goes_in(tmp_path: object) -> None:
    file = tmp_path / "net.toml"  # type: ignore[operator]
    file.write_text('[network]\nlatency = 0.2\nlinks = [["A", "B"], {a = "B", b = "C", bandwidth = 1e6}]\n')
    network = Network.load(file)
    assert network.link("B", "C") == Link("B", "C", 0.2, 1e6)
    file.write_text('kind = "star"\nbrokers = 4\n')
    assert Network.load(file).border() == ("B2", "B3", "B4")
    file.write_text("kind = ")
    with pytest.raises(NetworkError, match="not TOML"):
        Network.load(file)


@pytest.mark.parametrize(
    ("description", "complaint"),
    [
        ({"kind": "ring", "brokers": 3}, "no network is a 'ring'"),
        ({"kind": "star", "brokers": 3, "branching": 2}, "branching"),
        ({"kind": "star"}, "brokers"),
        ({"kind": "line", "brokers": -1}, "not -1"),
        ({"kind": "line", "brokers": True}, "not True"),
        ({"kind": "line", "brokers": 10**9}, "100000"),
        ({"kind": "kary", "brokers": 3, "branching": 0}, "at least once"),
        ({"links": [["A"]]}, "a link is"),
        ({"links": [{"a": "A", "c": "B"}]}, "a link is"),
        ({"links": "A-B"}, "a list of links"),
    ],
)
def test_wrong_descriptions(description: dict[str, object], complaint: str) -> None:
    with pytest.raises(NetworkError, match=complaint):
        Network.read(description)


def test_strangers_are_offered_near_names() -> None:
    with pytest.raises(NetworkError, match="Did you mean"):
        Network.star(4).neighbours("b3")
    with pytest.raises(NetworkError, match="no link between"):
        Network.line(3).link("B1", "B3")
