import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import polars as pl
from msgspec import structs

from abstain.errors import UsageError, plural, shown, some_of
from abstain.features.cut.rules import SCORES, Rule
from abstain.io.output import whole
from abstain.io.tables import format_of_name, write_table
from abstain.rankings.sources import TREC, RunOrigin, open_source
from abstain.reading import Reading
from abstain.report.grid import Column, frame_of_rows
from abstain.report.result import Facts, Result

NIL = "NIL"  # the document of an empty list
OF_NUMBER = "of the number before it"


def interval_text(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "–"
    return f"[{low:z.3f}, {high:z.3f}]".replace("-", "−")


class CutRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A rule or a reference, judged on queries it was not chosen on."""

    run: Annotated[str, Column(plain=True)]
    rule: Annotated[str, Column(means="how lists are cut; auto chooses a rule")]
    reference: bool = False
    """Whether it is there to compare with: nothing, everything, top 10, oracle."""
    score: Annotated[float | None, Column("{measure}", "score")]
    """The mean over queries, held out."""
    low: float | None
    high: float | None
    kept: Annotated[float, Column("kept", "count", means="documents kept per query")]
    kept_low: float | None = None
    kept_high: float | None = None
    recall: Annotated[
        float | None,
        Column("relevant kept", "score", means="the share of the relevant documents kept"),
    ] = None
    silent: Annotated[
        float | None,
        Column("nil silent", "score", means="the share of nil queries whose list is empty"),
    ] = None
    silent_others: float | None = None
    """The share of other queries whose list is empty."""
    gain: Annotated[
        float | None, Column("gain", "score", means="the score minus that of keeping everything")
    ] = None
    gain_low: float | None = None
    gain_high: float | None = None
    over_best: Annotated[
        float | None,
        Column("ahead", "score", means="the score minus that of the best trivial policy"),
    ] = None
    over_best_low: float | None = None
    over_best_high: float | None = None
    optimism: Annotated[
        float | None,
        Column("optimism", "score", means="how much better it scored on the queries tuned on"),
    ] = None
    chosen: dict[str, int] = {}
    """Of `auto` and of a promise: which rule was chosen, and in how many folds."""
    within_budget: bool | None = None

    @property
    def interval(self) -> Annotated[str, Column(means=OF_NUMBER)]:
        return interval_text(self.low, self.high)

    @property
    def gain_interval(self) -> Annotated[str, Column("over everything", means=OF_NUMBER)]:
        return interval_text(self.gain_low, self.gain_high)

    @property
    def over_best_interval(self) -> Annotated[str, Column("interval", means=OF_NUMBER)]:
        return interval_text(self.over_best_low, self.over_best_high)


class Point(Facts, frozen=True, kw_only=True):
    """One depth: what cutting every list there scores, keeps and is best for."""

    depth: int
    score: float
    kept: float
    recall: float | None
    best_for: int
    """Queries whose best depth it is, or one since the point before."""


class Bin(Facts, frozen=True, kw_only=True):
    """Documents whose score is in one range, by the share of each kind, and what was fitted."""

    low: float
    high: float
    relevant: int
    others: int
    fitted_relevant: float | None
    """Documents that the fitted mixture expects: its normal part."""
    fitted_others: float | None
    """Its exponential part."""


class Promise(Facts, frozen=True, kw_only=True):
    """What was promised."""

    keep: float
    level: float
    """The probability that it holds, at least."""
    next: bool
    """Whether it is about the share that the next queries keep, not only the expected share."""
    kept: float | None
    """The share that the queries keep which were not used to choose the rule."""
    queries: int
    """With something relevant in their lists: the promise is about these."""


class CutRun(Facts, frozen=True, kw_only=True):
    """A run, the rule to use for it from now on, and what its charts show."""

    run: str
    rule: Rule
    """Tuned on every query."""
    best_trivial: str
    """Of the policies that look at no score, the one of the highest score, held out."""
    advice: str
    """cut: the interval of the gain over the best trivial policy lies above 0; perhaps: only the
    gain does; not: that policy is as good; nothing: as good, and it is to answer nothing."""
    queries: int
    nil_queries: int
    documents: float
    """In a list, on average."""
    promise: Promise | None = None
    points: tuple[Point, ...] = ()
    bins: tuple[Bin, ...] = ()


class CutResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="cut"):
    """Where rankings should stop, with all that it takes to trust it."""

    measure: str
    asked: str = "auto"
    """The rule that was asked for."""
    folds: int
    repeats: int
    level: float
    seed: int = 0
    budget: float | None = None
    """Documents a query that may be kept on average."""
    rows: tuple[CutRow, ...] = msgspec.field(name="results")
    runs: tuple[CutRun, ...]

    def check(self) -> None:
        super().check()
        for each in self.runs:
            each.rule.check()

    def _frame(self, table: str) -> pl.DataFrame:
        names = [name for name in CutRow.__struct_fields__ if name != "chosen"]
        return frame_of_rows(CutRow, self.rows, *names, measure=self.measure)

    def rule_of(self, run: str | None = None) -> Rule:
        """The rule of a run; of the only one where there is one."""
        known = {each.run: each.rule for each in self.runs}
        if run is None and len(known) == 1:
            return self.runs[0].rule
        if run not in known:
            which = "name the run" if run is None else f"there is no rule for run {shown(run)}"
            raise UsageError(f"{which} (there are rules for {some_of(list(known))})")
        return known[run]

    def cut(self, scores: Any, *, run: str | None = None) -> Any:
        """Where to stop, by the rule: how many documents to keep.

        `scores` are those of one list in any order (gives a number), several such lists (gives a
        list of numbers), or {query: {document: score}} (gives the same with fewer documents).
        """
        rule = self.rule_of(run)
        if isinstance(scores, Mapping):
            if not all(isinstance(docs, Mapping) for docs in scores.values()):
                raise UsageError(SCORES)
            ranked = [
                sorted(docs.items(), key=lambda pair: (pair[1], str(pair[0])), reverse=True)
                for docs in scores.values()
            ]
            depths = rule.cut([dict(docs).values() for docs in ranked])
            kept = (dict(docs[:depth]) for docs, depth in zip(ranked, depths, strict=True))
            return dict(zip(scores, kept, strict=True))
        if not isinstance(scores, Iterable):
            raise UsageError(SCORES)
        lists = list(scores)
        several = bool(lists) and isinstance(lists[0], Iterable)
        depths = rule.cut(lists if several else [lists])
        return depths if several else depths[0]

    def apply(self, run: Any, *, nil: str | None = None) -> pl.DataFrame:
        """A run, read as rankings are, with every list cut (polars: run, query, doc, score, rank).

        An empty list is one row whose document is NIL.
        """
        return cut_by_saved(run, self, nil=nil)[0]

    def explain(self, run: str | None = None) -> str:
        """The rule as lines of Python, to paste into a retriever."""
        return self.rule_of(run).as_python()

    def save_rule(self, path: str | os.PathLike[str]) -> None:
        """Write the rule with how it came about, for `abstain cut --apply` and `ab.load`."""
        bare = [structs.replace(each, points=()) for each in self.runs]
        structs.replace(self, runs=tuple(bare)).to_json(path)


def cut_runs(
    origins: Sequence[RunOrigin], result: CutResult, nil: str | None
) -> tuple[pl.DataFrame, list[str]]:
    """Runs cut by the rules of a result, and what was done; a rule alone cuts any run."""
    names = {(id(each.source), each.tag): each.run for each in origins if each.run}
    rules = {each.run: each.rule for each in result.runs}
    parts, notes = [], []
    for source in {id(each.source): each.source for each in origins}.values():
        columns = ("run", "query", "doc", "score")
        batches = [batch.select(columns) for batch in source.batches(by_rank=False)]
        every = pl.concat(batches) if batches else pl.DataFrame(schema=columns)
        for (tag,), rows in every.partition_by("run", as_dict=True, maintain_order=True).items():
            run = names.get((id(source), str(tag)), str(tag))
            if not names or run in rules:
                rule = result.rule_of(None if not names and len(rules) == 1 else run)
                made, summary = _cut_rows(_ranked(rows, nil), run, rule, nil)
                parts.append(made)
                notes.append(summary)
    if not parts:
        raise UsageError("the run is empty: there is nothing to cut")
    return pl.concat(parts), notes


def _ranked(rows: pl.DataFrame, nil: str | None) -> pl.DataFrame:
    """A run query by query, the best first: query, doc, score, rank; `nil` ends a list."""
    queries = pl.Enum(rows["query"].unique(maintain_order=True))
    is_nil = pl.lit(value=False) if nil is None else pl.col("doc") == nil
    ordered = rows.with_columns(at=pl.col("query").cast(queries), ends=is_nil).sort(
        "at", "score", "ends", "doc", descending=[False, True, False, True]
    )
    kept = ordered.filter(~pl.col("ends").cum_max().over("at"))
    return kept.select("query", "doc", "score", rank=pl.int_range(1, pl.len() + 1).over("query"))


def _cut_rows(
    rows: pl.DataFrame, run: str, rule: Rule, nil: str | None
) -> tuple[pl.DataFrame, str]:
    lists = rows.group_by("query", maintain_order=True).agg(pl.all())
    depth = pl.Series(rule.cut([each.to_numpy() for each in lists["score"]]), dtype=pl.Int64)
    made = lists.with_columns(pl.exclude("query").list.head(pl.lit(depth)))
    made = made.explode("doc", "score", "rank")
    nothing = {"doc": nil or NIL, "score": 0.0, "rank": 1}
    made = made.with_columns(pl.col(name).fill_null(value) for name, value in nothing.items())
    summary = (
        f"run {shown(run)}: {rows.height:,} documents of {plural(lists.height, 'list')} cut to "
        f"{depth.sum():,}; {plural(int((depth == 0).sum()), 'list')} empty ({nil or NIL})"
    )
    return made.select(pl.lit(run).alias("run"), pl.all()), summary


def cut_by_saved(
    run: Any, result: CutResult, *, nil: str | None = None, reading: Reading | None = None
) -> tuple[pl.DataFrame, list[str]]:
    """A run without judgments, cut by the rules of a result, and what was done."""
    if nil is None and result.settings is not None:
        nil = result.settings.nil
    source = open_source(run, reading or Reading(), side="run")
    return cut_runs([RunOrigin("", "", source)], result, nil)


def write_run(rows: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    target = Path(path)
    if format_of_name(str(target)) not in (None, TREC):
        write_table(rows, target)
        return
    lines = rows.select(pl.format("{} Q0 {} {} {} {}", "query", "doc", "rank", "score", "run"))
    with whole(target) as draft:
        draft.write_text("\n".join([*lines.to_series(), ""]), encoding="utf-8")
