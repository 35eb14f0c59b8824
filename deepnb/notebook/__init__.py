"""What a notebook has beside Python: magics, and a doctor that knows what it can do.

The magics are a thin door: everything they do, `deepnb.Session` does.
"""

from __future__ import annotations
