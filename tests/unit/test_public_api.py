"""The public names are these and no others; adding one is a decision, losing one a broken promise."""

import ast
import importlib
import inspect
import pickle
from importlib.util import find_spec
from pathlib import Path

import pytest

import conceptpubsub
from conceptpubsub import errors

PUBLIC = [
    "Concept",
    "ConceptPubSubError",
    "Context",
    "Converters",
    "Filter",
    "Hub",
    "Instant",
    "MatchBatch",
    "Matcher",
    "Ontology",
    "SemanticEvent",
    "SemanticObject",
    "quantity",
    "ref",
]
CODECS = [
    "events_to_table",
    "from_cloudevent",
    "from_json",
    "read_lines",
    "table_to_events",
    "to_cloudevent",
    "to_json",
]


def exists(name: str) -> bool:
    """Whether the module that is the home of a name offers it already."""
    home = conceptpubsub._HOMES[name]
    return find_spec(home) is not None and hasattr(importlib.import_module(home), name)


def test_the_public_names() -> None:
    assert conceptpubsub.__all__ == PUBLIC
    assert set(PUBLIC) <= set(dir(conceptpubsub))
    assert set(conceptpubsub._HOMES) == set(PUBLIC) - {"ConceptPubSubError"}


@pytest.mark.parametrize("name", sorted(conceptpubsub._HOMES))
def test_each_name_is_its_homes_or_says_that_it_is_missing(name: str) -> None:
    if exists(name):
        assert getattr(conceptpubsub, name) is getattr(importlib.import_module(conceptpubsub._HOMES[name]), name)
    else:
        with pytest.raises(AttributeError, match=name):
            getattr(conceptpubsub, name)


def test_type_checkers_see_every_name_that_exists() -> None:
    tree = ast.parse(Path(inspect.getfile(conceptpubsub)).read_text())
    guarded = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        (alias.name, statement.module)
        for node in guarded
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen == {(name, home) for name, home in conceptpubsub._HOMES.items() if exists(name)}


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(AttributeError, match="SemanticEvent"):
        conceptpubsub.SemanticEvnt  # noqa: B018


def test_the_codecs() -> None:
    codecs = importlib.import_module("conceptpubsub.model.codecs")
    assert sorted(codecs.__all__) == CODECS
    assert all(callable(getattr(codecs, name)) for name in CODECS)
    with pytest.raises(AttributeError, match="to_yaml"):
        codecs.to_yaml  # noqa: B018


ERRORS = [
    member
    for _, member in inspect.getmembers(errors, inspect.isclass)
    if issubclass(member, errors.ConceptPubSubError) and member is not errors.ConceptPubSubError
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_error_is_ours_and_a_builtin_and_pickles(error: type[errors.ConceptPubSubError]) -> None:
    assert any(base.__module__ == "builtins" and base is not Exception for base in error.__mro__[1:-3])
    assert inspect.getdoc(error)
    made = error("what, where, and the way out", place="/a", near=("b",))
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is error
    assert (str(again), again.place, again.near) == ("what, where, and the way out", "/a", ("b",))
    with pytest.raises(AttributeError, match="no fact"):
        _ = made.unheard


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in ("ConceptPubSubError",)])
def test_every_public_name_has_a_docstring_with_an_example(name: str) -> None:
    if not exists(name):
        pytest.skip(f"{name} is not in this version")
    found = getattr(conceptpubsub, name)
    members = [found, *(vars(found).values() if inspect.isclass(found) else ())]
    texts = [inspect.getdoc(getattr(member, "__func__", member)) or "" for member in members]
    assert any(">>>" in text for text in texts)
