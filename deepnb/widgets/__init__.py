"""What a person sees and clicks: the panel in the output cell.

The kernel's side is here, the browser's in `frontend/`, and `protocol` is all that they know of
each other. Nothing in this room imports LangGraph: a panel shows a session's events and calls its
methods, as a notebook's cells do.
"""
