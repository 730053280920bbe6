"""A stack of models: smoothers, weights, the fit, and how it is grown."""
