"""The equal ``sql`` filter of a filter: what merging across semantics is made of.

``strict`` becomes its text with definedness beside it. ``default`` is spelled anew from its normal form: a negated atom
holds where the atom is false or unknown, and unknown is said by IS NULL and by the other types. A comparison between
attributes is unknown, besides, where a divisor is zero.
"""

from __future__ import annotations

from typing import Any

from conceptpubsub.errors import FilterError, IncompatibleFilters
from conceptpubsub.filters import Filter
from conceptpubsub.filters.filter import or_true
from conceptpubsub.filters.normal import (
    And,
    Atom,
    Compare,
    Lit,
    Neg,
    Normal,
    Not,
    OneOf,
    Or,
    Product,
    Recip,
    Ref,
    Sum,
    Term,
    Truth,
    atom_refs,
)
from conceptpubsub.filters.spelling import constant_text
from conceptpubsub.relations.atoms import reference
from conceptpubsub.relations.compiled import Compiled, compiled, literal_domain
from conceptpubsub.relations.outcome import GaveUp
from conceptpubsub.relations.wording import Unsayable, domain_text


def sql_form(f: Filter) -> Filter:
    """The equal filter under ``sql``.

    >>> str(sql_form(Filter.parse("x > 5 OR y > 5", semantics="strict")))
    'x IS NOT NULL AND y IS NOT NULL AND (x > 5 OR y > 5)'
    >>> str(sql_form(Filter.parse("x <> 5", semantics="default", types={"x": "int"})))
    'x <> 5 OR x IS NULL'
    """
    if f.semantics == "sql":
        return f
    if f.semantics == "strict":
        defined = [f"{ref.shown} IS NOT NULL" for ref in f.references]
        return in_sql(f, " AND ".join([*defined, f"({or_true(str(f))})"] if defined else [or_true(str(f))]))
    try:
        return in_sql(f, _Spelling(compiled(f)).normal(f.normal))
    except (GaveUp, Unsayable, FilterError):
        raise IncompatibleFilters(
            f"no 'sql' filter equal to this one of '{f.semantics}' semantics can be spelled; declare the types of its "
            "attributes, or bind() both filters to one semantics first"
        ) from None


def in_sql(f: Filter, text: str) -> Filter:
    """A text read in a filter's scope, but under ``sql``."""
    types = {name: {"number": "real"}.get(kind, kind) for name, kind in f.scope.types.items()}
    return Filter.parse(text, ontology=f.ontology, converters=f.converters, semantics="sql", types=types or None)


class _Spelling:
    """One filter of ``default`` semantics."""

    def __init__(self, of: Compiled) -> None:
        self.of = of
        self.slots = of.signature.slots
        self.defaults = of.filter.scope.defaults

    def normal(self, node: Normal) -> str:
        if isinstance(node, And):
            return " AND ".join(f"({self.normal(arg)})" for arg in node.args)
        if isinstance(node, Or):
            return " OR ".join(f"({self.normal(arg)})" for arg in node.args)
        if isinstance(node, Truth):
            return "TRUE" if node.value else "FALSE"
        atom, positive = (node.atom, False) if isinstance(node, Not) else (node, True)
        try:
            slot = self.slots[reference(atom).key]
        except GaveUp:
            return self.between_attributes(atom, positive)
        default = self.defaults.get(slot.key)
        domain = literal_domain(atom, positive, slot, slot.kind, True, default)
        return domain_text(domain, slot, "sql", self.of.currency)

    def between_attributes(self, atom: Atom, positive: bool) -> str:
        """A comparison of terms. Its own text is true where it is; its negation is also true where it is unknown."""
        refs = list({ref.key: ref for ref in atom_refs(atom)}.values())
        if any(ref.key in self.defaults for ref in refs) or not isinstance(atom, Compare | OneOf):
            raise Unsayable
        text = _comparison(atom)
        if positive:
            return text
        unknown = [f"{ref.shown} IS NULL" for ref in refs]
        if any(ref.dimension is None and ref.type not in ("number", "int") for ref in refs):
            raise Unsayable
        terms = (atom.left, atom.right) if isinstance(atom, Compare) else (atom.term,)
        unknown += [f"{_term(divisor)} = {_zero(divisor)}" for term in terms for divisor in _divisors(term)]
        return " OR ".join([f"NOT ({text})", *unknown])


def _comparison(atom: Compare | OneOf) -> str:
    if isinstance(atom, OneOf):
        return f"{_term(atom.term)} IN ({', '.join(_constant(lit) for lit in atom.values)})"
    return f"{_term(atom.left)} {atom.op} {_term(atom.right)}"


def _term(term: Term) -> str:
    if isinstance(term, Ref):
        return term.shown
    if isinstance(term, Lit):
        return _constant(term)
    if isinstance(term, Neg):
        return f"(-{_term(term.arg)})"
    if isinstance(term, Recip):
        return f"(1 / {_term(term.arg)})"
    parts = [_term(arg.arg if isinstance(term, Sum) and isinstance(arg, Neg) else arg) for arg in term.args]
    if isinstance(term, Product):
        return "(" + " * ".join(parts) + ")"
    signs = ["-" if isinstance(arg, Neg) else "+" for arg in term.args]
    first = max(range(len(parts)), key=lambda i: signs[i] == "+")
    order = [first, *(i for i in range(len(parts)) if i != first)]
    text = parts[first] if signs[first] == "+" else f"-{parts[first]}"
    return "(" + text + "".join(f" {signs[i]} {parts[i]}" for i in order[1:]) + ")"


def _constant(lit: Lit) -> str:
    if lit.kind == "quantity":
        return constant_text(lit.value, {"unit": lit.of.base_unit, "scale": 1})  # type: ignore[union-attr]
    if lit.kind == "money":
        code, _, price = str(lit.of).removeprefix("1/").partition("*")
        unit = {"unit": price[1:-1]} if price else {}
        if str(lit.of).startswith("1/"):
            return f"({constant_text(lit.value)} / {constant_text(1, {'currency': code, **unit})})"
        return constant_text(lit.value, {"currency": code, **unit, "scale": 1})
    return constant_text(lit.value)


def _divisors(term: Term) -> list[Term]:
    """What a term divides by."""
    found: list[Term] = []
    stack: list[Any] = [term]
    while stack:
        top = stack.pop()
        if isinstance(top, Recip):
            found.append(top.arg)
        stack.extend(top.args if isinstance(top, Sum | Product) else [top.arg] if isinstance(top, Neg | Recip) else [])
    return found


def _zero(term: Term) -> str:
    if not isinstance(term, Ref):
        raise Unsayable
    return "0" if term.dimension is None else f"0 [{term.dimension.base_unit}] {{scale: 1}}"
