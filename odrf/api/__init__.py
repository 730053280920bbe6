"""The functions that fit a model: `odt`, `odrf`, `odbt` and `graf`."""
