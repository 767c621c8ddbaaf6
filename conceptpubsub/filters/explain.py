"""Why a filter matched an event or not: atom by atom, with the values as they were seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conceptpubsub.converters import Money, Quantity
from conceptpubsub.errors import ConceptPubSubError
from conceptpubsub.filters.evaluate import Evaluation, bindings, evaluate_binding
from conceptpubsub.filters.events import Complex, View, candidates, view
from conceptpubsub.filters.normal import Ref
from conceptpubsub.filters.printer import show
from conceptpubsub.filters.scope import Scope
from conceptpubsub.filters.spelling import quoted
from conceptpubsub.filters.syntax import All, Below, Condition, Inverse, Null, Some, references
from conceptpubsub.model import Instant, SemanticEvent
from conceptpubsub.model.objects import as_object
from conceptpubsub.model.values import decimal_text

MAX_SHOWN = 20
_WORDS = {True: "true", False: "false", None: "unknown"}


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
    order = {True: 2, None: 1, False: 0}
    count, best, best_value = 0, None, False
    for binding in bindings(named, seen, scope):
        count += 1
        try:
            value = evaluate_binding(tree, named, binding, seen, scope)
        except ConceptPubSubError:
            value = None
        if best is None or order[value] > order[best_value]:
            best, best_value = binding, value  # type: ignore[assignment]
    assert best is not None
    evaluation = Evaluation(best, seen, scope)
    atoms = tuple(_atom(node, evaluation, event) for node in _atoms(tree))
    return Explanation(text, scope.semantics, best_value, count, atoms, tuple(_notes(named, seen, scope)))


def _atoms(tree: Condition) -> list[Any]:
    found, stack = [], [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, All | Some):
            stack.extend(reversed(node.args))
        elif isinstance(node, Inverse):
            stack.append(node.arg)
        else:
            found.append(node)
    return found


def _atom(node: Any, evaluation: Evaluation, event: Any) -> Seen:
    value = evaluation.condition(node)
    parts, reason = [], ""
    for ref in references(node):
        found = evaluation.binding.bound[ref.key]
        if found is None:
            parts.append(f"{ref.shown} is missing")
            reason = "" if isinstance(node, Null) else "unknown because a reference is missing"
        else:
            name = ".".join(found.path)
            shown = "" if name == ref.shown else f" (bound to {name})"
            parts.append(f"{ref.shown} = {_original(found.path, event)}{_value(found.value)}{shown}")
    if value is None and not reason and not isinstance(node, Null):
        reason = _why_unknown(node)
    return Seen(show(node), value, tuple(parts), reason)


def _why_unknown(node: Any) -> str:
    if isinstance(node, Below):
        return "unknown because the value is no concept of the ontology"
    return "unknown because the values do not compare: another type or unit, no rate, or a division by zero"


def _original(path: tuple[str, ...], event: Any) -> str:
    """The value as the publisher gave it, where it differs from the canonical one."""
    held: Any = event.attributes if isinstance(event, SemanticEvent) else event
    for key in path:
        held = held.get(key) if hasattr(held, "get") else None
        if held is None:
            return ""
        held = as_object(key, held)
        if key is not path[-1]:
            held = held.value
    context = " ".join(str(v) for v in held.context.values()) if hasattr(held, "context") else ""
    return f"{held.value} {context} = " if context else ""


def _value(value: Any) -> str:
    if isinstance(value, Quantity):
        return f"{_number(value.value)} {value.dimension.base_unit}"
    if isinstance(value, Money):
        return f"{_number(value.value)} {value.currency}"
    if isinstance(value, Complex):
        return f"a {value.concept}"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return quoted(value if len(value) <= 200 else value[:200] + "…")
    return value.isoformat() if isinstance(value, Instant) else _number(value)


def _number(value: Any) -> str:
    text = decimal_text(value)
    return text if len(text) <= 24 else f"{float(value):.12g}"


def _notes(named: tuple[Ref, ...], seen: View, scope: Scope) -> list[str]:
    """What stood under a reference's name but could not be used."""
    notes = []
    for ref in named:
        if ref.event or any(True for _ in candidates(ref, seen, scope)):
            continue
        for key, held in list(seen.attributes.items())[:1000]:
            concept = scope.ontology.find(key) if scope.ontology is not None else None
            fits = concept is not None and len(ref.steps) == 1 and concept.is_a(ref.steps[0])
            if held is not None and (fits or (scope.ontology is None and key == ref.path[0])):
                made = as_object(key, held)
                problem = scope.converters.problem(concept, made.value, made.context, seen.time)
                notes.append(f"{key} counts as missing: {problem or 'it is not of the declared type'}")
    return notes[:MAX_SHOWN]
