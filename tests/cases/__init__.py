"""Random cases by seed: tables, formulas and options, every method asked, every outcome judged."""
