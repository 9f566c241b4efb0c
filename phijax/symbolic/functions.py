"""Known functions: material laws, measured inflows and the like, as symbols that can be differentiated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy
from sympy.core.function import AppliedUndef, UndefinedFunction

from phijax.symbolic.coordinates import check_name
from phijax.symbolic.values import as_expression


class Known(AppliedUndef):
    """A numeric function applied to symbolic arguments.

    On the class: `source`, a callable or a Table; `orders`, how often it is differentiated by each argument.
    """

    source: Any = None
    orders: tuple[int, ...] = ()
    base_name: str = ""

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Derivative by one argument: again a known function, of one order more."""
        orders = list(self.orders or (0,) * len(self.args))
        orders[argindex - 1] += 1
        # Of the class: an instance would bind a Python function as its method.
        return known_class(self.base_name, self.func.source, tuple(orders))(*self.args)

    def _eval_derivative(self, s: sympy.Symbol) -> sympy.Expr:
        # Not sympy's own rule, which would leave Subs(Derivative(...)) of an undefined function behind.
        terms = (self.fdiff(i + 1) * arg.diff(s) for i, arg in enumerate(self.args) if arg.has(s) or arg.diff(s) != 0)
        return sum(terms, sympy.Integer(0))


class Table:
    """Samples of a function: `axes`, increasing arrays by argument, and `values` over their grid.

    Equal to another of the same numbers. One argument is interpolated by a shape-preserving cubic (Fritsch & Carlson
    1980), several linearly; outside the table the end values go on.
    """

    def __init__(self, axes: Mapping[str, Any], values: Any):
        self.axes = {name: np.array(axis, dtype=float) for name, axis in axes.items()}
        self.values = np.array(values, dtype=float)
        for name, axis in self.axes.items():
            if axis.ndim != 1 or len(axis) < 2 or not np.all(np.diff(axis) > 0):
                raise ValueError(f"table column {name!r} must be a strictly increasing vector of at least two numbers.")
        shape = tuple(len(axis) for axis in self.axes.values())
        if self.values.shape != shape:
            raise ValueError(
                f"table values have shape {self.values.shape}, but the axes {list(self.axes)} span {shape}."
            )
        if not np.all(np.isfinite(self.values)):
            raise ValueError("table values hold a number that is not finite.")

    def _key(self) -> tuple:
        return (tuple((n, a.tobytes()) for n, a in self.axes.items()), self.values.tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class KnownFunction:
    """A numeric function as a symbol: call it on symbolic arguments, then differentiate as any other expression."""

    def __init__(self, name: str, source: Callable | Table):
        self.name, self.source = check_name(name, "function"), source

    def __call__(self, *args: Any) -> sympy.Expr:
        """The function of symbolic arguments.

        Raises ValueError where a table has another number of arguments.
        """
        if not args:
            raise ValueError(f"function {self.name!r} is called without an argument; write {self.name}(x).")
        if isinstance(self.source, Table) and len(args) != len(self.source.axes):
            axes = ", ".join(self.source.axes)
            raise ValueError(
                f"function {self.name!r} is a table over ({axes}); it is called with {len(args)} arguments."
            )
        return known_class(self.name, self.source, (0,) * len(args))(*map(as_expression, args))

    def __repr__(self) -> str:
        return f"phi.function({self.name!r})"


def known_class(name: str, source: Any, orders: tuple[int, ...]) -> UndefinedFunction:
    """The sympy function of a source, differentiated `orders` times by each argument."""
    shown = name + "".join(f"_{i + 1}" * k for i, k in enumerate(orders))
    attributes = {"source": source, "orders": orders, "base_name": name}
    known = UndefinedFunction(shown, bases=(Known,), __dict__=dict(attributes), real=True)
    known._kwargs = {**known._kwargs, **attributes}  # two functions of one name and different sources stay two
    return known


def function(name: str, source: Callable | Mapping[str, Any] | Any) -> KnownFunction:
    """A numeric function as a symbol, of coordinates or of fields: `k = function("k", table); k(T)`.

    source: a callable of arrays (JAX's functions, or NumPy's); or a table, as a mapping whose columns are the
    arguments and, last or under `name`, the values (a DataFrame is one), or an (n, 2) array.
    Raises ValueError where the table's columns do not fit each other.
    """
    if isinstance(source, Table) or (callable(source) and not hasattr(source, "columns")):
        return KnownFunction(name, source)
    if isinstance(source, Mapping) or hasattr(source, "columns"):
        columns = {
            str(key): np.asarray(source[key]) for key in (source if isinstance(source, Mapping) else source.columns)
        }
        if len(columns) < 2:
            raise ValueError(
                f"function {name!r}: a table needs a column of arguments and one of values, got {list(columns)}."
            )
        value_name = name if name in columns else list(columns)[-1]
        values = columns.pop(value_name)
        return KnownFunction(name, Table(columns, values))
    array = np.asarray(source)
    if array.ndim == 2 and 2 in array.shape:
        arguments, values = array.T if array.shape[1] == 2 else array
        return KnownFunction(name, Table({"x": arguments}, values))
    raise ValueError(
        f"function {name!r}: expected a callable, a table of columns or an (n, 2) array, got shape {array.shape}."
    )
