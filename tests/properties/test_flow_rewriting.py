"""Random graphs, random events: a rewritten graph delivers what the original delivers, in the same order."""

from hypothesis import given, settings
from hypothesis import strategies as st

from conceptpubsub.flow import FlowGraph

TABLE = {"a": "A", "b": "B", "c": "B"}
FUNCTIONS = {"TAB": TABLE, "OPQ": lambda value: f"<{value}>"}
NUMBERS = ["x", "y", "x + y", "x - 1", "x * y", "x / y", "2 * x", "y / 2 + x"]
TEXTS = ["t", "TAB(t)", "OPQ(t)", "TAB(t)"]
ATOMS = [
    *("x > 1", "y <= 2", "x = y", "x <> 2", "x / y > 1", "x * y BETWEEN 0 AND 4", "x IS NULL", "x + y < 3"),
    *("t = 'B'", "t LIKE '%b%'", "t IN ('A', 'a')", "t IS NOT NULL", "t > 'B'"),
]

SHAPES = (
    *([], ["Filter"], ["Transform"], ["Filter", "Transform"]),
    *(["Prepare", "Filter", "Transform"], ["Prepare", "Transform"]),
)


@st.composite
def predicates(draw):
    parts = draw(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3))
    parts = [f"NOT ({part})" if draw(st.booleans()) else part for part in parts]
    return draw(st.sampled_from([" AND ", " OR "])).join(f"({part})" for part in parts)


@st.composite
def graphs(draw):
    graph = FlowGraph()
    for name in ("P", "Q"):
        graph.source(name, {"x": "real", "y": "real", "t": "text"})
    spaces = ["P", "Q"]
    for number in range(draw(st.integers(1, 6))):
        source, target = draw(st.sampled_from(spaces)), f"S{number}"
        if draw(st.booleans()):
            graph.select(source, target, draw(predicates()))
        else:
            outputs = {
                "x": draw(st.sampled_from(NUMBERS)),
                "y": draw(st.sampled_from(NUMBERS)),
                "t": draw(st.sampled_from(TEXTS)),
            }
            graph.transform(source, target, outputs, FUNCTIONS)
        spaces.append(target)
    return graph


values = st.one_of(st.none(), st.integers(-1, 3), st.sampled_from([0.5, 1.5]))
events = st.lists(
    st.tuples(
        st.sampled_from(["P", "Q"]),
        st.fixed_dictionaries({"x": values, "y": values, "t": st.sampled_from([None, "a", "b", "c", "d"])}),
    ),
    max_size=12,
)


def _delivered(graph, published, spaces):
    flow = graph.run()
    received = {space: flow.subscribe(space) for space in spaces}
    for space, event in published:
        flow.publish(space, event)
    return {space: [dict(event.attributes) for event in got] for space, got in received.items()}


@settings(max_examples=40, deadline=None)
@given(graphs(), events, st.booleans())
def test_deliveries_are_equal(graph, published, share):
    rewritten = graph.rewrite(share=share, budget_ms=150)
    spaces = [arc.target for arc in graph.arcs]
    assert _delivered(graph, published, spaces) == _delivered(rewritten, published, spaces)
    refuted = [proof for proof in rewritten.proofs if "differ" in proof.reason]
    assert not refuted, [str(proof) for proof in refuted]
    for path in rewritten.paths:
        assert [type(step).__name__ for step in path.steps] in SHAPES
