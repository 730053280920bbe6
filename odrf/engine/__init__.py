"""The engine: arrays in, arrays out.  Nothing here knows formulas or data frames.

The names of options are read above the engine, but for the losses of boosting: see
`odrf.engine.boosting.losses`.
"""
