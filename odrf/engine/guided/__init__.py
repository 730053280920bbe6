"""Guided growth (GRAF, Gupta et al.): every plane divides all impure regions that it cuts."""
