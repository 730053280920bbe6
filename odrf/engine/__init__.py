"""The engine: arrays in, arrays out.  Nothing here knows names, formulas or data frames."""
