"""A problem as a tree of named nodes and arrays, for run folders and fingerprints, and back.

Nothing is evaluated when a tree is read: names are looked up in tables, callables import themselves when called.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from phijax.formulation.callables import callable_from_tree, callable_to_tree
from phijax.formulation.conditions import Data, Free, On
from phijax.formulation.constraint import Column
from phijax.formulation.faults import DeclarationError
from phijax.formulation.reference import Reference
from phijax.geometry import REGIONS, Region
from phijax.symbolic import Coordinate, Field, Known, Normal, Observed, OverRegion, Parameter, Quadrature, Table, field
from phijax.symbolic.functions import known_class
from phijax.symbolic.nodes import CONSTANTS, NODES

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem

FORMAT = 1
_NAME_OF = {kind: name for name, kind in NODES.items()}
_CONSTANT_OF = {value: name for name, value in CONSTANTS.items()}


class StorageError(ValueError):
    """Something that cannot be written to, or read from, a problem's file."""


def to_json(problem: Problem) -> dict[str, Any]:
    """The whole problem, its name and reference included, as JSON-ready data."""
    write = TreeWriter()
    reference = problem.reference
    return {
        "format": FORMAT,
        "name": problem.name,
        **_mathematics(problem, write),
        "reference": None if reference is None else write.reference(reference),
    }


def fingerprint(problem: Problem) -> str:
    """SHA-256 of the domain and the constraints in order, in hexadecimal."""
    return fingerprint_of_tree(_mathematics(problem, TreeWriter()))


def fingerprint_of_tree(tree: Mapping[str, Any]) -> str:
    """The fingerprint of a problem that was written, from its tree alone. Raises StorageError for what is no such tree."""
    try:
        mathematics = {part: tree[part] for part in ("domain", "constraints")}
    except (KeyError, TypeError) as error:
        raise StorageError(f"it holds no problem: {type(error).__name__} {error}.") from error
    text = json.dumps(mathematics, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def from_json(tree: Mapping[str, Any]) -> Problem:
    """The problem that was written. Raises StorageError for a format or a node that is not known."""
    from phijax.formulation.problem import Problem

    if not isinstance(tree, Mapping):
        raise StorageError("the problem file is damaged: it holds no table.")
    if tree.get("format") != FORMAT:
        raise StorageError(f"problem file of format {tree.get('format')!r}; this version of phijax reads {FORMAT}.")
    try:
        read = TreeReader()
        pairs = [(item["name"], read.constraint(item)) for item in tree["constraints"]]
        reference = None if tree["reference"] is None else read.reference(tree["reference"])
        return Problem(read(tree["domain"]), pairs, name=tree["name"], reference=reference)
    except (StorageError, DeclarationError):
        raise
    except Exception as error:  # whatever the makers of nodes, regions and arrays say of what they are given
        raise StorageError(f"the problem file is damaged: {type(error).__name__} {error}.") from error


def _mathematics(problem: Problem, write: TreeWriter) -> dict[str, Any]:
    constraints = []
    for c in problem.constraints.values():
        constraints.append(
            {
                "name": c.name,
                "kind": c.kind,
                "exact": c.exact,
                "region": None if c.on_domain else write(c.region),
                "terms": [{"label": t.label, "written": write(t.written)} for t in c.terms],
                "columns": {name: write(column.values) for name, column in c.columns.items()},
            }
        )
    return {"domain": write(problem.domain), "constraints": constraints}


class TreeWriter:
    """Writes values, expressions and regions as trees. Bound symbols are numbered in order of appearance."""

    def __init__(self) -> None:
        self._dummies: dict[sympy.Symbol, int] = {}

    def __call__(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, Region):
            kind, parts = value.spec
            return {"region": kind, "parts": {name: self(part) for name, part in parts.items()}}
        if isinstance(value, sympy.Basic):
            return self._node(value)
        if isinstance(value, np.ndarray):
            data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
            return {"array": data, "dtype": str(value.dtype), "shape": list(value.shape)}
        if isinstance(value, int | np.integer):
            return {"int": int(value)}
        if isinstance(value, float | np.floating):
            return {"float": float(value).hex()}
        if isinstance(value, Mapping):
            return {"mapping": [[self(key), self(item)] for key, item in value.items()]}
        if isinstance(value, tuple | list):
            return {"tuple": [self(item) for item in value]}
        if isinstance(value, Table):
            return {"table": {name: self(axis) for name, axis in value.axes.items()}, "values": self(value.values)}
        if callable(value):
            return callable_to_tree(value)
        raise StorageError(f"{value!r} ({type(value).__name__}) cannot be stored.")

    def reference(self, reference: Reference) -> dict[str, Any]:
        """A reference's tree."""
        return {
            "values": {name: self(value) for name, value in reference.values.items()},
            "solver": self(reference.solver),
            "error": self(float(reference.error)),
            "source": reference.source,
        }

    def _node(self, node: sympy.Basic) -> dict[str, Any]:
        if node in _CONSTANT_OF:
            return {"constant": _CONSTANT_OF[node]}
        if isinstance(node, sympy.Integer):
            return {"integer": str(node)}
        if isinstance(node, sympy.Rational):
            return {"rational": [str(node.p), str(node.q)]}
        if isinstance(node, sympy.Float):
            # Mantissa and exponent, so that every digit comes back.
            return {"decimal": [str(part) for part in node._mpf_], "bits": int(node._prec)}
        if isinstance(node, sympy.Symbol):
            return self._symbol(node)
        if isinstance(node, Field):
            declared = {"coordinates": [self(c) for c in node.coordinates], "complex": node.func.is_complex_field}
            declared["on"] = self(node.func.on)
            return {"field": node.name, "declared": declared, "args": [self(arg) for arg in node.args]}
        if isinstance(node, Known):
            known = {"known": node.func.base_name, "source": self(node.func.source), "orders": list(node.func.orders)}
            if node.func.is_complex_valued:
                known["complex"] = True
            return {**known, "args": [self(arg) for arg in node.args]}
        if isinstance(node, Quadrature):
            return {"quadrature": [self(arg) for arg in node.args]}
        if isinstance(node, OverRegion):
            return {"over": self(node.region)}
        if type(node) in _NAME_OF:
            return {"node": _NAME_OF[type(node)], "args": [self(arg) for arg in node.args]}
        raise StorageError(f"{type(node).__name__} in {node} cannot be stored.")

    def _symbol(self, symbol: sympy.Symbol) -> dict[str, Any]:
        if isinstance(symbol, Coordinate):
            known = {"coordinate": symbol.name, "kind": symbol.role}
            return {**known, "chart": list(symbol.chart)} if symbol.chart else known
        if isinstance(symbol, Parameter):
            return {"parameter": [self(part) for part in symbol._arguments()]}
        if isinstance(symbol, Normal):
            return {"normal": self(symbol.coordinate)}
        if isinstance(symbol, Observed):
            return {"observed": symbol.column, "real": bool(symbol.is_real)}
        if isinstance(symbol, sympy.Dummy):
            return {"dummy": self._dummies.setdefault(symbol, len(self._dummies))}
        return {"symbol": symbol.name, "assumptions": {k: bool(v) for k, v in sorted(symbol._assumptions_orig.items())}}


class TreeReader:
    """The inverse of TreeWriter."""

    def __init__(self) -> None:
        self._dummies: dict[int, sympy.Dummy] = {}

    def __call__(self, tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        rule = _RULES.get(next(iter(tree), ""))  # the first key says what a node is
        if rule is None:
            raise StorageError(f"the problem file holds an unknown node with the keys {sorted(tree)}.")
        return rule(self, tree)

    def constraint(self, tree: Mapping[str, Any]) -> Any:
        """A constraint as a user would have written it."""
        region = None if tree["region"] is None else self(tree["region"])
        if tree["kind"] == "free":
            return Free(region)
        equations = {term["label"]: self(term["written"]) for term in tree["terms"]}
        columns = {name: self(array) for name, array in tree["columns"].items()}
        if tree["kind"] == "data":
            coordinates = {symbol.name: column for symbol, column in region.columns.items()}
            fields = tuple(equation.lhs for equation in equations.values())
            return Data({**coordinates, **columns}, fields)
        written: Any = equations[""] if list(equations) == [""] else equations
        return (
            written
            if region is None
            else On(region, written, tree["exact"], {n: Column(c) for n, c in columns.items()})
        )

    def reference(self, tree: Mapping[str, Any]) -> Reference:
        """A reference."""
        values = {name: self(value) for name, value in tree["values"].items()}
        return Reference(values, self(tree["solver"]), self(tree["error"]), tree["source"])

    def _region(self, tree: dict) -> Region:
        if tree["region"] not in REGIONS:
            raise StorageError(f"the problem file holds a region of unknown kind {tree['region']!r}.")
        return REGIONS[tree["region"]](**{name: self(part) for name, part in tree["parts"].items()})

    def _array(self, tree: dict) -> np.ndarray:
        return np.frombuffer(base64.b64decode(tree["array"]), tree["dtype"]).reshape(tree["shape"])

    def _decimal(self, tree: dict) -> sympy.Float:
        sign, mantissa, exponent, bits = map(int, tree["decimal"])
        return sympy.Float._new((sign, mantissa, exponent, bits), tree["bits"])

    def _symbol(self, tree: dict) -> sympy.Symbol:
        return sympy.Symbol(tree["symbol"], **tree["assumptions"])

    def _dummy(self, tree: dict) -> sympy.Dummy:
        return self._dummies.setdefault(tree["dummy"], sympy.Dummy(f"xi_{tree['dummy']}"))

    def _field(self, tree: dict) -> Field:
        declared = tree["declared"]
        symbols = [self(c) for c in declared["coordinates"]]
        made = field(tree["field"], *symbols, complex=declared["complex"], on=self(declared["on"]))
        return made.func(*(self(arg) for arg in tree["args"]))

    def _known(self, tree: dict) -> sympy.Expr:
        made = known_class(tree["known"], self(tree["source"]), tuple(tree["orders"]), tree.get("complex", False))
        return made(*(self(arg) for arg in tree["args"]))

    def _node(self, tree: dict) -> sympy.Basic:
        if tree["node"] not in NODES:
            raise StorageError(f"the problem file holds the unknown node {tree['node']!r}.")
        kind = NODES[tree["node"]]
        args = [self(arg) for arg in tree["args"]]
        return kind(*args, evaluate=False) if issubclass(kind, sympy.Rel | sympy.Derivative) else kind(*args)


_RULES: dict[str, Callable[[TreeReader, dict], Any]] = {
    "region": TreeReader._region,
    "array": TreeReader._array,
    "int": lambda self, tree: int(tree["int"]),
    "float": lambda self, tree: float.fromhex(tree["float"]),
    "decimal": TreeReader._decimal,
    "mapping": lambda self, tree: {self(key): self(item) for key, item in tree["mapping"]},
    "tuple": lambda self, tree: tuple(self(item) for item in tree["tuple"]),
    "table": lambda self, tree: Table({n: self(a) for n, a in tree["table"].items()}, self(tree["values"])),
    "callable": lambda self, tree: callable_from_tree(tree),
    "constant": lambda self, tree: CONSTANTS[tree["constant"]],
    "integer": lambda self, tree: sympy.Integer(tree["integer"]),
    "rational": lambda self, tree: sympy.Rational(*map(int, tree["rational"])),
    "coordinate": lambda self, tree: Coordinate(
        tree["coordinate"], tree["kind"], tuple(tree["chart"]) if "chart" in tree else None
    ),
    "parameter": lambda self, tree: Parameter(*(self(part) for part in tree["parameter"])),
    "normal": lambda self, tree: Normal(self(tree["normal"])),
    "observed": lambda self, tree: Observed(tree["observed"], tree["real"]),
    "dummy": TreeReader._dummy,
    "symbol": TreeReader._symbol,
    "field": TreeReader._field,
    "known": TreeReader._known,
    "quadrature": lambda self, tree: Quadrature(*(self(part) for part in tree["quadrature"])),
    "over": lambda self, tree: OverRegion(self(tree["over"])),
    "node": TreeReader._node,
}
