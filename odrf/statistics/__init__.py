"""Conditions of theorems, inference, importance: arrays in, numbers out.

What is borrowed, and where nothing is, why.  statsmodels and scikit-learn are loaded at first use.

============================  ======================================================================
p-values of many tests        statsmodels: ``multipletests`` (Holm, Benjamini–Hochberg, Bonferroni)
exact intervals of shares     statsmodels: ``proportion_confint`` (Clopper and Pearson)
isotonic regression           SciPy: ``isotonic_regression``, equal to that of scikit-learn
ranks, t, F, χ², Nemenyi      SciPy: ``wilcoxon``, ``studentized_range``, distribution functions
formulas, splines             patsy
Platt's and beta maps         ours: slopes are not negative; those of statsmodels are free
hypotheses such as b2/b1 = 1  ours: those of patsy and statsmodels are linear
joint tests                   ours: those of statsmodels are methods of its own fitted models
Kaplan–Meier, incidences      ours: scores and pseudo-values need each row's influence on the curve
ROC areas, precision          ours: with standard errors, groups of rows, and a quick bootstrap
losses such as log loss       ours: one to three lines each
ridge regression              ours: predictions of stacks would change in their last digits
folds                         ours: weights, strata, groups and time; others would draw other rows
shrunken covariance           ours: nine lines, equal to those of scikit-learn, which is optional
autocorrelation               ours: fits use it, and to load statsmodels takes most of a second
tables in LaTeX and HTML      ours: those of statsmodels centre all cells, and leave Greek letters
                              as they are, which pdflatex refuses
============================  ======================================================================
"""
