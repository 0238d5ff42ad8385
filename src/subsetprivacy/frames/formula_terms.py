"""Parse formulas: the response, the terms, and how each term is computed from a row.

A term may use only functions that are computed row by row, or that store what they need of the fitted rows (`center`,
`bs`). Anything else, such as ``np.mean(age)``, would mean something else for new rows and in a stream.
"""

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import shown
from subsetprivacy.engines import count_column
from subsetprivacy.errors import ArgumentError, MissingDependencyError
from subsetprivacy.messages import Advice
from subsetprivacy.messages.for_general import INSTALL
from subsetprivacy.messages.for_regression import (
    COMPUTE_THE_COLUMN_FIRST,
    NAME_IN_BACKTICKS,
    OFFSET_AS_AN_ARGUMENT,
    PRIVATE_AS_IT_IS,
    WRITE_A_FORMULA,
)

INTERCEPT = "Intercept"

# Functions that a term may call, by what they depend on.
_ROW_WISE = {"I", "abs", "round", "log", "log10", "log2", "exp", "exp2"}  # formulaic's `exp10` is another function
_NUMPY_ROW_WISE = {"where", "clip", "round", "around"}  # and all universal functions
_NUMPY_BY_LISTS = {"isin", "digitize", "interp"}  # the row, and lists of numbers
_SPLINES = {"bs", "cc", "cr", "cs"}
_REMEMBERING = {*_SPLINES, "center", "poly", "scale", "standardize"}
_CONTRASTS = {"Treatment", "Poly", "Sum", "Helmert", "Diff"}
_BOUNDS = {"knots", "lower_bound", "upper_bound"}  # with all of them a spline does not depend on the rows
_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)
_QUOTED = re.compile("`([^`]+)`")


def formulaic() -> Any:
    """Return the module formulaic.

    Raises
    ------
    MissingDependencyError
        If it is not installed.
    """
    try:
        import formulaic
    except ImportError:
        raise MissingDependencyError("formulas need formulaic.", INSTALL(extra="formula")) from None
    return formulaic


@frozen
class FormulaFactor:
    """A part of a term: a column, or an expression of columns.

    Attributes
    ----------
    text
        As formulaic writes it.
    variables
        The columns that it uses, in order.
    column
        The column itself, or the column inside ``C(column)``; None for an expression.
    coded
        The text inside ``C(…)``; None for all other factors.
    given_levels
        Whether ``C(…, levels=…)`` gives the levels.
    remembers
        Whether it depends on all fitted rows.
    """

    text: str
    variables: tuple[str, ...] = ()
    column: str | None = None
    coded: str | None = None
    given_levels: bool = False
    remembers: bool = False


@frozen
class FormulaTerm:
    """A term of a formula: a product of factors; the intercept has none."""

    name: str
    factors: tuple[FormulaFactor, ...]
    parsed: Any = field(eq=False, repr=False)  # as formulaic has it

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns that it uses, in order."""
        return tuple(dict.fromkeys(name for factor in self.factors for name in factor.variables))


@frozen
class FormulaTerms:
    """The right-hand side of a formula."""

    text: str
    terms: tuple[FormulaTerm, ...]
    parsed: Any = field(eq=False, repr=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns that it uses, in order."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term.variables))

    @property
    def factors(self) -> tuple[FormulaFactor, ...]:
        """All factors, each once."""
        return tuple(dict.fromkeys(factor for term in self.terms for factor in term.factors))

    @property
    def coded_columns(self) -> frozenset[str]:
        """Columns that occur as ``C(column)`` and nowhere else: their numbers are levels."""
        coded = {f.column for f in self.factors if f.coded is not None and f.column is not None}
        others = {name for f in self.factors if f.coded is None or f.column is None for name in f.variables}
        return frozenset(name for name in coded if name not in others and name is not None)


def split_formula(formula: str, private: Collection[str] = ()) -> tuple[str, str]:
    """Split a formula into the name of its response and its right-hand side.

    Parameters
    ----------
    formula
        As in ``"race ~ age + C(sex)"``; a name with spaces is in backticks.
    private
        Columns of subsets. On the right-hand side they may be terms or factors of interactions, without functions.

    Raises
    ------
    ArgumentError
        If it is not a formula, its left-hand side is not one column, or a private column is inside a function.
    MissingDependencyError
        If formulaic is not installed.

    Examples
    --------
    >>> split_formula("race ~ age + C(sex)", private=["race"])
    ('race', 'age + C(sex)')
    >>> split_formula("income ~ age * race", private=["race"])
    ('income', 'age * race')
    >>> split_formula("income ~ age:C(race)", private=["race"])
    Traceback (most recent call last):
    subsetprivacy.errors.ArgumentError: `formula` must not put a private column inside a function; got race, which
    is private, inside C(race) in the term age:C(race).
    Hint: write race without a function, alone or in interactions: its categories are compared with a baseline.
    """
    left, right = _sides(formula)
    response = _response(left, private)
    explained = {response, *response_variables(response, [response] if _is_name(left) else [])}
    for term in read_terms(right).terms:
        for factor in term.factors:
            if explained & set(factor.variables):
                raise ArgumentError(f"`formula` must not explain {response} by itself; got it in the term {term.name}.")
            _check_as_it_is(factor, term.name, private)
    return response, right


def private_predictors(right: str, private: Collection[str]) -> tuple[str, ...]:
    """Return the private columns of the right-hand side of a formula, in order.

    Examples
    --------
    >>> private_predictors("age * religion + race", {"race", "religion", "vote"})
    ('religion', 'race')
    """
    return tuple(name for name in read_terms(right).variables if name in private)


def refuse_predictors(right: str, private: Collection[str]) -> None:
    """Raise if the right-hand side of a formula has a private column, if only the response may be private."""
    predictors = private_predictors(right, private)
    if predictors:
        raise ArgumentError(
            f"`formula` must have a private column as its response only; got {', '.join(predictors)} among the terms."
        )


def _check_as_it_is(factor: FormulaFactor, term: str, private: Collection[str]) -> None:
    """Raise if a private column is inside a function, which cannot be computed from subsets."""
    inside = next((name for name in factor.variables if name in private), None)
    if inside is None or (factor.column == inside and factor.coded is None):
        return
    where = f"the term {term}" if factor.text == term else f"{factor.text} in the term {term}"
    raise ArgumentError(
        f"`formula` must not put a private column inside a function; got {inside}, which is private, inside {where}.",
        PRIVATE_AS_IT_IS(name=inside if inside.isidentifier() else f"`{inside}`"),
    )


def _sides(formula: Any) -> tuple[str, str]:
    text = _text(formula)
    at = _tildes(text)
    if len(at) != 1:
        got = "none" if not at else f"{len(at)} of them"
        raise ArgumentError(f"`formula` must have one ~ after its response; got {got} in {text!r}.", WRITE_A_FORMULA)
    left, right = text[: at[0]].strip(), text[at[0] + 1 :].strip()
    if not left or not right:
        raise ArgumentError(f"`formula` must have a response, ~ and terms; got {text!r}.", WRITE_A_FORMULA)
    return left, right


def _text(formula: Any) -> str:
    if not isinstance(formula, str) or not formula.strip():
        raise ArgumentError(f"`formula` must be text such as 'race ~ age + sex'; got {shown(formula)}.")
    return formula.strip()


def _tildes(text: str) -> list[int]:
    """Return the position of ~ outside of quotes and brackets, where it would be a Python operator."""
    positions, depth, quote = [], 0, ""
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
        elif sign == "~" and depth == 0:
            positions.append(at)
        else:
            depth += (sign in "([{") - (sign in ")]}")
    return positions


def _is_name(left: str) -> bool:
    return _QUOTED.fullmatch(left) is not None or re.fullmatch(r"[^\W\d][\w.]*", left) is not None


def _response(left: str, private: Collection[str]) -> str:
    quoted = _QUOTED.fullmatch(left)
    if quoted is not None:
        return quoted[1]
    if _is_name(left):
        return left
    inside = next((name for name in private if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", left)), None)
    if inside is not None and inside != left:
        raise ArgumentError(f"`formula` must have the private column {inside} alone on its left-hand side; got {left}.")
    if is_computed_response(left):
        return left
    raise ArgumentError(f"`formula` must have one column on its left-hand side; got {left}.", NAME_IN_BACKTICKS)


def is_computed_response(text: str) -> bool:
    """Return whether the left-hand side is one expression of columns, such as ``log(income)``."""
    try:
        terms = read_terms(f"0 + {text}").terms
    except ArgumentError:
        return False
    factors = [factor for term in terms for factor in term.factors]
    return len(factors) == 1 and bool(factors[0].variables) and not factors[0].remembers and factors[0].coded is None


def response_variables(response: str, available: Collection[str]) -> tuple[str, ...]:
    """Return the columns of a response, which may be an expression.

    Examples
    --------
    >>> response_variables("log(income)", ["income", "age"])
    ('income',)
    """
    if response in available or not is_computed_response(response):
        return (response,)
    return read_terms(f"0 + {response}").variables


# The right-hand side ------------------------------------------------------------------------------------------------


def read_terms(text: str, available: Sequence[str] = ()) -> FormulaTerms:
    """Parse the right-hand side of a formula.

    Parameters
    ----------
    text
        The right-hand side.
    available
        The columns that a dot includes.

    Raises
    ------
    ArgumentError
        If it cannot be parsed, or a term cannot be computed row by row.
    """
    library = formulaic()
    text = _text(text)
    parsed: Any = None
    with suppress(library.errors.FormulaSyntaxError, SyntaxError, ValueError):
        parsed = library.Formula(text, _context={"__formulaic_variables_available__": list(available)})
    if parsed is None or not isinstance(parsed, library.SimpleFormula):  # not in the handler: its message has colors
        raise ArgumentError(f"`formula` must be terms joined by +, *, : and the like; got {text!r}.", WRITE_A_FORMULA)
    terms = tuple(_term(term) for term in parsed)
    if not terms:
        raise ArgumentError(f"`formula` must have a term, or the intercept; got {text!r}.", WRITE_A_FORMULA)
    return FormulaTerms(text, terms, parsed)


def named_variables(text: str, columns: Sequence[str], subsets: Iterable[str]) -> tuple[str, ...]:
    """Return the variables of a formula, without a column of counts that only a dot includes.

    Parameters
    ----------
    text
        The right-hand side.
    columns, subsets
        All columns, and those of subsets.
    """
    count = count_column(subsets)
    return read_terms(text, [name for name in columns if name != count]).variables


def _term(parsed: Any) -> FormulaTerm:
    name = INTERCEPT if str(parsed) == "1" else str(parsed)
    return FormulaTerm(name, tuple(_factor(factor, name) for factor in parsed.factors), parsed)


def _factor(parsed: Any, term: str) -> FormulaFactor:
    text = str(parsed.expr)
    if parsed.eval_method.value == "literal":
        return FormulaFactor(text)
    if parsed.eval_method.value == "lookup":
        return FormulaFactor(text, (text,), column=text)
    return _Expression(text, term).factor()


class _Expression:
    """Parses an expression in a term, and refuses functions that are not computed row by row."""

    def __init__(self, text: str, term: str) -> None:
        self.text, self.term = text, term
        self.quoted: dict[str, str] = {}  # placeholders for names in backticks
        self.variables: dict[str, None] = {}
        self.remembers = False

    def factor(self) -> FormulaFactor:
        body = ast.parse(_QUOTED.sub(self._placeholder, self.text), mode="eval").body
        if not (isinstance(body, ast.Call) and isinstance(body.func, ast.Name) and body.func.id == "C" and body.args):
            self.read(body)
            return FormulaFactor(self.text, tuple(self.variables), remembers=self.remembers)
        self.read(body.args[0])
        self._no_columns([*body.args[1:], *body.keywords])
        column = self._column(body.args[0])
        given = any(keyword.arg == "levels" for keyword in body.keywords)
        return FormulaFactor(
            self.text, tuple(self.variables), column, self._with_names(body.args[0]), given, self.remembers
        )

    def _placeholder(self, match: "re.Match[str]") -> str:
        word = f"_column_{len(self.quoted)}"
        self.quoted[word] = match[1]
        return word

    def _with_names(self, node: ast.AST) -> str:
        text = ast.unparse(node)
        for word, name in self.quoted.items():
            text = re.sub(rf"\b{word}\b", lambda _, name=name: f"`{name}`", text)  # type: ignore[misc]
        return text

    def _column(self, node: ast.AST) -> str | None:
        return self.quoted.get(node.id, node.id) if isinstance(node, ast.Name) else None

    def read(self, node: ast.AST) -> None:
        """Parse an expression that depends on the row."""
        if isinstance(node, ast.Name):
            self.variables[self.quoted.get(node.id, node.id)] = None
        elif isinstance(node, _OPERATIONS):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.read(child)
        elif isinstance(node, ast.Call):
            self._call(node)
        elif not self._is_constant(node):
            raise self._refused(node)

    def _call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        if name == "offset":
            raise ArgumentError(f"`formula` must have no offset; got the term {self.term}.", OFFSET_AS_AN_ARGUMENT)
        if name == "Q" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            self.variables[str(node.args[0].value)] = None
            return
        inner = name.removeprefix("np.") if name.startswith("np.") else None
        if name in _REMEMBERING:
            self.remembers |= not _is_fixed(name, node)
            by_row: Iterable[ast.AST] = node.args[:1]
        elif inner in _NUMPY_BY_LISTS:
            by_row = node.args[:1]
        elif name in _ROW_WISE or inner in _NUMPY_ROW_WISE or (inner is not None and _is_universal(inner, node)):
            by_row = node.args
        else:
            raise self._refused(node)
        for argument in by_row:
            self.read(argument)
        self._no_columns([*node.args[len(list(by_row)) :], *node.keywords])

    def _no_columns(self, arguments: Sequence[ast.AST]) -> None:
        """Raise if arguments contain anything except constants and contrasts."""
        for argument in arguments:
            value = argument.value if isinstance(argument, ast.keyword) else argument
            if not self._is_constant(value):
                raise self._refused(value)

    def _is_constant(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            is_number = node.value.id == "np" and isinstance(getattr(np, node.attr, None), float)
            return is_number or node.value.id == "contr"
        if isinstance(node, ast.Name):
            return node.id in _CONTRASTS
        if isinstance(node, ast.Call):
            named = ast.unparse(node.func)
            inner = [*node.args, *(keyword.value for keyword in node.keywords)]
            return (named in _CONTRASTS or named.startswith("contr.")) and all(map(self._is_constant, inner))
        if isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.BinOp)):
            return all(self._is_constant(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
        return False

    def _refused(self, node: ast.AST) -> ArgumentError:
        inside = self._with_names(node)
        where = f"the term {self.term}" if inside == self.term else f"{inside} in the term {self.term}"
        advice: Advice = COMPUTE_THE_COLUMN_FIRST
        return ArgumentError(f"`formula` must have terms that are computed row by row; got {where}.", advice)


def _is_universal(name: str, node: ast.Call) -> bool:
    """Return whether a NumPy function is elementwise."""
    function = getattr(np, name, None)
    return isinstance(function, np.ufunc) and function.signature is None and not node.keywords


def _is_fixed(name: str, node: ast.Call) -> bool:
    """Return whether the arguments of a transform make it independent of the rows."""
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if name in _SPLINES:
        words = {word for word, value in given.items() if ast.unparse(value) != "None"}
        return words >= _BOUNDS and "constraints" not in given
    raw = given.get("raw", node.args[2] if name == "poly" and len(node.args) > 2 else None)
    return name == "poly" and isinstance(raw, ast.Constant) and raw.value is True
