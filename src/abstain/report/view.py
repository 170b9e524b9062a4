"""`View`: renders a result in every output format.

Each kind of result has one view (`RESULTS` of `registry`), which makes its tables, charts and page.
The rest is here and the same for all of them: the terminal, a pipe, Markdown, LaTeX, CSV, JSON, a
GitHub summary, a page, a notebook. A loaded result looks like a fresh one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, get_args

from msgspec.structs import replace

from abstain.errors import AbstainError, UsageError, plural
from abstain.measures import Measure, measure
from abstain.outcomes import SIDES
from abstain.report.grid import Cell, Grid, cell_texts
from abstain.report.result import Result

if TYPE_CHECKING:
    from abstain.features.rank.analysis import RankRow
    from abstain.features.score.result import Row
    from abstain.report.page import Page


ScoredRow: TypeAlias = "Row | RankRow"
"""A run with scores, in a slice or on all questions."""

BLANK_RUN = "answer nothing"
"""The reference that is the same beside every run."""
NOTHING, NONE = "nothing", "none"
"""A threshold that answers nothing, and no threshold: everything is answered."""


def label(run: str, reference: str | None = None) -> str:
    """A run, or the reference beside it.

    >>> label("a"), label("a", "oracle"), label("a", "answer nothing")
    ('a', 'a: oracle', 'answer nothing')
    """
    if reference == BLANK_RUN:
        return BLANK_RUN
    return f"{run}: {reference}" if reference else run


def first_few(names: Iterable[str], most: int = 3) -> str:
    """Names in a sentence, each once: the first few, and how many more there are.

    >>> first_few("abba"), first_few("abcde")
    ('a, b', 'a, b, c and 2 more')
    """
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - most} more" if len(unique) > most else ""
    return ", ".join(unique[:most]) + more


def undefined_sentences(result: Iterable[tuple[str, Mapping[str, str]]]) -> list[str]:
    """A sentence for each undefined measure and reason, from pairs of run and {measure: reason}.

    >>> undefined_sentences([("a", {"F": "nothing is right"}), ("b", {"F": "nothing is right"})])
    ['F is undefined (–) where nothing is right: a, b.']
    """
    whose: dict[tuple[str, str], list[str]] = {}
    for who, reasons in result:
        for item in reasons.items():
            whose.setdefault(item, []).append(who)
    return [
        f"{name} is undefined (–) where {reason}: {first_few(item)}."
        for (name, reason), item in whose.items()
    ]


def policy_words(policy: Mapping[str, str], touched: Mapping[str, int]) -> list[str]:
    """What the policy made of how many blanks; empty if there are none.

    >>> policy_words({"empty": "unanswered", "declined": "wrong"}, {"empty": 2})
    ['Policy: 2 empty → unanswered.']
    """
    called = {SIDES[1]: "blank where unanswerable"}
    parts = [
        f"{touched[why]:,} {called.get(why, why)} → {end}"
        for why, end in policy.items()
        if touched.get(why)
    ]
    return [f"Policy: {', '.join(parts)}."] if parts else []


def sentence(note: str, names: Iterable[str] = ()) -> str:
    """A note with a capital and a full stop; symbols and names (`names`) keep their case.

    >>> sentence("some rows were left out"), sentence("c@1 is low"), sentence("bold won", ["bold"])
    ('Some rows were left out.', 'c@1 is low.', 'bold won.')
    """
    plain = re.match(r"[a-z]+(['’-][a-z]+)*[,:]?(\s|$)", note)
    named = any(re.match(rf"{re.escape(name)}\b", note) for name in names if name)
    text = note[:1].upper() + note[1:] if plain and not named else note
    return text if text.endswith((".", "!", "?")) else text + "."


def listed(items: Sequence[str]) -> str:
    """All items in a sentence.

    >>> listed("a"), listed("abc")
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def count_text(value: float) -> str:
    """A count in a sentence, whole however large it is.

    >>> count_text(2_000_000.0), count_text(1.5)
    ('2,000,000', '1.5')
    """
    return cell_texts([value], "count", 0)[0]


def score_text(value: float | None, digits: int = 4) -> str:
    return cell_texts([value], "score", digits)[0]


def p_text(p: float | None) -> str:
    """A p-value as people read it.

    >>> p_text(0.04211), p_text(1e-9)
    ('0.0421', '<0.0001')
    """
    if p is None:
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def threshold_cell(value: float | None) -> Cell:
    """A threshold in a table: data files have all digits of a number, the screen a few."""
    if value is None:
        return NONE
    return NOTHING if math.isinf(value) else value


def threshold_text(value: float | None) -> str:
    """A threshold as people read it.

    >>> threshold_text(0.5), threshold_text(0.999998), threshold_text(math.inf)
    ('0.5', '0.999998', 'nothing')
    """
    return cell_texts([threshold_cell(value)], "text", 0)[0]


def few(notes: Sequence[str], most: int = 5) -> list[str]:
    """The first notes, and how many more there are."""
    more = len(notes) - most
    return [*notes[:most], *([f"and {plural(more, 'note')} more"] if more > 0 else [])]


def known_measure(name: str) -> Measure | None:
    """A measure by its name; None if this version does not have it."""
    try:
        return measure(name)
    except AbstainError:
        return None


def measure_summary(name: str) -> str:
    """A measure in half a sentence; empty if no measure has that name."""
    item = known_measure(name)
    text = "" if item is None else item.definition.summary
    return text[:1].lower() + text[1:].rstrip(".")


def slice_text(row: ScoredRow) -> str:
    return ", ".join(f"{name} {value or '–'}" for name, value in row.slice.items())


def undefined_words(rows: Sequence[ScoredRow]) -> list[str]:
    """Which scores do not exist, and why."""
    return undefined_sentences((label(row.run, row.reference), row.undefined) for row in rows)


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

R = TypeVar("R", bound=Result)
Charts: TypeAlias = dict[str, dict[str, Any]]


class View(Generic[R]):
    """A result and how it looks; each kind of result overrides `tables`, and what else differs."""

    def __init__(self, result: R) -> None:
        self.result = result

    def tables(self, **options: Any) -> list[Grid]:
        """Its tables, the main one first; notes stand below the last."""
        raise NotImplementedError

    def on_terminal(self, **options: Any) -> list[Grid]:
        """Its tables on a terminal: the same as `tables`, unless a kind overrides it."""
        return self.tables(**options)

    def whole(self, **options: Any) -> Grid:
        """The one table that CSV holds."""
        return self.tables(**options)[0]

    def charts(self) -> Charts:
        """Its charts by name, the main one first."""
        return {}

    def main_first(self, **options: Any) -> Charts:
        """Its charts; the first one belongs to the table that `options` select."""
        return self.charts()

    def page(self) -> Page:
        """The page: all rows of its tables, their notes and its charts; a kind may override it."""
        from abstain.report.page import Figure, PageTable, Section, page_of

        grids = self.tables(most=0)
        tables = [
            PageTable(f"table-{n}", grid.title or "Results", "", grid, page_size=50)
            for n, grid in enumerate(grids, 1)
        ]
        figures = [
            Figure(name, (head := spec["title"]).get("subtitle", name), spec, title=head["text"])
            for name, spec in self.charts().items()
            if spec["data"]["values"]
        ]
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

    def text(
        self, format: Format = "table", *, digits: int = 4, width: int | None = None, **options: Any
    ) -> str:
        """The result in one of its looks, as text; the width is that of a terminal."""
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
        return "\n".join(grid_text(grid, format, digits, width) for grid in grids)

    def trec_eval(self) -> str:
        """The result as trec_eval prints scores: measure, query, value."""
        raise UsageError(f"a result of `abstain {self.result.kind}` has no scores of rankings")

    def html(self, *, title: str = "") -> str:
        from abstain.report.page import render

        page = self.page()
        return render(replace(page, title=title) if title else page)

    def notebook(self) -> str:
        """The tables as a notebook shows them, with the main chart."""
        from abstain.report.page import notebook

        return notebook(self.tables(), self.charts())

    def save(self, path: Path, *, digits: int = 4, **options: Any) -> None:
        """Write the look that the name ends in; a failure leaves no partial file."""
        ending = path.suffix.lower()
        if ending in PICTURES:
            self.draw(path, **options)
        elif ending in ENDINGS:
            from abstain.io.output import write_text

            write_text(path, self.text(ENDINGS[ending], digits=digits, **options))
        else:
            known = ", ".join((*ENDINGS, *PICTURES))
            raise UsageError(f"{path}: expected a name that ends in {known}")

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
