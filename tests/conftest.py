"""What all tests have in common."""

from __future__ import annotations

from hypothesis import settings

# Kernels compile within an example, and other tests run beside it: time says nothing of it.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
