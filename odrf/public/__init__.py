"""What every public function does with its arguments before its own work."""

from odrf.public.arguments import (
    in_partitions,
    public,
    public_method,
    respelled,
    taking,
    warn_of_old,
)
from odrf.public.docstrings import documented
from odrf.public.frames import in_pandas

__all__ = [
    "documented",
    "in_pandas",
    "in_partitions",
    "public",
    "public_method",
    "respelled",
    "taking",
    "warn_of_old",
]
