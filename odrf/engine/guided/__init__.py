"""Guided growth: every plane is offered to all regions that are not pure (Gupta et al., GRAF)."""
