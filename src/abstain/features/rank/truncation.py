"""What truncation does to scores: the reports and figures of Liu, Moffat, Baldwin, Zhang (2016)."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
import polars as pl
from msgspec.structs import astuple, replace

from abstain.errors import plural
from abstain.measures import Measure, definitions
from abstain.measures.kinds import RankingMeasure
from abstain.measures.ranked_lists import Floats, Ints
from abstain.measures.registry import measure_of
from abstain.outcomes import Undefined
from abstain.rankings.rankings import Rankings
from abstain.report import charts, view
from abstain.report.grid import Cell, Column, Grid, columns_of
from abstain.report.result import Facts, Result, number, read_as
from abstain.stats.orderings import kendall_tau_b

BINS = 40  # lengths are counted one by one up to so many, in as many ranges beyond
AFTER = Column("", "count", joined=True, short="after")

NAMED, LABELLED = 20, 60
"""Inverted pairs that a table names, and runs that a chart joins; runs whose points have names."""


class Lengths(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How long one run's lists are, as returned and as scored."""

    lists: int
    mean_before: Annotated[float | None, Column("mean before", "count")]
    mean_after: Annotated[float | None, replace(AFTER, name="mean after")]
    median_before: Annotated[float | None, Column("median before", "count")]
    median_after: Annotated[float | None, replace(AFTER, name="median after")]
    empty: int
    by_nil: Annotated[int, Column("by {nil}", "count")]
    at_limit: Annotated[int, Column("at limit", "count")]
    truncated: int

    @property
    def share(self) -> float | None:
        return self.truncated / self.lists if self.lists else None


class Histogram(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How many lists of all runs have which length."""

    edges: tuple[int, ...]
    """Where ranges of lengths begin, and where the last one ends: one more than there are."""
    before: tuple[int, ...]
    after: tuple[int, ...]


class Both(Facts, frozen=True):
    """A run's mean by the original measure and by the primed one."""

    original: float | None
    primed: float | None


class Inversion(Facts, frozen=True):
    """Two runs, the first ahead by the original measure, the second by the primed one."""

    first: str
    second: str
    first_ahead_by: float
    second_ahead_by: float


class Pair(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """An original measure and its primed kin over all runs."""

    original: str
    primed: str
    scores: dict[str, Both]
    kendall_tau: float | None
    undefined: str | None = None
    inverted: tuple[Inversion, ...] = ()
    """The largest first."""


class TruncationResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="truncation"):
    """What truncation does to the scores of some runs."""

    nil: str = "NIL"
    same_lists: bool = False
    """Whether the original measures score the lists that the primed ones score."""
    nil_is_right: bool = False
    """Whether NIL is a right answer to the original measures where nothing is relevant."""
    lengths: dict[str, Lengths]
    histogram: Histogram
    pairs: tuple[Pair, ...] = msgspec.field(name="measures")

    def _frame(self, table: str) -> pl.DataFrame:
        columns: dict[str, Any] = {
            "share_truncated": [each.share for each in self.lengths.values()]
        }
        for pair in self.pairs:
            columns[pair.original] = [both.original for both in pair.scores.values()]
            columns[pair.primed] = [both.primed for both in pair.scores.values()]
        schema = {"run": pl.String} | dict.fromkeys(columns, pl.Float64)
        return pl.DataFrame({"run": list(self.lengths), **columns}, schema=schema)


def truncation(
    rankings: Rankings, *, p: float | Sequence[float] | None = None, same_lists: bool = False
) -> TruncationResult:
    """Report on rankings that were read, as Quit While Ahead does.

    As in the paper the original measures score lists with NIL as an answer, the primed ones lists
    that NIL ends; with `same_lists` both score the lists as they were read. `p` is that of RBP:
    0.5 as in the paper, or 0.8 for the same lists. An original measure that is undefined counts 0,
    as in trec_eval, so that both are means over the same queries.
    """
    before = rankings if same_lists else rankings.with_nil(as_answer=True)
    after = rankings if same_lists else rankings.with_nil(as_answer=False)
    lengths, histogram = _lengths(after)
    depths = (p,) if isinstance(p, (int, float)) else tuple(p or (0.8 if same_lists else 0.5,))
    return TruncationResult(
        **read_as(rankings),
        nil=rankings.settings.nil or "NIL",
        same_lists=same_lists,
        nil_is_right=before.settings.nil_as_answer,
        lengths=lengths,
        histogram=histogram,
        pairs=tuple(_pair(before, after, *both) for both in _pairs(after, depths)),
    )


def asked_depths(measures: Sequence[RankingMeasure]) -> list[float]:
    primed = [d for d in definitions("ranking").values() if d.original]
    kin = {name for d in primed for name in (d.name, d.original)}
    asked = [m.arguments["p"] for m in measures if m.name in kin and "p" in m.arguments]
    return list(dict.fromkeys(asked))


def _pairs(rankings: Rankings, depths: Sequence[float]) -> Iterator[tuple[Measure, Measure]]:
    """Originals and what modifies them, such that the end of a list is all that they differ in.

    With grades other than 1, an original that asks what is relevant has kin that ask the same. One
    whose ideal list ends compares a list at the limit with an ideal of that length, which is what
    its original does with that cutoff.
    """
    grade, limit = rankings.lists.pool.grade, rankings.settings.limit
    graded = bool(((grade > 0) & (grade != 1)).any())
    known = definitions("ranking")
    for primed in known.values():
        if not primed.original:
            continue
        original = known[primed.original]
        asks = {parameter.name: parameter.default for parameter in original.parameters}
        both = asks.keys() & {parameter.name for parameter in primed.parameters}
        every = [[f"p={p!r}"] for p in depths] if "p" in both else [[]]
        rel = f"rel={asks['rel']!r}" if graded and "rel" in both and asks["rel"] else ""
        cutoff = str(limit) if primed.ideal_ends and limit is not None else None
        for shared in map(", ".join, every):
            asked = ", ".join(filter(None, [shared, rel]))
            yield measure_of(original, shared or None, cutoff), measure_of(primed, asked or None)


def ends_of(rankings: Rankings) -> list[dict[str, int]]:
    lists, limit = rankings.lists, rankings.settings.limit
    stopped = lists.by_run(lists.stopped)
    reach = lists.returned if limit is None else np.minimum(lists.returned, limit)
    by_nil = stopped & lists.by_run(lists.depth < reach)
    return [
        {
            "lists": int(counted.sum()),
            "truncated": int((stopped[i] & counted).sum()),
            "by_nil": int(by_nil[i].sum()),
            "at_limit": int((~stopped[i]).sum()),
        }
        for i, counted in enumerate(rankings.counted)
    ]


def _lengths(rankings: Rankings) -> tuple[dict[str, Lengths], Histogram]:
    lists, counted = rankings.lists, rankings.counted
    returned, depth = lists.by_run(lists.returned), lists.by_run(lists.depth)
    lengths = {}
    for i, (run, ends) in enumerate(zip(rankings.runs, ends_of(rankings), strict=True)):
        before, after = returned[i, counted[i]], depth[i, counted[i]]
        averages: dict[str, Any] = {
            f"{name}_{when}": float(average(values)) if len(values) else None
            for name, average in (("mean", np.mean), ("median", np.median))
            for when, values in (("before", before), ("after", after))
        }
        lengths[run] = Lengths(**averages, empty=int((after == 0).sum()), **ends)
    return lengths, _histogram(returned[counted], depth[counted])


def _histogram(before: Ints, after: Ints) -> Histogram:
    longest = int(max(before.max(initial=0), after.max(initial=0)))
    edges = np.unique(np.linspace(0, longest + 1, min(longest + 1, BINS) + 1).astype(np.int64))
    counts = [np.histogram(lengths, edges)[0].tolist() for lengths in (before, after)]
    return Histogram(edges=tuple(edges.tolist()), before=tuple(counts[0]), after=tuple(counts[1]))


def _pair(before: Rankings, after: Rankings, original: Any, primed: Any) -> Pair:
    first, second = _means(before, original), _means(after, primed)
    tau = agreement(first, second)
    return Pair(
        original=str(original),
        primed=str(primed),
        scores={
            run: Both(number(one), number(two))
            for run, one, two in zip(after.runs, first, second, strict=True)
        },
        kendall_tau=number(tau),
        undefined=tau.reason if isinstance(tau, Undefined) else None,
        inverted=tuple(inversions(after.runs, first, second)),
    )


def _means(rankings: Rankings, item: RankingMeasure) -> Floats:
    values = rankings.lists.by_run(np.nan_to_num(item.values(rankings.lists), nan=0.0))
    counts = rankings.counted.sum(axis=1)
    sums = np.where(rankings.counted, values, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def inversions(runs: Sequence[str], first: Floats, second: Floats) -> list[Inversion]:
    ahead = first[:, None] - first[None, :]
    behind = second[None, :] - second[:, None]
    rows, columns = np.nonzero((ahead > 1e-12) & (behind > 1e-12))
    pairs = [
        Inversion(runs[i], runs[j], float(ahead[i, j]), float(behind[i, j]))
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    return sorted(pairs, key=lambda each: -min(each.first_ahead_by, each.second_ahead_by))


def agreement(first: Floats, second: Floats) -> float:
    """Kendall's τ (b); undefined where there is nothing to order."""
    known = ~(np.isnan(first) | np.isnan(second))
    if known.sum() < 2:
        return Undefined("there are fewer than two runs")
    one, two = (np.round(scores[known], 12) for scores in (first, second))
    if np.ptp(one) == 0 or np.ptp(two) == 0:
        return Undefined("all runs have the same score")
    return kendall_tau_b(one, two)


class View(view.View[TruncationResult]):
    def tables(self, **options: Any) -> list[Grid]:
        grids = [self._lengths(), self._scores(), self._agreement()]
        if any(pair.inverted for pair in self.result.pairs):
            grids.append(self._inverted())
        grids[-1].notes += [view.sentence(note, self.result.lengths) for note in self.result.notes]
        return grids

    def whole(self, **options: Any) -> Grid:
        return self._scores()

    def beside(self, scored: Grid) -> Grid:
        added = self._scores()
        cells = {row[0]: row[1:] for row in added.rows}
        share, *scores = added.columns[1:]
        renamed = [replace(column, name=f"{column.name} (truncation)") for column in scores]
        run = [column.name for column in scored.columns].index("run")
        rows = [[*row, *cells[row[run]]] for row in scored.rows]
        return Grid([*scored.columns, share, *renamed], rows, notes=scored.notes)

    def _lengths(self) -> Grid:
        lengths = self.result.lengths
        names = [name for name in Lengths.__struct_fields__ if name != "truncated"]
        columns = columns_of(Lengths, [*lengths.values()], *names, nil=self.result.nil)
        title = f"Lengths of lists, {self._before_and_after()}"
        return Grid.of([(Column("run"), [*lengths]), *columns], title=title)

    def _before_and_after(self) -> str:
        return f"before and after cutting at {self.result.nil} and at the limit"

    def _scores(self) -> Grid:
        """Share truncated, original and primed scores of each run (Figures 2 and 3)."""
        lengths = self.result.lengths
        shares = [None if each.share is None else 100 * each.share for each in lengths.values()]
        columns: list[tuple[Column, list[Any]]] = [
            (Column("run"), list(lengths)),
            (Column("truncated %", "percent"), shares),
        ]
        for pair in self.result.pairs:
            original, primed = zip(*map(astuple, pair.scores.values()), strict=True)
            columns.append((Column(pair.original, "score"), list(original)))
            heading = Column(pair.primed, "score", joined=True, short=pair.primed)
            columns.append((heading, list(primed)))
        title = "Original and primed scores, and the share of lists that the system ended"
        return Grid.of(columns, title=title, notes=[self._compared()])

    def _compared(self) -> str:
        result, nil = self.result, self.result.nil
        lists = "the same lists as the primed measures"
        if result.nil_is_right and not result.same_lists:
            lists = f"lists with {nil} as an answer, the primed measures lists cut at {nil}"
        right = f"{nil} as a right answer" if result.nil_is_right else "0"
        return (
            f"The original measures score {lists}. If a query has nothing relevant, the original "
            f"measures count {right}; the primed measures count 0 for a list at the limit."
        )

    def _agreement(self) -> Grid:
        pairs = self.result.pairs
        reasons = sorted({pair.undefined for pair in pairs if pair.undefined is not None})
        columns: list[tuple[Column, list[Any]]] = [
            (Column("measures"), [f"{pair.original} / {pair.primed}" for pair in pairs]),
            (Column("Kendall's τ", "score"), [pair.kendall_tau for pair in pairs]),
            (Column("inverted", "count"), [len(pair.inverted) for pair in pairs]),
        ]
        notes = [f"τ is undefined (–): {reason}." for reason in reasons]
        return Grid.of(columns, title="Agreement of the two orderings of the runs", notes=notes)

    def _inverted(self) -> Grid:
        columns = [Column("measures"), Column("ahead (original)"), Column("ahead (primed)")]
        columns += [Column("by", "score"), Column("by (primed)", "score", short="primed")]
        rows: list[list[Cell]] = [
            [f"{pair.original} / {pair.primed}", *astuple(each)]
            for pair in self.result.pairs
            for each in pair.inverted[:NAMED]
        ]
        title = "Pairs of runs that change places"
        if any(len(pair.inverted) > NAMED for pair in self.result.pairs):
            title += f", the {NAMED} largest inversions of each measure (JSON has all)"
        return Grid(columns, rows, title=title)

    def charts(self) -> view.Charts:
        specs = {"lengths": self._lengths_chart()}
        for pair in self.result.pairs:
            name = re.split(r"[(@]", pair.original)[0].lower()
            if f"original-primed-{name}" in specs:  # RBP with another p
                name = f"{name}-{len(specs)}"
            specs[f"original-primed-{name}"] = self._scores_chart(pair)
            specs[f"share-truncated-{name}"] = self._share_chart(pair)
        return specs

    def _lengths_chart(self) -> dict[str, Any]:
        """Bars side by side, before and after, at every length (Figure 1)."""
        histogram = self.result.histogram
        bins = zip(histogram.edges, histogram.edges[1:], strict=False)
        names = ["–".join(map(str, dict.fromkeys((low, high - 1)))) for low, high in bins]
        rows = [
            {"length": name, "lists": count, "when": when}
            for when, counts in (("before", histogram.before), ("after", histogram.after))
            for name, count in zip(names, counts, strict=True)
        ]
        titles = {"x_title": "documents in a list", "x_type": "nominal", "sort": names}
        layer = charts.bars("length", "lists", colour="when", zero=True, **titles)
        layer["encoding"]["xOffset"] = {"field": "when", "sort": ["before", "after"]}
        layer["encoding"]["x"]["axis"] = {"labelAngle": 0, "labelOverlap": True}
        layer["encoding"]["color"]["sort"] = ["before", "after"]
        return charts.chart("Lengths of lists", rows, [layer], subtitle=self._before_and_after())

    def _scores_chart(self, pair: Pair) -> dict[str, Any]:
        ordered = sorted(pair.scores.items(), key=lambda item: item[1].original or 0.0)
        rows = [
            {"run": run, "original": both.original, "primed": both.primed, "side": at % 2}
            for at, (run, both) in enumerate(ordered)
        ]
        titles = {"x_title": pair.original, "y_title": pair.primed}
        diagonal = charts.lines("original", "original", **titles)
        diagonal["mark"] |= {"color": "#c9ced6", "strokeDash": [4, 4]}
        layers = [diagonal, charts.points("original", "primed", **titles)]
        for side, align in enumerate(("right", "left") if len(rows) <= LABELLED else ()):
            names = charts.points("original", "primed", **titles)
            names["mark"] = {"type": "text", "align": align, "dx": 12 * side - 6, "fontSize": 8}
            names["encoding"]["text"] = {"field": "run"}
            layers.append({"transform": [{"filter": f"datum.side == {side}"}], **names})
        inverted = plural(len(pair.inverted), "inverted pair of runs", "inverted pairs of runs")
        heading, about = f"{pair.original} and {pair.primed}", f"{inverted}; dashed: equal scores"
        return charts.chart(heading, rows, layers, subtitle=about, height=560)

    def _share_chart(self, pair: Pair) -> dict[str, Any]:
        """A run's scores over the share of its lists that it ended; the best joined (Figure 3)."""
        names = [pair.original, pair.primed]
        scores = {run: both.original or 0.0 for run, both in pair.scores.items()}
        best = sorted(scores, key=lambda run: -scores[run])[:NAMED]
        rows = [
            {"run": run, "truncated": 100 * lengths.share, "score": score, "measure": name}
            | {"best": run in best}
            for run, lengths in self.result.lengths.items()
            if lengths.share is not None
            for name, score in zip(names, astuple(pair.scores[run]), strict=True)
        ]
        title = "lists ended by the system, %"
        joined = charts.lines("truncated", "score", x_title=title)
        joined["mark"] |= {"color": "#9aa5b3", "strokeWidth": 1}
        joined["encoding"]["detail"] = {"field": "run"}
        joined = {"transform": [{"filter": "datum.best"}], **joined}
        both = charts.points("truncated", "score", colour="measure", x_title=title)
        both["encoding"]["color"]["sort"] = names
        about = f"joined: both scores of the best {len(best)} by {pair.original}"
        return charts.chart(f"{pair.original} and truncation", rows, [joined, both], subtitle=about)

    def title(self) -> str:
        return f"Truncation of {plural(len(self.result.lengths), 'run')}"
