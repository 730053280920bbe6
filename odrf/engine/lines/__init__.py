"""Trees whose leaves are lines: hinges as splits, and a line of few predictors in each leaf."""
