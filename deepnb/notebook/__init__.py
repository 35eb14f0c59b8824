"""What a notebook has beside Python: magics.

They are a thin door: everything they do, `deepnb.Session` does.
"""

from __future__ import annotations
