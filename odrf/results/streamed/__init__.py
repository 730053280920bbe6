"""Results of forests whose rows came in chunks."""
