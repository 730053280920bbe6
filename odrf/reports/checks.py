"""Checks: calibrated probabilities, discrimination, predicted distributions."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_choice, checked_truth
from odrf.design import Design
from odrf.errors import AbsentError, InputError
from odrf.fits.calibration import Recalibration
from odrf.fits.files.saving import save
from odrf.fits.fit import offsets_of
from odrf.fits.predicting import as_asked, spread_numbers
from odrf.fits.responses import expected_response
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.statistics.calibration import (
    EvaluatedRows,
    Power,
    brier_parts,
    calibrated_band,
    recalibrated,
    reliability_table,
)
from odrf.statistics.discrimination import (
    area_under_roc,
    bootstrapped_precision,
    net_benefit,
    thresholds_table,
)
from odrf.statistics.residuals import coverage_table, regions_of
from odrf.text.layouts import percentage
from odrf.text.summary import Card, TableReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


TYPES = ("prob", "class", "response", "cumulative")
POINTS_OF_MAP = 201
ESTIMATORS = (
    'estimators of scikit-learn predict without its maps: use predict(newdata, type="prob"), or '
    "CalibratedClassifierCV of scikit-learn with to_sklearn() of the fit it was made from"
)
OF_THE_FIT = "ask the fit whose calibrate() has made it, for whose probabilities it only has maps"


class NotHere:
    """What fits have and a calibrated one has not: an attribute that raises, and says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __set_name__(self, owner: type, name: str) -> None:
        self.words = f"{owner.__name__} has no {name!r}: {self.reason}"

    def __get__(self, owner: object, kind: type) -> NoReturn:
        raise AbsentError(self.words)


@public
class CalibratedFit(TableReport):
    """A fit with a map from its probabilities to calibrated ones.

    Returned by `calibrate` of the results.  It predicts as the fit does; the fit is not changed.

    Attributes
    ----------
    recalibration : Recalibration
    table : DataFrame
        For each class the Brier score ``before`` and ``after``; after, by maps that are learned on
        the other four fifths of the rows.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> calibrated = forest.calibrate("platt")
    >>> calibrated.predict(data.head(2), type="prob").columns.tolist()
    ['benign', 'malignant']
    """

    _title = "Calibrated fit"
    _heading = "Brier score"
    _note = "Brier scores after calibration are by maps learned on other rows."

    to_sklearn = NotHere(ESTIMATORS)
    importance, partial, ale, shap, explain = (NotHere(OF_THE_FIT) for _ in range(5))
    predictions, comparisons, slopes, data_summary = (NotHere(OF_THE_FIT) for _ in range(4))
    calibrate, calibration, discrimination, score = (NotHere(OF_THE_FIT) for _ in range(4))

    def __dir__(self) -> list[str]:
        lacking = {name for name, one in vars(type(self)).items() if isinstance(one, NotHere)}
        return [name for name in super().__dir__() if name not in lacking]

    def __init__(self, recalibration: Recalibration) -> None:
        self.recalibration = recalibration
        scores = {"before": recalibration.before, "after": recalibration.after}
        self.table = pd.DataFrame(scores, index=pd.Index(self.classes, name="class"))

    @property
    def call(self) -> str:
        """The call that made the fit, as text."""
        return self.recalibration.fit.call

    @property
    def formula(self) -> str:
        """The formula of the fit, as written."""
        return self.recalibration.fit.design.formula

    @property
    def design(self) -> Design:
        """The design of the fit: formula, predictors, columns and response."""
        return self.recalibration.fit.design

    @property
    def kind(self) -> str:
        """``"classification"``."""
        return self.recalibration.fit.kind

    @property
    def classes(self) -> pd.Index:
        """The classes, in the order of the probability columns."""
        classes = self.design.response.classes
        assert classes is not None
        return classes

    @property
    def method(self) -> str:
        """The kind of maps: ``"power"``, ``"isotonic"``, ``"platt"`` or ``"beta"``."""
        return self.recalibration.method

    def predict(
        self, newdata: pd.DataFrame, type: str = "response", *, progress: bool = False
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows with calibrated probabilities.

        Parameters
        ----------
        newdata : DataFrame
            The rows, as in `predict` of the fit.
        type : {"response", "class", "prob", "cumulative"}, default "response"
            The most likely class; the probabilities; or for ordered classes those of each class or
            a lower one.
        progress : bool, default False
            Show a progress bar of the rows.

        Returns
        -------
        Series or DataFrame
            With the index of `newdata`.

        Raises
        ------
        InputError
            If `type` is unknown, or `newdata` cannot be predicted.
        """
        checked_choice("type", type, TYPES)
        fit = self.recalibration.fit
        X, complete = fit.design.matrix(newdata)
        offset = offsets_of(fit, newdata, complete)
        with progress_bar(total=X.shape[1], unit="row", progress=progress) as bar:
            value = self.recalibration.calibrated(expected_response(fit, X, offset, bar.update))
        return as_asked(fit, spread_numbers(value, complete), newdata.index, type)

    def save(self, path: str | PathLike[str], *, data: bool = True, progress: bool = False) -> None:
        """Save the fit and its maps to a file; `odrf.load` reads it.

        Parameters
        ----------
        path : str or path
            The file.
        data : bool, default True
            Whether the file holds the training rows.  Without them it predicts the same.
        progress : bool, default False
            Show a progress bar.

        Raises
        ------
        InputError
            As by `save` of the fit.

        Warns
        -----
        UserWarning
            As by `save` of the fit.
        """
        save("CalibratedFit", self.recalibration, path, checked_truth("data", data), progress)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the maps: calibrated against predicted probabilities.

        A power is drawn as for a class with one other.
        """
        at = np.linspace(0, 1, POINTS_OF_MAP)
        maps = self.recalibration.maps
        if isinstance(maps[0], Power):
            return plots.checks.plot_maps(at, {"every class": maps[0].of_one(at)}, ax)
        several = maps[1:] if len(maps) == 2 else maps
        labels = self.classes[-len(several) :]
        curves = {str(label): one(at) for label, one in zip(labels, several, strict=True)}
        return plots.checks.plot_maps(at, curves, ax)

    def _facts(self) -> dict[str, str]:
        return {"Method": self.method, "Learned from": self.recalibration.rows}


POINTS = 101


@public
class Calibration(TableReport):
    """Whether classes are observed as often as their probabilities say.

    Returned by `calibration` of the results.

    Attributes
    ----------
    rows : EvaluatedRows
    level : float
    table : DataFrame
        For each class and bin of rows: ``predicted``, the mean probability; ``observed``, the share
        of the class; ``conf_low`` and ``conf_high``, its interval; ``rows``.
    brier : DataFrame
        For each class the Brier ``score`` = ``miscalibration`` - ``discrimination`` +
        ``uncertainty``.
    curves : DataFrame
        For each class, at probabilities ``predicted``: ``observed``, the best increasing curve;
        ``band_low`` and ``band_high``, where it would be if the probabilities were calibrated, at
        each point by itself.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> bool(forest.calibration().brier["miscalibration"].iloc[0] < 0.02)
    True
    """

    _title = "Calibration"
    _note = (
        "score = miscalibration - discrimination + uncertainty, by isotonic regression; "
        "conf_low and conf_high are the interval of the observed share."
    )

    def __init__(self, call: str, rows: EvaluatedRows, bins: int, level: float, seed: int) -> None:
        self.call, self.rows, self.level = call, rows, level
        tables, parts, curves = {}, {}, {}
        for label, p, event in rows.events():
            tables[label] = reliability_table(p, event, rows.weights, bins, level, rows.groups)
            parts[label] = brier_parts(p, event, rows.weights)._asdict()
            at = np.linspace(p.min(), p.max(), POINTS)
            order = np.argsort(p, kind="stable")
            curve = np.interp(at, p[order], recalibrated(p, event, rows.weights)[order])
            low, high = calibrated_band(p, rows.weights, at, level, seed)
            columns = {"predicted": at, "observed": curve, "band_low": low, "band_high": high}
            curves[label] = pd.DataFrame(columns)
        self.table = _joined(tables)
        self.curves = _joined(curves)
        self.brier = pd.DataFrame.from_dict(parts, orient="index").rename_axis("class")

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the reliability diagram: observed shares against probabilities.

        Points with intervals are bins.  Lines are increasing curves.  The band is where the curve
        of calibrated probabilities would be, pointwise; for several classes no band is drawn.
        """
        return plots.checks.plot_reliability(self.table, self.curves, ax)

    def _facts(self) -> dict[str, str]:
        return self.rows.facts() | {"Level": percentage(self.level)}

    def _sections(self) -> dict[str, pd.DataFrame]:
        return {"Brier score": self.brier, "Bins": self.table}

    def _card(self) -> Card:
        return Card(self._title, self._facts(), self.brier)


def _joined(tables: dict[object, pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of the classes below each other, the class in the first column."""
    for label, table in tables.items():
        table.insert(0, "class", [label] * len(table))
    return pd.concat(tables.values(), ignore_index=True)


THRESHOLDS = np.arange(1, 100) / 100
ROC, PRECISION, BENEFIT = "roc", "precision", "benefit"


@public
class Discrimination(TableReport):
    """How well the probability of each class tells its rows from the others.

    Returned by `discrimination` of the results.

    Attributes
    ----------
    rows : EvaluatedRows
    level : float
    table : DataFrame
        For each class: ``measure``, the area under the ROC curve, with the interval of DeLong and
        others, or the average precision, with a bootstrap interval; ``estimate``, ``std_error``,
        ``conf_low``, ``conf_high``; ``without_skill``, what probabilities without information give.
    thresholds : DataFrame
        For each class and threshold: ``sensitivity``, ``specificity``, ``precision``.
    benefit : DataFrame
        For each class and threshold: ``benefit``, the net benefit of acting on rows whose
        probability is not below it, and ``all``, that of acting on all rows.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> bool(forest.discrimination().table["estimate"].min() > 0.95)
    True
    """

    _title = "Discrimination"

    def __init__(self, call: str, rows: EvaluatedRows, level: float, seed: int) -> None:
        self.call, self.rows, self.level = call, rows, level
        lines: list[tuple[object, ...]] = []
        thresholds, benefit = {}, {}
        for label, p, event in rows.events():
            w = rows.weights
            area = area_under_roc(p, event, w, level, rows.groups)
            precision = bootstrapped_precision(p, event, w, level, seed, groups=rows.groups)
            rate = float(np.average(event, weights=w))
            lines.append((label, "area under ROC curve", *area, 0.5))
            lines.append((label, "average precision", *precision, rate))
            thresholds[label] = thresholds_table(p, event, w)
            benefit[label] = net_benefit(p, event, w, THRESHOLDS)
        numbers = ["estimate", "std_error", "conf_low", "conf_high", "without_skill"]
        self.table = pd.DataFrame(lines, columns=["class", "measure", *numbers])
        self.thresholds, self.benefit = _joined(thresholds), _joined(benefit)

    def plot(self, kind: str = ROC, *, ax: Axes | None = None) -> Axes:
        """Draw curves over the thresholds, one for each class.

        Parameters
        ----------
        kind : {"roc", "precision", "benefit"}, default "roc"
            Sensitivity against 1 - specificity; precision against recall; or the net benefit
            against the threshold (a decision curve), beside that of acting on all rows or none.
        {about ax}

        Raises
        ------
        InputError
            If `kind` is unknown.
        """
        checked_choice("kind", kind, (ROC, PRECISION, BENEFIT))
        if kind == BENEFIT:
            return plots.checks.plot_benefit(self.benefit, ax)
        return plots.checks.plot_thresholds(self.thresholds, self.table, kind, ax)

    def _facts(self) -> dict[str, str]:
        return self.rows.facts() | {"Level": percentage(self.level)}


PLOTS = ("pit", "coverage", "residuals", "quantiles", "influence")
MOST_INFLUENTIAL = 5
LEVERAGE = (
    "leverage adds up the weights of a row's response in the out-of-bag predictions of the others: "
    "1 on average, and unlike the leverage in a linear model it may be more."
)
OWN_RESIDUALS = (
    "The distributions are made of these rows' own out-of-bag residuals: of all rows together they "
    "are right by construction. The regions tell, and newdata=."
)


@public
class PredictiveCheck(TableReport):
    """Residuals, and whether responses fall into their predicted distributions.

    Returned by `predictive_check` of the results.

    Attributes
    ----------
    level : float
    source : str
    rows : DataFrame
        With ``residual``, observed minus fitted, and ``pit``, the share of the predicted
        distribution below the response: uniform if the distributions are right.
    coverage : DataFrame
        By ``region``, in the order of levels or numbers: ``rows``; ``coverage`` of the prediction
        intervals; ``conf_low`` and ``conf_high``, its interval.
    influence : DataFrame or None
        For each training row its ``leverage``, the weights that its response has in the
        predictions of the others, added up; its ``residual``, in standard
        deviations of the residuals; and its ``influence``: by how much predictions would change
        without its response, as a root mean square in these units.  The most influential row comes
        first.  None for new rows and for a stack.

    Notes
    -----
    The leverages of a linear model, the diagonal of its hat matrix, are at most 1.  Predictions out
    of bag do not use a row's own response, so that this diagonal is 0.  The leverage here adds up
    the other elements of a column of the matrix.  Each is from 0 to 1, but their sum may be more
    than 1: its mean over the rows is 1 if each of them has been out of bag.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ bmi + ltg + bp", data, n_trees=100, seed=1)
    >>> check = forest.predictive_check()
    >>> bool(check.rows["pit"].between(0, 1).all())
    True
    """

    _title = "Predictive check"

    def __init__(
        self, call: str, rows: pd.DataFrame, level: float, region: pd.Series | None, source: str,
        influence: pd.DataFrame | None = None, groups: NDArray[np.int64] | None = None,
    ) -> None:  # fmt: skip
        self.call, self.level, self.source = call, level, source
        self.rows = rows.assign(residual=rows["observed"] - rows["fitted"])
        inside = rows["observed"].between(rows["conf_low"], rows["conf_high"])
        self.inside: NDArray[np.bool_] = inside.to_numpy()
        by = regions_of(rows["fitted"].to_numpy())
        if region is not None:
            by = _regions_of(region)
        self.coverage = coverage_table(by, self.inside, level, groups)
        self.influence = None
        if influence is not None:
            spread = float(self.rows["residual"].std(ddof=0)) or 1.0
            table = influence.assign(
                residual=self.rows["residual"] / spread, influence=influence["influence"] / spread
            )
            table = table[["leverage", "residual", "influence"]]
            self.influence = table.sort_values("influence", ascending=False, kind="stable")

    def plot(self, kind: str = "pit", *, ax: Axes | None = None) -> Axes:
        """Draw one of five plots.

        Parameters
        ----------
        kind : {"pit", "coverage", "residuals", "quantiles", "influence"}, default "pit"
            - ``"pit"``: a histogram of the shares below the response, with the band in which the
              bars of uniform shares would be.  A hill means distributions that are too wide, a
              valley ones that are too narrow.
            - ``"coverage"``: the coverage by region, with intervals.
            - ``"residuals"``: residuals against fitted values.
            - ``"quantiles"``: residuals against those of a normal distribution.
            - ``"influence"``: residuals against leverage, a sum of weights that may be more than 1;
              the area of a circle is the square of the influence, and the most influential rows
              have their labels.
        {about ax}

        Raises
        ------
        InputError
            If `kind` is unknown, or ``"influence"`` is asked of new rows or of a stack.
        """
        checked_choice("kind", kind, PLOTS)
        if kind != "influence":
            return plots.checks.plot_check(self.rows, self.coverage, self.level, kind, ax)
        if self.influence is None:
            raise InputError(
                "new rows have no influence on the fit: leave newdata= of predictive_check() out; "
                'of a stack see part("forest").predictive_check()'
            )
        return plots.checks.plot_influence(self.influence, ax)

    def _facts(self) -> dict[str, str]:
        covered = f"{self.inside.mean():.1%} (nominal {percentage(self.level)})"
        return {
            "Rows": f"{len(self.rows)} {self.source}",
            "Covered": covered,
            "Mean share below": f"{self.rows['pit'].mean():.3f} (right: 0.5)",
            "Variance of it": f"{self.rows['pit'].var(ddof=0):.4f} (right: 0.0833)",
        }

    def _sections(self) -> dict[str, pd.DataFrame]:
        sections = {"Coverage of prediction intervals": self.coverage}
        if self.influence is not None:
            sections["Most influential rows"] = self.influence.head(MOST_INFLUENTIAL)
        return sections

    def _notes(self) -> tuple[str, ...]:
        if self.influence is not None:
            return (LEVERAGE,)
        return (OWN_RESIDUALS,) if self.source == "out of bag" else ()

    def _card(self) -> Card:
        return Card(self._title, self._facts(), self.coverage)


def _regions_of(values: pd.Series) -> pd.Categorical[str]:
    """Return the values of a column as labels, in the order of its levels or numbers."""
    levels = pd.Index(pd.factorize(values, sort=True)[1]).astype(str).unique()
    return pd.Categorical(values.astype(str).where(values.notna()), levels)
