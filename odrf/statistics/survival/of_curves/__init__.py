"""How good predicted risks and survival curves are; arrays in, numbers out."""
