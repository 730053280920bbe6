"""``python -m odrf`` is the command ``odrf``."""

import sys

from odrf.cli import main

sys.exit(main())
