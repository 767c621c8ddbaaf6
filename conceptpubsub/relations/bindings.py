"""Filters as terms over a key space: the union over the bindings, in which references are concrete attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from conceptpubsub.filters.normal import Atom
from conceptpubsub.relations import domains
from conceptpubsub.relations.atoms import reference
from conceptpubsub.relations.compiled import Compiled, literal_domain, unbound_truth
from conceptpubsub.relations.domains import ABSENT
from conceptpubsub.relations.keyspace import Key, KeySpace, as_object
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.slots import Signature
from conceptpubsub.relations.terms import Term, Terms, joined, limited, surely_empty, terms_of

MOST_BINDINGS = 512
MOST_ATOMS = 20_000
Binding = Mapping[str, Key | None]


def bound_terms(of: Compiled, space: KeySpace, present: Signature | None) -> Terms:
    """The terms of a filter over a key space; references of ``present`` must be bound, too."""
    cached = of.bound.get((space, present))
    if cached is None:
        cached = _bound_terms(of, space, present)
        if len(of.bound) >= 64:
            of.bound.clear()
        of.bound[space, present] = cached
    return cached


def bindings(of: Compiled, space: KeySpace, present: Signature | None) -> Iterator[Binding]:
    """Every way to bind the references that share attributes; an unbound one leaves all of its attributes out."""
    most = min(MOST_BINDINGS, MOST_ATOMS // max(1, of.size))
    extra = present.slots if present is not None else {}
    named = [key for key in {**of.signature.slots, **extra} if key in space.keys]
    choices: list[tuple[Key | None, ...]] = []
    size = 1
    for name in named:
        choice: tuple[Key | None, ...] = space.keys[name] if name in extra else (*space.keys[name], None)
        size *= len(choice)
        if size > most:
            raise GaveUp("too many bindings")
        choices.append(choice)
    for chosen in product(*choices):
        held = {key.name for key in chosen if key is not None}
        absent = [key.name for name, key in zip(named, chosen, strict=True) if key is None for key in space.keys[name]]
        if held.isdisjoint(absent):
            yield dict(zip(named, chosen, strict=True))


def _bound_terms(of: Compiled, space: KeySpace, present: Signature | None) -> Terms:
    if of.strict:
        present = of.signature if present is None else present
    made: Terms = []
    for binding in bindings(of, space, present):
        found = _terms(of, space, binding)
        frame = _frame(space, binding, present)
        if frame is not None:
            made += [term for one in found if (term := _framed(one, frame)) is not None]
        if len(made) > 4 * MOST_BINDINGS:
            raise GaveUp("too many alternatives")
    return limited(joined(made))


def _terms(of: Compiled, space: KeySpace, binding: Binding) -> Terms:
    slots, scope = of.signature.slots, of.filter.scope
    two_valued = scope.semantics == "default"

    def literal(atom: Atom, positive: bool) -> Terms:
        slot = slots[reference(atom).key]
        default = scope.defaults.get(slot.key)
        if slot.key in space.open:
            domain = literal_domain(atom, positive, slot, slot.kind, two_valued, default)
            return [] if surely_empty(domain) else [{slot.key: domain}]
        key = binding[slot.key]
        if key is None:
            return [{}] if unbound_truth(atom, positive, slot, two_valued, default) else []
        domain = domains.without_missing(literal_domain(atom, positive, slot, key.kind, two_valued, default))
        return [] if surely_empty(domain) else [{key.name: domain}]

    return terms_of(of.filter.normal, literal)


def _frame(space: KeySpace, binding: Binding, present: Signature | None) -> Term | None:
    """What a binding itself says: which attributes are there, which are not; None where that cannot be."""
    frame: Term = {}
    for name, key in binding.items():
        if key is None:
            frame.update((absent.name, ABSENT) for absent in space.keys[name])
        else:
            frame[key.name] = domains.without_missing(key.kind.universe)
    for key in binding.values():
        for parent in space.inner.get(key.name, ()) if key is not None else ():
            shape = as_object(space.all[parent].kind)
            met = domains.meet(frame[parent], shape) if parent in frame else shape
            if domains.is_empty(met):
                return None
            frame[parent] = met
    for name in present.slots if present is not None else ():
        if name in space.open:
            frame[name] = space.open[name].present
    return frame


def _framed(term: Term, frame: Term) -> Term | None:
    made = dict(frame)
    for name, domain in term.items():
        held = frame.get(name)
        made[name] = domain if held is None else domains.meet(domain, held)
        if surely_empty(made[name]):
            return None
    return made
