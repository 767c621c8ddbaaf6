"""JSON-LD back to filters: the structure is checked node by node, with its place, and then spelt as filter text.

Rule 1  No recursion: a document may be as deep as it likes and meets a limit, not the end of the stack.
Rule 2  A complaint about structure names the place by a JSON pointer; one about meaning is the parser's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from conceptpubsub.errors import CodecError, ConceptPubSubError, FilterError, LimitExceeded
from conceptpubsub.filters.filter import Filter
from conceptpubsub.filters.lexer import COMPARISONS
from conceptpubsub.filters.operands import ASPECT
from conceptpubsub.filters.scope import EVENT_PARTS
from conceptpubsub.filters.spelling import constant_text, name_text, quoted
from conceptpubsub.filters.syntax import MAX_DEPTH, MAX_TERM_DEPTH, MAX_TEXT
from conceptpubsub.model import Ontology, SemanticObject
from conceptpubsub.model.codecs.jsonld_terms import Terms
from conceptpubsub.model.codecs.jsonld_values import read_literal
from conceptpubsub.model.codecs.strict_json import parse, pointer

MAX_BYTES = 64 << 20
MAX_NODES = MAX_TEXT
_TERMS = Terms.read({}, "")
_TEXT_TESTS = ("LIKE", "CONTAINS", "WITHIN", "STARTS WITH", "ENDS WITH", "MATCHES")
_MANY = ("And", "Or", "Sum", "Product")
_INSIDE: dict[str, tuple[str, ...]] = {
    "Not": ("operand",),
    "BinaryExpression": ("left", "right"),
    "Between": ("operand", "low", "high"),
    "In": ("operand",),
    "TextTest": ("operand",),
    "IsNull": ("operand",),
    "IsA": ("operand",),
    "Holds": ("operand",),
    "Negative": ("operand",),
    "Reciprocal": ("operand",),
    "ValueRef": (),
    "EventRef": (),
    "SemanticObject": (),
}
_NEGATIVE, _RECIPROCAL = "(- ", "(1 / "
_KNOWN = ("@context", "@id", "@type", "semantics", "ontology", "types", "defaults", "expression")


def read(document: Mapping[str, Any] | str | bytes, scope: dict[str, Any]) -> Filter:
    """The filter that a document holds, in a scope completed by the document's semantics, types and defaults."""
    try:
        tree = parse(document, MAX_BYTES) if isinstance(document, str | bytes) else document
    except CodecError as error:
        raise FilterError(str(error), **error.facts) from None
    top = _members(tree, "")
    if top.get("@type") != "SemanticFilter":
        _refuse("/@type", f"a filter is a SemanticFilter, not {top.get('@type')!r:.60}")
    for key in top:
        if key not in _KNOWN:
            _refuse(pointer("", key), f"a filter has no member {key!r:.60}; it has {', '.join(_KNOWN[2:])}")
    ontology = scope.get("ontology")
    if ontology is None and top.get("ontology") is not None:
        _refuse("/ontology", "the filter speaks of the concepts of an ontology: give it as from_json(…, ontology=…)")
    read_scope = {
        "semantics": _text(top.get("semantics", "sql"), "/semantics"),
        "types": {name: _text(kind, pointer("/types", name)) for name, kind in _types(top).items()},
        "defaults": _defaults(top),
    }
    text = _expression(top.get("expression"), ontology)
    return Filter.parse(text, **{**read_scope, **scope})


def _expression(root: Any, ontology: Ontology | None) -> str:
    """The text of an expression, from the leaves up."""
    texts: list[str] = []
    work: list[tuple[Any, str, int, int]] = [(root, "/expression", 1, -1)]
    count = 0
    while work:
        node, place, level, inside = work.pop()
        if inside >= 0:
            parts = texts[len(texts) - inside :]
            del texts[len(texts) - inside :]
            texts.append(_spelt(node, parts, place, ontology))
            continue
        count += 1
        if level > MAX_DEPTH + MAX_TERM_DEPTH or count > MAX_NODES:
            raise LimitExceeded(
                f"at {place[:200]}: more than {MAX_DEPTH} levels or {MAX_NODES:,} nodes", place=place[:200]
            )
        below = _below(_members(node, place), place)
        work.append((node, place, level, len(below)))
        work.extend([(child, where, level + 1, -1) for child, where in reversed(below)])
    text = texts.pop()
    return text[1:-1] if text.startswith("(") and root["@type"] in ("And", "Or") and len(root["operands"]) > 1 else text


def _below(node: Mapping[str, Any], place: str) -> list[tuple[Any, str]]:
    """The nodes directly below a node, with their places."""
    kind = node.get("@type")
    if kind in _MANY:
        return _list(node, "operands", place)
    if not isinstance(kind, str) or kind not in _INSIDE:
        _refuse(place, f"no expression is a {kind!r:.60}; there are {', '.join((*_MANY, *_INSIDE))}")
    found = []
    for key in _INSIDE[kind]:
        if key not in node:
            _refuse(place, f"a {kind} needs its member '{key}'")
        found.append((node[key], pointer(place, key)))
    return found + _list(node, "values", place) if kind == "In" else found


def _list(node: Mapping[str, Any], key: str, place: str) -> list[tuple[Any, str]]:
    items = node.get(key)
    if isinstance(items, Mapping) and isinstance(items.get("@list"), list):
        items = items["@list"]
    if not isinstance(items, list | tuple):
        _refuse(place, f"a {node.get('@type')} needs a list '{key}'")
    return [(item, pointer(pointer(place, key), index)) for index, item in enumerate(items)]


def _spelt(node: Mapping[str, Any], parts: list[str], place: str, ontology: Ontology | None) -> str:
    """One node as text, in parentheses where another operator may stand beside it."""
    match node["@type"]:
        case "And" | "Or" as kind:
            if not parts:
                return "TRUE" if kind == "And" else "FALSE"
            return _joined(f" {kind.upper()} ", parts)
        case "Sum" | "Product" as kind:
            return _arithmetic(node, parts, place, *(("+", "-") if kind == "Sum" else ("*", "/")))
        case "Not":  # binds tighter than AND and OR, looser than any test
            return f"NOT {parts[0]}"
        case "BinaryExpression":
            op = node.get("operator")
            if not isinstance(op, str) or op not in COMPARISONS:
                _refuse(place, f"no comparison {op!r:.60}; there are {', '.join(COMPARISONS)}")
            return f"{parts[0]} {op} {parts[1]}"
        case "Between":
            return f"{parts[0]} BETWEEN {parts[1]} AND {parts[2]}"
        case "In":
            if len(parts) < 2:
                _refuse(place, "an In needs at least one value")
            return f"{parts[0]} IN ({', '.join(parts[1:])})"
        case "TextTest":
            return _text_test(node, parts[0], place)
        case "IsNull":
            return f"{parts[0]} IS NULL"
        case "IsA":
            return f"{parts[0]} ISA {_concept(_text(node.get('concept'), pointer(place, 'concept')), ontology)}"
        case "Negative":
            return _NEGATIVE + parts[0] + ")"
        case "Reciprocal":
            return _RECIPROCAL + parts[0] + ")"
        case "ValueRef":
            return _reference(node, place, ontology)
        case "EventRef":
            part = node.get("part")
            if part is not None and part not in EVENT_PARTS:
                _refuse(place, f"an event has no part {part!r:.60}; it has {', '.join(EVENT_PARTS)}")
            return "EVENT" if part is None else f"EVENT.{part}"
        case "SemanticObject":
            return _object(node, place)
        case _:
            return parts[0]


def _joined(word: str, parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({word.join(parts)})"


def _arithmetic(node: Mapping[str, Any], parts: list[str], place: str, word: str, opposite: str) -> str:
    """A sum or product; adding a negative is a subtraction, multiplying by a reciprocal is a division."""
    if not parts:
        _refuse(place, f"a {node['@type']} of nothing")
    if len(parts) == 1:
        return f"(+ {parts[0]})"
    kind, prefix = ("Negative", _NEGATIVE) if word == "+" else ("Reciprocal", _RECIPROCAL)
    text = parts[0]
    for part, (operand, _) in list(zip(parts, _list(node, "operands", place), strict=True))[1:]:
        opposed = operand["@type"] == kind
        text += f" {opposite} {part[len(prefix) : -1]}" if opposed else f" {word} {part}"
    return f"({text})"


def _text_test(node: Mapping[str, Any], operand: str, place: str) -> str:
    op = node.get("operator")
    if op not in _TEXT_TESTS:
        _refuse(place, f"no test of text {op!r:.60}; there are {', '.join(_TEXT_TESTS)}")
    pattern = quoted(_text(node.get("pattern"), pointer(place, "pattern")))
    escape = node.get("escape")
    tail = "" if escape is None else f" ESCAPE {quoted(_text(escape, pointer(place, 'escape')))}"
    return f"{operand} {op} {pattern}{tail}"


def _reference(node: Mapping[str, Any], place: str, ontology: Ontology | None) -> str:
    steps = [_text(step, where) for step, where in _list(node, "path", place)]
    if not steps or not all(steps):
        _refuse(place, "a ValueRef needs a path of one name or more")
    return ".".join(_concept(step, ontology) for step in steps)


def _concept(name: str, ontology: Ontology | None) -> str:
    found = None if ontology is None else ontology.find(name)
    return name_text(name if found is None else found.name)


def _object(node: Mapping[str, Any], place: str) -> str:
    value, context = _value(node, place)
    try:
        return constant_text(value, context)
    except ConceptPubSubError as error:
        _refuse(place, str(error))


def _value(node: Mapping[str, Any], place: str) -> tuple[Any, dict[str, Any]]:
    if "rdf:value" not in node:
        _refuse(place, "a SemanticObject needs its 'rdf:value'")
    try:
        value = read_literal(node["rdf:value"], pointer(place, "rdf:value"), _TERMS)
        context = {
            key.removeprefix("cps:"): read_literal(given, pointer(place, key), _TERMS)
            for key, given in node.items()
            if key.startswith("cps:")
        }
    except CodecError as error:
        raise FilterError(str(error), **error.facts) from None
    if value is None or isinstance(value, Mapping):
        _refuse(place, "the value is text, a number, a Boolean or an instant")
    for aspect in context:
        if not ASPECT.fullmatch(aspect):
            _refuse(pointer(place, f"cps:{aspect}"), "an aspect is named by a word")
    return value, context


def _types(top: Mapping[str, Any]) -> Mapping[str, Any]:
    types = top.get("types")
    if isinstance(types, Mapping) and "@value" in types:
        types = types["@value"]
    return {} if types is None else _members(types, "/types")


def _defaults(top: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    listed = top.get("defaults", [])
    for item, place in _list({"@type": "SemanticFilter", "defaults": listed}, "defaults", ""):
        entry = _members(item, place)
        name = _text(entry.get("name"), pointer(place, "name"))
        node = _members(entry.get("value"), pointer(place, "value"))
        value, context = _value(node, pointer(place, "value"))
        concept = node.get("concept")
        found[name] = SemanticObject(concept or name, value, context) if concept or context else value
    return found


def _members(tree: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(tree, Mapping):
        _refuse(place, f"an object is expected, not {type(tree).__name__}")
    return tree


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        _refuse(place, f"text is expected, not {type(value).__name__}")
    return value


def _refuse(place: str, reason: str) -> NoReturn:
    raise FilterError(f"at {place[:200] or 'the top'}: {reason}", place=place[:200], reason=reason)
