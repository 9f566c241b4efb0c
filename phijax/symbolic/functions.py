"""Known functions: material laws, measured inflows and the like, as symbols that can be differentiated."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy
from sympy.core.function import AppliedUndef, UndefinedFunction

from phijax._read_only import ReadOnly
from phijax.symbolic.coordinates import check_name
from phijax.symbolic.observed import Observed
from phijax.symbolic.values import as_expression, first_masked


class Known(AppliedUndef):
    """A numeric function applied to symbolic arguments.

    On the class: `source`, a callable or a Table; `orders`, how often it is differentiated by each argument;
    `is_complex_valued`.
    """

    source: Any = None
    is_complex_valued: bool = False
    orders: tuple[int, ...] = ()
    base_name: str = ""

    def __reduce__(self) -> tuple:
        func = self.func  # a class that no module holds: another process makes it anew
        return _applied, (func.base_name, func.source, func.orders, func.is_complex_valued, self.args)

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Derivative by one argument: again a known function, of one order more."""
        orders = list(self.orders or (0,) * len(self.args))
        orders[argindex - 1] += 1
        # Of the class: an instance would bind a Python function as its method.
        return known_class(self.base_name, self.func.source, tuple(orders), self.is_complex_valued)(*self.args)

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
        for name, column in {**axes, "values": values}.items():
            if (row := first_masked(column)) is not None:
                raise ValueError(f"table column {name!r} is masked in row {row}; leave out the rows without a value.")
        self.axes = ReadOnly({name: np.array(axis, dtype=float) for name, axis in axes.items()})
        if np.iscomplexobj(values):
            raise ValueError("table values are complex; make one table of their real and one of their imaginary part.")
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
        for column in (*self.axes.values(), self.values):
            column.setflags(write=False)

    def __reduce__(self) -> tuple:
        return Table, (self.axes, self.values)  # NumPy forgets that an array cannot be written to

    def _key(self) -> tuple:
        return (tuple((n, a.tobytes()) for n, a in self.axes.items()), self.values.tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class KnownFunction:
    """A numeric function as a symbol: call it on symbolic arguments, then differentiate as any other expression."""

    def __init__(self, name: str, source: Callable | Table, complex: bool | None = None):
        self.name, self.source = check_name(name, "function"), source
        self._complex = complex

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
        expressions = [as_expression(arg) for arg in args]
        is_complex = _gives_complex(self.source, expressions) if self._complex is None else self._complex
        return known_class(self.name, self.source, (0,) * len(args), is_complex)(*expressions)

    def __repr__(self) -> str:
        return f"phi.function({self.name!r})"


def _gives_complex(source: Any, arguments: Sequence[sympy.Basic]) -> bool:
    """Whether a callable's value at one point is complex; False where that cannot be said, which lowering tells."""
    if isinstance(source, Table):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.iscomplexobj(source(*(np.full(1, 0.5 + 0.5j if _may_be_complex(a) else 0.5) for a in arguments)))
    except Exception:  # a user's function may raise anything
        return False


def _may_be_complex(argument: sympy.Basic) -> bool:
    parts = argument.atoms(AppliedUndef, sympy.I.func, Observed)
    return not argument.is_extended_real and any(part.is_extended_real is not True for part in parts)


def known_class(name: str, source: Any, orders: tuple[int, ...], is_complex_valued: bool = False) -> UndefinedFunction:
    """The sympy function of a source, differentiated `orders` times by each argument."""
    shown = name + "".join(f"_{i + 1}" * k for i, k in enumerate(orders))
    attributes = {"source": source, "orders": orders, "base_name": name, "is_complex_valued": is_complex_valued}
    assumption = {"complex": True} if is_complex_valued else {"real": True}
    known = UndefinedFunction(shown, bases=(Known,), __dict__=dict(attributes), **assumption)
    known._kwargs = {**known._kwargs, **attributes}  # two functions of one name and different sources stay two
    return known


def _applied(name: str, source: Any, orders: tuple[int, ...], is_complex_valued: bool, args: tuple) -> sympy.Expr:
    return known_class(name, source, orders, is_complex_valued)(*args)


def function(name: str, source: Callable | Mapping[str, Any] | Any, *, complex: bool | None = None) -> KnownFunction:
    """A numeric function as a symbol, of coordinates or of fields: `k = function("k", table); k(T)`.

    source: a callable of arrays (JAX's functions, or NumPy's); or a table, as a mapping whose columns are the
    arguments and, last or under `name`, the values (a DataFrame is one), or an (n, 2) array.
    complex: whether a callable's values are; None asks it for one.
    Raises ValueError where the table's columns do not fit each other.
    """
    if complex not in (None, True, False):
        raise ValueError(f"function {name!r}: complex={complex!r} must be True, False, or None to ask the function.")
    if isinstance(source, Table) or (callable(source) and not hasattr(source, "columns")):
        return KnownFunction(name, source, complex)
    if isinstance(source, Mapping) or hasattr(source, "columns"):
        columns = {
            str(key): np.asanyarray(source[key]) for key in (source if isinstance(source, Mapping) else source.columns)
        }
        if len(columns) < 2:
            raise ValueError(
                f"function {name!r}: a table needs a column of arguments and one of values, got {list(columns)}."
            )
        value_name = name if name in columns else list(columns)[-1]
        values = columns.pop(value_name)
        return KnownFunction(name, Table(columns, values))
    array = np.asanyarray(source)
    if array.ndim == 2 and 2 in array.shape:
        arguments, values = array.T if array.shape[1] == 2 else array
        return KnownFunction(name, Table({"x": arguments}, values))
    raise ValueError(
        f"function {name!r}: expected a callable, a table of columns or an (n, 2) array, got shape {array.shape}."
    )
