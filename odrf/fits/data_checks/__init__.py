"""Looking for what is visibly wrong with the data of a new fit."""
