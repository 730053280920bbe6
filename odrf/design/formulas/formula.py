"""From the text of a formula to its terms: patsy's parser, plus R's ``.`` and long sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from patsy import EvalEnvironment, PatsyError
from patsy.desc import Evaluator, IntermediateExpr, ParseNode, Term
from patsy.parse_formula import parse_formula

from odrf.design.formulas.atoms import Atom, Column, read_atom
from odrf.design.formulas.spelling import DOT, respell
from odrf.errors import InputError, warn_user

__all__ = ["Formula", "read_formula"]

MOST_PRODUCTS, MOST_DIGITS = 100_000, 9
SHOWN = 60
# As pandas calls a first column without a name.
ROW_NAMES = "Unnamed: 0"


@dataclass(frozen=True)
class Formula:
    """A parsed formula.

    Attributes
    ----------
    response : Column or Expression
        The left side.
    terms : tuple of tuples of atoms
        One per predictor: the atoms whose product it is, one alone for a main effect.
    """

    response: Atom
    terms: tuple[tuple[Atom, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that the predictors need."""
        names = (name for term in self.terms for atom in term for name in atom.columns)
        return tuple(dict.fromkeys(names))


def read_formula(
    formula: str, columns: list[str], env: EvalEnvironment, aside: Iterable[str] = ()
) -> Formula:
    """Read a formula.

    Parameters
    ----------
    formula : str
        For example ``"log(y) ~ . - a + b:c"``.  ``.`` stands for all columns except those of the
        response and those in `aside`.  Intercepts (``0``, ``1``, ``-1``) are accepted and ignored:
        trees have none.
    columns : list of str
        Names of the data's columns.
    env : patsy.EvalEnvironment
        The user's environment, where functions are looked up.
    aside : iterable of str
        Columns that ``.`` leaves out too, such as that of the weights.

    Raises
    ------
    InputError
        The formula does not parse, names something unknown, has no response or more than one,
        has no predictors, or has the response among them.
    """
    if not isinstance(formula, str) or not formula.strip():
        raise InputError(f'formula must be a text such as "y ~ .", not {formula!r}')
    names = dict.fromkeys(columns)
    spelling = respell(formula, names)
    try:
        tree = parse_formula(spelling.code)
        if tree.token is None:
            raise PatsyError('"~" is missing: write "response ~ predictors", for example "y ~ ."')
        reader = _Reader(names, env)
        response = reader.response(tree)
        outside = {*response.columns, *aside}
        reader.others = [name for name in names if name not in outside]
        terms = tuple(term.factors for term in reader.eval(tree.args[1]).terms)
    except PatsyError as error:
        raise spelling.explain(error) from None
    except (AssertionError, SyntaxError):
        # Some errors pass patsy's tokenizer, such as the number 01.
        raise InputError(f"formula {formula!r} is not understood: check its spelling") from None
    except RecursionError:
        raise InputError(
            f"formula {formula[:SHOWN]!r}… has too many products or brackets in each other to be "
            "read: make columns of them in the data, and name these"
        ) from None
    result = Formula(response, terms)
    _check_sides(result)
    if ROW_NAMES in result.columns and ROW_NAMES not in formula:
        warn_user(
            f"{ROW_NAMES!r} is a predictor, by '.': pandas calls so a first column without a name, "
            "which has the numbers or names of the rows in tables that R has written: read the "
            f"table with index_col=0, or leave it out with - `{ROW_NAMES}`"
        )
    return result


def _check_sides(formula: Formula) -> None:
    if not formula.terms:
        raise InputError(
            "the formula has no predictors: name at least one column on the right of ~, "
            'or use "." for all other columns'
        )
    both = [name for name in formula.response.columns if name in formula.columns]
    if both:
        raise InputError(
            f"the response's column {both[0]!r} is also a predictor: take it out of the right "
            "side of the formula"
        )


class _Reader(Evaluator):  # type: ignore[misc]
    """patsy's evaluator, with our atoms, ``.``, and sums of any length without recursion."""

    def __init__(self, columns: dict[str, None], env: EvalEnvironment) -> None:
        super().__init__()
        self.columns = columns
        self.env = env
        self.others: list[str] | None = None
        self.add_op("PYTHON_EXPR", 0, _Reader._atom)
        self.add_op("+", 2, _Reader._sum)
        self.add_op("-", 2, _Reader._sum)
        self.add_op(":", 2, _Reader._interaction)
        self.add_op("*", 2, _Reader._product)
        self.add_op("**", 2, _Reader._power)

    def response(self, tree: ParseNode) -> Atom:
        """Return the single atom on the left of ``~``."""
        terms = self.eval(tree.args[0]).terms if len(tree.args) == 2 else ()
        if not terms:
            raise PatsyError("the response is missing on the left of ~", tree)
        if len(terms) > 1 or len(terms[0].factors) > 1:
            raise PatsyError(
                "the response must be one column or expression: write arithmetic inside I(), "
                "as in I(a + b), and fit one model for each response",
                tree.args[0],
            )
        return terms[0].factors[0]

    def _atom(self, tree: ParseNode) -> IntermediateExpr:
        if tree.token.extra == DOT:
            if self.others is None:
                raise PatsyError("'.' cannot be the response: name a column", tree)
            return _terms(Term([Column(name)]) for name in self.others)
        try:
            return _terms([Term([read_atom(tree.token.extra, self.columns, self.env)])])
        except PatsyError as error:
            error.set_origin(tree)
            raise

    def _sum(self, tree: ParseNode) -> IntermediateExpr:
        """Evaluate a chain of + and - in a loop: recursion fails for thousands of columns."""
        steps = []
        while tree.type in ("+", "-") and len(tree.args) == 2:
            left, right = tree.args
            steps.append((tree.type, right))
            tree = left
        terms = dict.fromkeys(self.eval(tree).terms)
        for sign, node in reversed(steps):
            for term in self.eval(node).terms:
                if sign == "+":
                    terms.setdefault(term)
                else:
                    terms.pop(term, None)
        return _terms(terms)

    def _interaction(self, tree: ParseNode) -> IntermediateExpr:
        left, right = (self.eval(side).terms for side in tree.args)
        return _terms(_products(left, right, tree))

    def _product(self, tree: ParseNode) -> IntermediateExpr:
        left, right = (self.eval(side).terms for side in tree.args)
        return _terms(dict.fromkeys([*left, *right, *_products(left, right, tree)]))

    def _power(self, tree: ParseNode) -> IntermediateExpr:
        base, number = self.eval(tree.args[0]).terms, tree.args[1]
        written = number.token.extra if number.type in ("ONE", "NUMBER") else ""
        if not written.isdigit() or not written.strip("0"):
            raise PatsyError("'**' requires a positive integer", number)
        # (a + b)**100 is the same as (a + b)**2
        times = len(base) if len(written) > MOST_DIGITS else min(len(base), int(written))
        terms = products = list(base)
        for _ in range(1, times):
            products = _products(base, products, tree)
            terms = list(dict.fromkeys([*terms, *products]))
        return _terms(terms)


def _products(left: Sequence[Term], right: Sequence[Term], tree: ParseNode) -> list[Term]:
    """Return the different products of terms; raise `PatsyError` if there are far too many."""
    if len(left) * len(right) > MOST_PRODUCTS:
        raise PatsyError(
            f"this multiplies {len(left)} by {len(right)} terms, and at most {MOST_PRODUCTS} "
            "products are formed: name the ones you need",
            tree,
        )
    return list(dict.fromkeys(Term(one.factors + other.factors) for one in left for other in right))


def _terms(terms: Iterable[Term]) -> IntermediateExpr:
    return IntermediateExpr(False, None, False, terms)
