"""Laws of forests on simulated problems: consistency, rates, strength, bias and variance."""
