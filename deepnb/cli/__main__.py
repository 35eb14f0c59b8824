"""`python -m deepnb.cli` is the `deepnb` command."""

from __future__ import annotations

import sys

from deepnb.cli import main

if __name__ == "__main__":
    sys.exit(main())
