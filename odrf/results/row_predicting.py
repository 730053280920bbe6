"""Single rows, predicted quickly; and rows predicted in other languages."""

from __future__ import annotations

from typing import Any

from odrf.exports.export import exported_c, exported_onnx, exported_python
from odrf.fits.predicting import RowPredictor, row_predictor
from odrf.results.fitted import FittedResults

__all__ = ["RowPredicting"]


class RowPredicting(FittedResults):
    """Base class of results that can predict single rows quickly, and in other languages."""

    def row_predictor(self, type: str = "response") -> RowPredictor:
        """Return a function that predicts one row at a time, in microseconds.

        Parameters
        ----------
        type : {"response", "class", "prob"}, default "response"
            What the function returns for a row, as in `predict`.

        Returns
        -------
        RowPredictor
            A function of the raw values in the order of its `predictors`, or of a mapping from
            their names to values.

        Raises
        ------
        InputError
            If `type` is unknown, or needs classes in a regression; if the formula has terms that
            are not columns of the data, such as ``log(a)``; if the fit has no training rows.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> fit = odrf.odrf("progression ~ bmi + bp + sex", data, n_trees=20, seed=1)
        >>> progression = fit.row_predictor()
        >>> progression.predictors
        ('bmi', 'bp', 'sex')
        >>> bool(progression(data.loc[0]) == fit.predict(data)[0])
        True
        """
        return row_predictor(self.fit, type)

    def to_python(self, type: str = "response", *, name: str = "predict") -> str:
        """Return the source of a function in Python that predicts a row and needs no package.

        Its predictions are those of `predict`, bit by bit: sums are rounded to 32 bits, as the
        engine rounds them.  It takes much longer.

        Parameters
        ----------
        type : {"response", "class", "prob"}, default "response"
            What the function returns, as `row_predictor` does: a number, a label, or a dictionary
            of the classes and their probabilities.
        name : str, default "predict"
            The name of the function.

        Returns
        -------
        str
            Source text of the function and what it needs.  The function takes a mapping from the
            names of the columns to the values of a row.  None, NaN and pandas' missing values are
            empty cells.  Labels that no training row has count as `predict` counts them.  Where
            ``missing="drop"`` leaves rows out, or ``missing="raise"`` refuses them, it returns None
            for a class and NaN for a number.

        Raises
        ------
        InputError
            If `type` is unknown, or needs classes in a regression; if `name` is no name; if a
            term of the formula, or a column such as a date, is unknown to other languages.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("wine")
        >>> tree = odrf.odt("cultivar ~ .", data, seed=1)
        >>> there = {}
        >>> exec(tree.to_python(), there)
        >>> bool(there["predict"](data.loc[0]) == tree.predict(data)[0])
        True
        """
        return exported_python(self.fit, type, name)

    def to_c(self, type: str = "response", *, name: str = "predict") -> str:
        """Return the source of a function in C that predicts a row and needs no library.

        Its predictions are those of `predict`, bit by bit, with any compiler of C99 that follows
        the standard for floats: products and sums are stored in variables of 32 bits, so that they
        are never fused.  Do not compile it with ``-ffast-math``.

        Parameters
        ----------
        type : {"response", "class", "prob"}, default "response"
            What the function returns: the mean response, a double; the number of the class, an int,
            in the array ``predict_classes`` of the text; or it writes the probabilities of the
            classes to a second argument.
        name : str, default "predict"
            The name of the function, with which those of its row and its classes begin.

        Returns
        -------
        str
            Source text.  The function takes a pointer to a ``struct predict_row`` with a member
            for each column, in their order in the data: a double, NAN if the cell is empty; or a
            text in UTF-8, NULL if it is empty.  A character of a name that C does not allow is
            "_" there.  Where ``missing="drop"`` leaves rows out, or ``missing="raise"`` refuses
            them, the class is -1, and numbers are NAN.

        Raises
        ------
        InputError
            As by `to_python`; if C cannot hold a level or a class, such as whole numbers from 2**53
            on, of which a double does not tell one from the next, or levels of several types.

        Examples
        --------
        >>> import odrf
        >>> tree = odrf.odt("progression ~ bmi + bp", odrf.load_data("diabetes"), seed=1)
        >>> text = tree.to_c(name="progression")
        >>> "double progression(const struct progression_row *row) {" in text
        True
        """
        return exported_c(self.fit, type, name)

    def to_onnx(self) -> Any:
        """Return a model of ONNX, which many programs can run; it needs ``odrf[onnx]``.

        Its predictions are those of `predict`, bit by bit, where the program adds numbers as the
        model says; onnxruntime does.

        Returns
        -------
        onnx.ModelProto
            To be written with ``onnx.save(model, path)``.  It has an input of shape (n, 1) for each
            column that the formula uses: of doubles, in which NaN is an empty cell, or of text, in
            which "" is one; True and False are 1 and 0.  For a regression it returns
            ``prediction`` (n, 1), for classes ``label`` (n,) and ``probabilities`` (n, K), numbers
            as doubles.  Where ``missing="drop"`` leaves rows out, or ``missing="raise"`` refuses
            them, numbers are NaN and labels of text ""; labels that are numbers, or True and False,
            are doubles then.

        Raises
        ------
        InputError
            If onnx is not installed; if a term of the formula, or a column such as a date, is
            unknown to ONNX; if ONNX cannot hold a name, a level or a class, such as an empty text.

        Examples
        --------
        >>> import odrf
        >>> forest = odrf.odrf("cultivar ~ .", odrf.load_data("wine"), n_trees=5, seed=1)
        >>> model = forest.to_onnx()
        >>> [output.name for output in model.graph.output]
        ['label', 'probabilities']
        """
        return exported_onnx(self.fit)
