"""One tree that imitates a fit."""

from __future__ import annotations

from odrf.checks import Seed, checked_seed, checked_truth, checked_whole
from odrf.design.folds import Folds
from odrf.fits.explain import imitated
from odrf.fits.responses import leaves_rows_out
from odrf.public import public
from odrf.reports.explain import Surrogate
from odrf.results.explaining.explained import Explained
from odrf.results.tree import ODTResults

__all__ = ["SurrogateTreeResults"]


@public
class SurrogateTreeResults(Explained):
    """Base class of results that one tree can imitate: of all but single trees."""

    def surrogate(
        self,
        max_leaves: int = 8,
        *,
        cv: Folds = 10,
        seed: Seed = None,
        progress: bool = False,
    ) -> Surrogate[ODTResults]:
        """Return one pruned oblique tree that imitates the predictions of the fit.

        The tree is grown on the fit's predictions of the training rows, and pruned to at most
        `max_leaves` leaves.  Its fidelity says how much of the fit it repeats.  Of a fit with
        offsets it imitates predictions at an offset of 0: of counts, those of one unit of exposure.

        Parameters
        ----------
        max_leaves : int, default 8
            The most leaves: as many as can be read.  The tree has fewer if the larger trees of its
            pruning path have a larger error by cross-validation.
        cv : int, array-like or splitter, default 10
            The folds that choose the tree's size and judge it; as in `ODTResults.pruning_path`.
        seed : int, SeedSequence or Generator, optional
            By default that of the fit.
        progress : bool, default False
            Show a progress bar over the folds.

        Returns
        -------
        Surrogate
            With the tree, its fidelity, and the errors of both against the response.

        Raises
        ------
        InputError
            If an argument is invalid; if the fit predicts the same for all rows, or was saved
            without its rows.

        Notes
        -----
        The rows that judge were not in the tree's training rows, but in those of the fit.  So the
        fidelity is that of the imitation, and the error of the tree against the response is a
        little too small.

        Of classes, the tree has a copy of each row for each class, weighted by its probability.  So
        its own summary counts copies, and its training error is that of drawing a class at random.
        Its nodes, and the drawn tree, count each row once.

        References
        ----------
        M. W. Craven and J. W. Shavlik (1996). Extracting tree-structured representations of trained
        networks. NeurIPS.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("breast_cancer")
        >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
        >>> bool(forest.surrogate(max_leaves=4).agreement > 0.9)
        True
        """
        leaves = checked_whole("max_leaves", max_leaves, 2)
        chosen = self.seed if seed is None else checked_seed(seed)
        imitation = imitated(self.fit, leaves, cv, chosen, checked_truth("progress", progress))
        tree = ODTResults(imitation.fit)
        if leaves_rows_out(self.fit):
            return Surrogate(self.call, imitation, tree, self._scored_error, "out of bag")
        return Surrogate(self.call, imitation, tree, self.training_error, "in training")
