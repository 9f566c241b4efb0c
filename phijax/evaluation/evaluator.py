"""Evaluator: expressions of a trained problem's fields at given coordinates, NumPy in and NumPy out."""

from __future__ import annotations

import copy
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from phijax._devices import ONE_DEVICE, Devices
from phijax._precision import precision_scope
from phijax.evaluation.chunks import ChunkedFunction
from phijax.formulation import Problem
from phijax.formulation.faults import nearest
from phijax.lowering import Expressions
from phijax.lowering.normalize import normalize
from phijax.sampling.points import Points
from phijax.symbolic import Normal, Parameter, as_expression, fields_in, first_masked

_KEPT = 32  # compiled sets of expressions
_SLACK = 1e-6  # of a coordinate's range, for the roundings of linspace and float32


class OutsideDomainWarning(UserWarning):
    """Values were asked for where nothing was trained."""


class Evaluator:
    """Values of expressions of the fields, for one layout and one trained model, or a statistic of several.

    The precision is that of the model, entered at every call. A set of expressions is compiled once.
    spread: of the same, where the values are means over several models. devices: of this process, among which points are
    shared out.
    """

    def __init__(self, layout: Any, model: Any, precision: str, devices: Devices = ONE_DEVICE):
        self.layout, self.model, self.precision, self.devices = layout, model, precision, devices
        self.spread: Evaluator | None = None
        self._models: tuple[Any, ...] = (model,)
        self._reduced: Callable[[Any], np.ndarray] = _first
        self._kept: OrderedDict[Any, Any] = OrderedDict()

    def beside(self, model: Any) -> Evaluator:
        """For another model of the same layout, on the same compiled functions."""
        other = copy.copy(self)
        other.model, other._models = model, (model,)
        return other

    def over(
        self, models: Sequence[Any], reduced: Callable[[Any], np.ndarray], spread: Evaluator | None = None
    ) -> Evaluator:
        """For several models: their values, (n,) each in a list, as `reduced` to (n,)."""
        other = copy.copy(self)
        other._models, other._reduced, other.spread = tuple(models), reduced, spread
        return other

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is compiled once for all models of the layout."""
        if key not in self._kept:
            self._kept[key] = make()
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    @property
    def problem(self) -> Problem:
        """The problem whose fields are evaluated."""
        return self.layout.problem

    def __call__(
        self,
        expressions: Mapping[str, Any],
        coordinates: Mapping[str, Any],
        normals: Mapping[str, Any] | None = None,
    ) -> dict[str, np.ndarray]:
        """{label: array}, in the shape to which the coordinates broadcast.

        normals: components of the outward normal by coordinate, for expressions that hold them.
        Raises ValueError for a coordinate that is missing or unknown, and for an unknown symbol or field; warns with
        OutsideDomainWarning.
        """
        asked = {label: sympy.sympify(expression) for label, expression in expressions.items()}
        function, needed = self._compiled(asked)
        columns = self._columns(coordinates, needed)
        given_normals = self._normals(asked, normals)
        shape = _common_shape(columns | {f"normal of {n}": c for n, c in given_normals.items()})
        self._check_domain(columns, needed)
        used = {name: np.broadcast_to(columns[name], shape) for name in needed}
        if not used:  # a constant; a batch needs a column nevertheless
            used = {self.problem.domain.coordinates[0].name: np.broadcast_to(0.0, shape)}
        spread = {name: np.broadcast_to(value, shape) for name, value in given_normals.items()}

        def rows(begin: int, end: int) -> Points:
            # `flat` copies these rows alone, also out of an array that broadcasting made large.
            taken: Any = {name: value.flat[begin:end] for name, value in used.items()}
            normal: Any = {name: value.flat[begin:end] for name, value in spread.items()}
            return Points(taken, normal or None)

        count = int(np.prod(shape, dtype=np.int64))
        each = [function(model, rows, count) for model in self._models]
        # A compiled function gives its results in order of their names.
        values = {label: self._reduced([own[label] for own in each]) for label in asked}
        return {label: value.reshape(shape)[()] for label, value in values.items()}

    def _compiled(self, expressions: Mapping[str, sympy.Expr]) -> tuple[ChunkedFunction, tuple[str, ...]]:
        def make() -> tuple[ChunkedFunction, tuple[str, ...]]:
            for label, expression in expressions.items():
                _check_symbols(self.problem, label, expression)
            return self.rows(expressions), _needed(self.problem, expressions)

        return self.kept(tuple(expressions.items()), make)

    def rows(self, expressions: Mapping[Any, sympy.Expr]) -> ChunkedFunction:
        """The expressions as a function of a model and rows of points."""
        with precision_scope(self.precision):
            lowered = Expressions(self.layout, expressions, split_complex=False)
        return ChunkedFunction(lowered.pointwise, self.precision, self.devices)

    def _columns(self, coordinates: Mapping[str, Any], needed: tuple[str, ...]) -> dict[str, np.ndarray]:
        known = [symbol.name for symbol in self.problem.domain.coordinates]
        for name in coordinates:
            if name not in known:
                raise ValueError(f"{name!r} is no coordinate of {self.problem.name!r}; {nearest(name, known)}.")
        missing = [name for name in needed if name not in coordinates]
        if missing:
            given = ", ".join(coordinates) or "none"
            raise ValueError(
                f"{', '.join(missing)} missing: the value depends on {', '.join(needed)}; coordinates given: {given}."
            )
        return {name: _numbers(name, value) for name, value in coordinates.items()}

    def _normals(self, expressions: Mapping[str, sympy.Expr], normals: Mapping[str, Any] | None) -> dict[str, Any]:
        needed = sorted(
            {s.coordinate.name for e in expressions.values() for s in e.free_symbols if isinstance(s, Normal)}
        )
        missing = [name for name in needed if name not in (normals or {})]
        if missing:
            raise ValueError(
                f"the normal's component by {missing[0]!r} is needed and not given; pass normals={{{missing[0]!r}: ...}}."
            )
        return {name: _numbers(f"normal of {name}", (normals or {})[name]) for name in needed}

    def _check_domain(self, columns: Mapping[str, np.ndarray], needed: tuple[str, ...]) -> None:
        domain = self.problem.domain
        for symbol, (low, high) in domain.bounds.items():
            column = columns.get(symbol.name)
            if column is None or symbol.name not in needed or symbol in domain.periodic or not column.size:
                continue
            slack = _SLACK * (high - low)
            least, most = float(np.min(column)), float(np.max(column))
            if least < low - slack or most > high + slack:
                warnings.warn(
                    f"{symbol.name} runs over [{least:g}, {most:g}], outside the domain's [{low:g}, {high:g}]: nothing "
                    f"was trained there, and values are extrapolated.",
                    OutsideDomainWarning,
                    stacklevel=4,
                )


def _first(values: Sequence[np.ndarray]) -> np.ndarray:
    """The values of the one model."""
    return values[0]


def _numbers(name: str, value: Any) -> np.ndarray:
    masked = first_masked(value)
    if masked is not None:
        raise ValueError(f"{name} is masked in row {masked}; leave out the points without a value.")
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real numbers; got {array.dtype}.")
    return array


def _common_shape(columns: Mapping[str, np.ndarray]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(column.shape for column in columns.values()))
    except ValueError:
        shapes = ", ".join(f"{name}: {column.shape}" for name, column in columns.items())
        raise ValueError(
            f"the coordinates do not broadcast ({shapes}); give equal shapes, or axes of length one as for numpy."
        ) from None


def _needed(problem: Problem, expressions: Mapping[str, sympy.Expr]) -> tuple[str, ...]:
    """Names of the coordinates on which the expressions depend, in the domain's order."""
    symbols = set().union(*(normalize(e).free_symbols for e in expressions.values()))
    return tuple(symbol.name for symbol in problem.domain.coordinates if symbol in symbols)


def _check_symbols(problem: Problem, label: str, expression: sympy.Basic) -> None:
    coordinates = {symbol.name: symbol for symbol in problem.domain.coordinates}
    for name, field in fields_in(expression).items():
        if problem.fields.get(name) != field:
            other = "another field of that name" if name in problem.fields else nearest(name, problem.fields)
            raise ValueError(f"{label}: {field} is no field of {problem.name!r}; {other}.")
    symbols: Any = sorted(expression.free_symbols, key=str)
    for symbol in symbols:
        name = symbol.name
        if isinstance(symbol, Normal) or coordinates.get(name) == symbol or problem.parameters.get(name) == symbol:
            continue
        if name in coordinates or (name in problem.parameters and isinstance(symbol, Parameter)):
            raise ValueError(
                f"{label}: {name!r} in {expression} is another symbol than the problem's own {name!r}; use the one that "
                f"the problem was made with."
            )
        known = nearest(name, [*coordinates, *problem.parameters])
        raise ValueError(f"{label}: {name!r} in {expression} is no coordinate or parameter; {known}.")


def entries_of(expression: Any) -> np.ndarray:
    """The entries of a matrix or sequence as an array of expressions; a matrix of one column as a vector."""
    if isinstance(expression, sympy.MatrixBase) and expression.cols == 1:
        expression = [expression[row, 0] for row in range(expression.rows)]
    return np.array(sympy.Array(expression).tolist(), dtype=object)


def side_of(expression: Any) -> sympy.Expr:
    """An expression; of an equation, left minus right."""
    whole: Any = as_expression(expression)
    if isinstance(whole, sympy.Equality):
        left, right = whole.args
        return left - right  # type: ignore[operator]
    if not isinstance(whole, sympy.Expr):
        raise TypeError(f"{expression!r} has no value; give an expression of the fields, or an equation of two.")
    return whole
