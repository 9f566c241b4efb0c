"""Second pass: sums of derivatives that can travel through a network as a whole, a Laplacian among them, are found."""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from phijax.lowering.normalize import Combined, jet_of
from phijax.series import Channel, Channels, Combination, Orders
from phijax.symbolic import Field

Place = tuple[str, tuple[sympy.Expr, ...]]  # a group of fields, and the arguments at which they are taken
Requests = dict[Place, set[Channel]]


def combine(
    expressions: Mapping[str, sympy.Expr], group_of: Mapping[str, str]
) -> tuple[dict[str, sympy.Expr], Requests]:
    """Equal expressions, and every derivative that they need by group and place, with the fewest channels.

    expressions: normalized, by label. Derivatives of one field and order that are added up with one factor become a
    node of their own, where that saves channels at their place.
    """
    plain = _requests(expressions, group_of)
    proposed = {label: _proposal(expression) for label, expression in expressions.items()}
    saving = {place for place, wanted in _requests(proposed, group_of).items() if _count(wanted) < _count(plain[place])}
    chosen = {label: _kept(expression, saving, group_of) for label, expression in proposed.items()}
    return chosen, _requests(chosen, group_of)


def _requests(expressions: Mapping[str, sympy.Basic], group_of: Mapping[str, str]) -> Requests:
    found: Requests = {}

    def collect(node: sympy.Basic) -> None:
        jet = jet_of(node)
        if jet is not None:
            found.setdefault((group_of[jet.name], jet.args), set()).add(jet.channel)
        for arg in node.args if jet is None else jet.args:  # a field may be taken at the value of another
            collect(arg)

    for expression in expressions.values():
        collect(expression)
    return found


def _count(wanted: set[Channel]) -> int:
    return len(Channels.of(wanted))


def _proposal(node: sympy.Basic) -> sympy.Basic:
    """The expression with every sum of derivatives that could travel as a whole as one node."""
    if jet_of(node) is not None or not node.args:
        return node
    node = _rebuilt(node, [_proposal(arg) for arg in node.args])
    if not isinstance(node, sympy.Add):
        return node
    buckets: dict[tuple, dict[Orders, sympy.Expr]] = {}
    terms: dict[tuple, list[sympy.Expr]] = {}
    others = []
    for term in node.args:
        split = _split(term)
        if split is None:
            others.append(term)
            continue
        key, orders, weight = split
        members = buckets.setdefault(key, {})
        members[orders] = members.get(orders, 0) + weight
        terms.setdefault(key, []).append(term)
    for key, members in buckets.items():
        others += [_combined(*key, members)] if len(members) > 1 else terms[key]
    return sympy.Add(*others)


def _split(term: sympy.Expr) -> tuple[tuple, Orders, float] | None:
    """((field application, order, factor), orders, weight) of weight x factor x derivative of order two or more."""
    number, rest = term.as_coeff_Mul()
    factors = sympy.Mul.make_args(rest)
    jets = [factor for factor in factors if _order(factor) > 1]
    if len(jets) != 1 or not number.is_real or not number.is_finite:
        return None
    jet = jet_of(jets[0])
    assert jet is not None
    assert isinstance(jet.channel, tuple)
    factor = sympy.Mul(*(f for f in factors if f is not jets[0]))
    return (jet.field(*jet.args), sum(jet.channel), factor), jet.channel, number


def _order(factor: sympy.Expr) -> int:
    jet = jet_of(factor)
    return sum(jet.channel) if jet is not None and isinstance(jet.channel, tuple) else 0


def _combined(field: Field, order: int, factor: sympy.Expr, members: Mapping[Orders, sympy.Expr]) -> sympy.Expr:
    """factor x the sum of the members as one node, in which the first has the weight one."""
    ordered = sorted(members.items(), reverse=True)
    scale = ordered[0][1]
    terms = [sympy.Tuple(sympy.Tuple(*orders), weight / scale) for orders, weight in ordered]
    return scale * factor * Combined(field, *terms)


def _kept(node: sympy.Basic, saving: set[Place], group_of: Mapping[str, str]) -> sympy.Basic:
    """The expression with the combinations at the places that save channels by them; others are written out."""
    if isinstance(node, Combined):
        jet = node.jet
        if (group_of[jet.name], jet.args) in saving:
            return node
        assert isinstance(jet.channel, Combination)
        return sympy.Add(*(weight * _derivative(node.args[0], orders) for orders, weight in node.args[1:]))
    if jet_of(node) is not None or not node.args:
        return node
    return _rebuilt(node, [_kept(arg, saving, group_of) for arg in node.args])


def _derivative(field: Field, orders: Orders) -> sympy.Expr:
    """The derivative of a field application, also where it is taken at other arguments than symbols."""
    plain = len(set(field.args)) == len(field.args) and all(isinstance(arg, sympy.Symbol) for arg in field.args)
    symbols = field.args if plain else tuple(sympy.Dummy(f"a{i}", real=True) for i in range(len(field.args)))
    counts = [(symbol, int(order)) for symbol, order in zip(symbols, orders, strict=True) if order]
    result = sympy.Derivative(field.func(*symbols), *counts, evaluate=False)
    return result if plain else sympy.Subs(result, symbols, field.args)


def _rebuilt(node: sympy.Basic, args: list[sympy.Basic]) -> sympy.Basic:
    return node if args == list(node.args) else node.func(*args)
