"""`View`: how a result looks, whatever it is shown on.

A kind of result has one view (its feature's `view.py`), which says its tables, charts and page.
Everything else is here and alike for all of them: the terminal, a pipe, Markdown, LaTeX, CSV,
JSON, a GitHub summary, a page, a notebook. A loaded result looks as the fresh one did.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, get_args

from msgspec.structs import replace

from abstain.errors import UsageError
from abstain.io.output import write_text
from abstain.report.grid import Grid
from abstain.report.result import Result

if TYPE_CHECKING:
    from abstain.report.page import Page

Shared: TypeAlias = Literal["table", "json", "csv", "markdown", "latex", "github", "html"]
Format: TypeAlias = Shared | Literal["trec_eval"]
FORMATS: tuple[Format, ...] = get_args(Shared)
"""The looks that every result has; rankings have one more."""

ENDINGS: dict[str, Format] = {
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".tex": "latex",
    ".txt": "table",
    ".html": "html",
    ".htm": "html",
}
"""The look that a file's name asks for."""
PICTURES = (".svg", ".png")
PRINTED = 80
"""Columns that `print` may take."""

R = TypeVar("R", bound=Result)
Charts: TypeAlias = dict[str, dict[str, Any]]


class View(Generic[R]):
    """A result and how it looks; a kind's own view says `tables`, and what else it has."""

    def __init__(self, result: R) -> None:
        self.result = result

    # ------------------------------------------------------------- what a kind of result says

    def tables(self, **options: Any) -> list[Grid]:
        """Its tables, the main one first; notes stand below the last."""
        raise NotImplementedError

    def on_terminal(self, **options: Any) -> list[Grid]:
        """Its tables where a line has a width: as elsewhere, unless a kind says more."""
        return self.tables(**options)

    def whole(self, **options: Any) -> Grid:
        """The one table that CSV holds."""
        return self.tables(**options)[0]

    def charts(self) -> Charts:
        """Its charts by name, the main one first."""
        return {}

    def main_first(self, **options: Any) -> Charts:
        """Its charts with the one first that belongs to the table that `options` ask for."""
        return self.charts()

    def page(self) -> Page:
        """The page: its tables, whole, their notes and its charts; a kind may have more to say."""
        from abstain.report.page import Figure, PageTable, Section, page_of

        grids = self.tables(most=0)
        tables = [
            PageTable(f"table-{n}", grid.title or "Results", "", grid, page_size=50)
            for n, grid in enumerate(grids, 1)
        ]
        figures = [Figure(name, name, spec, title=name) for name, spec in self.charts().items()]
        sentences = [note for grid in grids for note in grid.notes]
        section = Section("results", "Results", sentences=sentences, tables=tables, figures=figures)
        return page_of(self.result, self.title(), sentences[0] if sentences else "", [section])

    def title(self) -> str:
        """What its page is called."""
        return f"abstain {self.result.kind}"

    def line(self) -> str:
        """The result in one line: what a debugger or a list of results shows."""
        name = type(self.result).__name__
        shape = self.result.to_frame().shape
        return f"<{name}: {shape[0]:,} rows × {shape[1]} columns>"

    # ------------------------------------------------------------------ the same for all kinds

    def text(self, format: Format = "table", *, digits: int = 4, **options: Any) -> str:
        """The result in one of its looks, as text."""
        match format:
            case "json":
                return self.result.to_json()
            case "html":
                return self.html()
            case "trec_eval":
                return self.trec_eval()
            case "csv":
                return grid_text(self.whole(**options), format)
            case "table":
                grids = self.on_terminal(digits=digits, **options)
            case _:
                grids = self.tables(digits=digits, **options)
        return "\n".join(grid_text(grid, format, digits) for grid in grids)

    def trec_eval(self) -> str:
        """The result as trec_eval prints scores: measure, query, value."""
        raise UsageError(f"a result of `abstain {self.result.kind}` has no scores of rankings")

    def plain(self) -> str:
        """The result as a terminal of 80 columns shows it: what `print` prints."""
        return "\n".join(grid_text(grid, "table", 4, PRINTED) for grid in self.on_terminal())

    def html(self, *, title: str = "") -> str:
        """The page as HTML."""
        from abstain.report.html import render

        page = self.page()
        return render(replace(page, title=title) if title else page)

    def notebook(self) -> str:
        """The tables as a notebook shows them, with the main chart."""
        from abstain.report.html import notebook

        return notebook(self.tables(), self.charts())

    def save(self, path: Path, *, digits: int = 4, **options: Any) -> None:
        """Write the look that the name ends in; a failure leaves no partial file."""
        ending = path.suffix.lower()
        if ending in PICTURES:
            self.draw(path, **options)
            return
        if ending not in ENDINGS:
            known = ", ".join((*ENDINGS, *PICTURES))
            raise UsageError(f"{path}: expected a name that ends in {known}")
        write_text(path, self.text(ENDINGS[ending], digits=digits, **options))

    def draw(self, path: Path, **options: Any) -> None:
        """Draw the main chart: .svg, .png, .html or .json; a folder gets all of them."""
        from abstain.report.charts import write_charts

        charts = self.main_first(**options)
        if not charts:
            raise UsageError(f"a result of `abstain {self.result.kind}` has no chart here")
        write_charts(charts, path)


def grid_text(grid: Grid, look: Format, digits: int = 4, width: int | None = None) -> str:
    """A table in one of its looks; the width is that of a terminal."""
    if look == "table":
        from abstain.report.terminal import terminal_text

        return terminal_text(grid, digits, width)
    from abstain.report import text_formats

    if look == "csv":
        return text_formats.to_csv(grid)
    writers = {"markdown": text_formats.to_markdown, "latex": text_formats.to_latex}
    return writers.get(look, text_formats.to_github)(grid, digits=digits)
