"""A report as a notebook: its text, and its claims as a table that needs no session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deepnb.citations.frames import citations_frame
from deepnb.citations.wording import claims_table
from deepnb.transcript.legible import legible_json

if TYPE_CHECKING:
    from deepnb.citations.report import Report

_METADATA = {
    "kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
    "language_info": {"name": "python"},
}


def to_notebook(report: Report) -> str:
    """Write a report as a notebook of one cell for its text and one for its claims."""
    import nbformat
    from nbformat import v4

    table = claims_table(report.citations, report.sources, report.settled)
    text = report.markdown.removesuffix(f"{table}\n").strip()
    frame = citations_frame(report.citations, report.settled)
    frame["settled"] = frame["settled"].astype("str")
    rows = legible_json(frame.fillna("").to_dict("records"))
    made: Any = v4.new_notebook(  # type: ignore[no-untyped-call]  # nbformat
        metadata=_METADATA,
        cells=[
            v4.new_markdown_cell(text, id="report"),  # type: ignore[no-untyped-call]  # nbformat
            _claims(rows, frame),
        ],
    )
    return str(nbformat.writes(made)) + "\n"  # type: ignore[no-untyped-call]  # nbformat


def _claims(rows: list[dict[str, str]], frame: Any) -> Any:
    from nbformat import v4

    # As literals of Python, which no text in them can leave.
    literals = "".join(f"    {row!r},\n" for row in rows)
    source = f"import pandas as pd\n\ncitations = pd.DataFrame([\n{literals}])\ncitations"
    output = v4.new_output(  # type: ignore[no-untyped-call]  # nbformat
        "execute_result",
        data={
            "text/html": frame.to_html(index=False, na_rep=""),
            "text/plain": frame.to_string(index=False, na_rep="", max_colwidth=60),
        },
        execution_count=1,
    )
    cell: Any = v4.new_code_cell(  # type: ignore[no-untyped-call]  # nbformat
        source, id="claims", execution_count=1, outputs=[output]
    )
    return cell
