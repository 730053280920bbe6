"""``python -m odrf`` is the command ``odrf``."""

import sys

from odrf.cli.commands import main

sys.exit(main())
