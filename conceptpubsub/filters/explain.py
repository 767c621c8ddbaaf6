"""Why a filter matched an event or not: atom by atom, with the values as they were seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conceptpubsub.converters import Money, Quantity, resolve
from conceptpubsub.errors import MissingAttribute
from conceptpubsub.filters.evaluate import DEFAULT, Binding, Evaluation, bindings, evaluate_binding
from conceptpubsub.filters.events import Complex, Found, View, view
from conceptpubsub.filters.normal import Ref
from conceptpubsub.filters.printer import show
from conceptpubsub.filters.scope import Scope
from conceptpubsub.filters.spelling import quoted
from conceptpubsub.filters.syntax import (
    All,
    Below,
    Between,
    Comparison,
    Condition,
    Inverse,
    Member,
    Some,
    postorder,
    references,
)
from conceptpubsub.model import Instant, SemanticEvent
from conceptpubsub.model.objects import as_object
from conceptpubsub.model.values import decimal_text, to_float

MAX_SHOWN = 20
_WORDS = {True: "true", False: "false", None: "unknown"}
_ORDER = {True: 2, None: 1, False: 0}
_JOINTS = (All, Some, Inverse)


@dataclass(frozen=True, slots=True)
class Seen:
    """One atom: its text, its value, and the values of its references."""

    text: str
    value: bool | None
    references: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict on an event, with the best binding's atoms; prints as an indented account."""

    filter: str
    semantics: str
    value: bool | None
    bindings: int
    atoms: tuple[Seen, ...]
    notes: tuple[str, ...]

    @property
    def matched(self) -> bool:
        """Whether the event matched."""
        return self.value is True

    def __str__(self) -> str:
        verdict = "matched" if self.matched else "not matched"
        lines = [f"{verdict} ({_WORDS[self.value]}, semantics {self.semantics}): {self.filter}"]
        for atom in self.atoms:
            lines.append(f"  {_WORDS[atom.value]:>7}  {atom.text}")
            lines += [f"           {ref}" for ref in atom.references]
            if atom.reason:
                lines.append(f"           {atom.reason}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def explain(tree: Condition, text: str, event: Any, scope: Scope) -> Explanation:
    """Evaluate step by step under the binding that decided the verdict."""
    seen = view(event)
    named = references(tree)
    count, best, value = 0, None, None
    for binding in bindings(named, seen, scope):
        count += 1
        try:
            found = evaluate_binding(tree, named, binding, seen, scope)
        except MissingAttribute:
            found = None
        if best is None or _ORDER[found] > _ORDER[value]:
            best, value = binding, found
    assert best is not None  # there is always one binding, if only of nothing to nothing
    evaluation = Evaluation(best, seen, scope)
    atoms = tuple([_atom(node, evaluation, event) for node in postorder(tree) if not isinstance(node, _JOINTS)])
    return Explanation(text, scope.semantics, value, count, atoms, tuple(_notes(named, best, count, seen, scope)))


def _atom(node: Any, evaluation: Evaluation, event: Any) -> Seen:
    value = evaluation.atom(node)
    named = references(node)
    parts = [_reference(ref, evaluation.binding.bound[ref.key], event, evaluation.scope) for ref in named]
    return Seen(show(node), value, tuple(parts), _reason(node, named, evaluation))


def _reason(node: Any, named: tuple[Ref, ...], evaluation: Evaluation) -> str:
    """Why an atom is unknown, or false where the semantics has no unknown."""
    if isinstance(node, Comparison):
        known = evaluation.compared(node.op, node.left, node.right)
    elif isinstance(node, Between):
        known = evaluation.compared(">=", node.term, node.low)
    elif isinstance(node, Member):
        known = evaluation.compared("=", node.term, node.items[0])
    else:
        known = evaluation.simple(node)
    if known is not None:
        return ""
    word = "counts as false" if evaluation.two_valued else "unknown"
    if any(evaluation.binding.bound[ref.key] is None for ref in named):
        return f"{word}: a reference is missing"
    if isinstance(node, Below):
        return f"{word}: the value is no concept of the ontology"
    return f"{word}: the values do not compare (another type or unit, no rate, or a division by zero)"


def _reference(ref: Ref, found: Found | None, event: Any, scope: Scope) -> str:
    if found is None:
        return f"{ref.shown} is missing"
    if found.path == DEFAULT:
        return f"{ref.shown} = {_value(found.value, ref, scope)} (its declared default)"
    name = ".".join(found.path)
    value, given = _value(found.value, ref, scope), _original(found.path, event)
    bound = "" if name == ref.shown else f" (bound to {name})"
    return f"{ref.shown} = {given} = {value}{bound}" if given and given != value else f"{ref.shown} = {value}{bound}"


def _original(path: tuple[str, ...], event: Any) -> str:
    """The value as the publisher gave it, where it came with a context of its own."""
    held: Any = event.attributes if isinstance(event, SemanticEvent) else event
    for key in path:
        held = held.get(key) if hasattr(held, "get") else None
        if held is None:
            return ""
        held = as_object(key, held)
        if key is not path[-1]:
            held = held.value
    context = [f"{aspect} {given}" if aspect not in ("unit", "currency") else str(given)
               for aspect, given in held.context.items()]  # fmt: skip
    return " ".join([str(held.value), *context]) if context else ""


def _value(value: Any, ref: Ref, scope: Scope) -> str:
    """A canonical value, in the unit of its concept where it has one."""
    if isinstance(value, Quantity):
        unit = ref.concept.canonical_unit if ref.concept is not None else None
        if unit is None:
            return f"{_number(value.value)} {value.dimension.base_unit}"
        return f"{_number(resolve(unit).from_base(value.value))} {unit}"
    if isinstance(value, Complex):
        return f"a {value.concept}"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        known = scope.ontology.find(value) if scope.ontology is not None and ref.type == "concept" else None
        return known.name if known is not None else quoted(value if len(value) <= 200 else value[:200] + "…")
    return str(value) if isinstance(value, Money | Instant) else _number(value)


def _number(value: Any) -> str:
    text = decimal_text(value)
    return text if len(text) <= 24 else f"{to_float(value):.12g}"


def _notes(named: tuple[Ref, ...], best: Binding, count: int, seen: View, scope: Scope) -> list[str]:
    """What else decided: missing names, what stood under a name but could not be used, other bindings."""
    notes = []
    missing = [ref.shown for ref in named if best.bound[ref.key] is None]
    if missing and scope.semantics in ("strict", "total"):
        what = "is unknown" if scope.semantics == "strict" else "is an error"
        notes.append(f"under '{scope.semantics}' an event that lacks {', '.join(missing[:MAX_SHOWN])} {what}")
    for ref in named:
        if best.bound[ref.key] is None or best.bound[ref.key].path == DEFAULT:  # type: ignore[union-attr]
            notes += _unusable(ref, seen, scope)
    if count > 1:
        notes.append(f"the names can be bound in {count} ways; this is the one that comes nearest to a match")
    return notes[:MAX_SHOWN]


def _unusable(ref: Ref, seen: View, scope: Scope) -> list[str]:
    notes = []
    for key, held in list(seen.attributes.items())[:1000]:
        concept = scope.ontology.find(key) if scope.ontology is not None else None
        fits = concept is not None and len(ref.steps) == 1 and concept.is_a(ref.steps[0])
        if held is not None and (fits or (not ref.steps and not ref.event and (key,) == ref.path)):
            made = as_object(key, held)
            problem = scope.converters.problem(concept, made.value, made.context, seen.time)
            notes.append(f"{key} counts as missing: {problem or 'it is not of the declared type'}")
    return notes
