"""``python -m odrf`` is the command ``odrf``."""

import sys

from odrf.cli.running import main

sys.exit(main())
