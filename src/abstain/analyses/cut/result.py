"""What `cut` finds out, as data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from abstain.analyses.cut.rules import Rule
from abstain.analyses.result import Facts, Result
from abstain.errors import UsageError, checked, shown

if TYPE_CHECKING:
    import polars as pl


class CutRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A rule or a reference, judged on queries it was not chosen on in it."""

    run: str
    rule: str
    reference: bool = False
    """Whether it is there to compare with: nothing, everything, top 10, oracle."""
    score: float | None = msgspec.field()
    """The mean over queries, held out."""
    low: float | None = msgspec.field()
    high: float | None = msgspec.field()
    kept: float = msgspec.field()
    """Documents kept of a list, on average."""
    kept_low: float | None = None
    kept_high: float | None = None
    recall: float | None = None
    """The share kept of the relevant documents in a list, on average."""
    silent: float | None = None
    """The share of nil queries that are answered with silence."""
    silent_others: float | None = None
    """The share of other queries that are."""
    gain: float | None = None
    """Above keeping everything."""
    gain_low: float | None = None
    gain_high: float | None = None
    over_best: float | None = None
    """Above the best reference, oracle apart."""
    over_best_low: float | None = None
    over_best_high: float | None = None
    optimism: float | None = None
    """How much better it looked on the queries it was tuned on."""
    chosen: dict[str, int] = {}
    """Of `auto` and of a promise: which rule was chosen, and in how many folds."""
    within_budget: bool | None = None


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
    """What was promised, and in how many of the parts that were judged it held."""

    keep: float
    delta: float
    next_queries: bool
    parts: int
    held: int
    """Parts whose judged queries keep that share on average."""
    queries: int
    """With something relevant in their lists: the promise is about these."""


class CutRun(Facts, frozen=True, kw_only=True):
    """A run, the rule to use for it from now on, and what its charts show."""

    run: str
    rule: Rule
    """Tuned on every query."""
    best_reference: str
    advice: str
    """cut: it pays; perhaps: it seems to; not: keep everything; nothing: answer nothing."""
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

    TABLES = ("main", "depths", "scores")

    def check(self) -> None:
        """There is a run at least, all rows are of runs, and each run has those that are named."""
        if not self.runs or not self.rows:
            raise ValueError("has no results, expected at least one run")
        names, judged = {own.run for own in self.runs}, {(row.run, row.rule) for row in self.rows}
        for row in self.rows:
            if row.run not in names:
                raise ValueError(f"has a result of run {shown(row.run)}, which has no rule")
        for own in self.runs:
            own.rule.check()
            for rule in (self.asked, "everything", own.best_reference):
                if (own.run, rule) not in judged:
                    raise ValueError(f"has no result of {shown(rule)} for run {shown(own.run)}")

    def _frame(self, table: str) -> pl.DataFrame:
        import polars as pl

        if table == "main":
            plain = [msgspec.structs.asdict(row) for row in self.rows]
            rows = [{**row, "chosen": _told(row["chosen"])} for row in plain]
            kinds: dict[str, Any] = dict.fromkeys(rows[0], pl.Float64())
            kinds |= dict.fromkeys(("run", "rule", "chosen"), pl.String())
            kinds |= dict.fromkeys(("reference", "within_budget"), pl.Boolean())
            return pl.DataFrame(rows, schema=kinds)
        kind: type[Facts] = Point if table == "depths" else Bin
        parts = [(own.run, item) for own in self.runs for item in _of(own, table)]
        names = kind.__struct_fields__
        whole = ("depth", "best_for", "relevant", "others")
        schema = {n: pl.Int64() if n in whole else pl.Float64() for n in names}
        data = [{"run": run, **msgspec.structs.asdict(item)} for run, item in parts]
        return pl.DataFrame(data, schema={"run": pl.String(), **schema})

    # ------------------------------------------------------------------------ the rule at work

    def rule_of(self, run: str | None = None) -> Rule:
        """The rule of a run; of the only one where none is named."""
        known = {own.run: own.rule for own in self.runs}
        if run is None and len(known) == 1:
            return self.runs[0].rule
        if run is None or run not in known:
            have = ", ".join(shown(name) for name in list(known)[:5])
            asked = "name the run" if run is None else f"there is no rule for run {shown(run)}"
            raise UsageError(f"{asked} (there are rules for {have})")
        return known[run]

    @checked
    def cut(self, scores: Any, *, run: str | None = None) -> Any:
        """Where to stop, by the rule: how many documents to keep.

        `scores` are those of one list in any order (gives a number), several such lists (gives a
        list of numbers), or {query: {document: score}} (gives the same with fewer documents).
        """
        from abstain.analyses.cut.apply import SCORES, depths_of

        rule = self.rule_of(run)
        if isinstance(scores, Mapping):
            if not all(isinstance(own, Mapping) for own in scores.values()):
                raise UsageError(SCORES)
            ranked = {
                query: sorted(own.items(), key=lambda pair: (pair[1], str(pair[0])), reverse=True)
                for query, own in scores.items()
            }
            depths = depths_of(rule, [[s for _, s in own] for own in ranked.values()])
            pairs = zip(ranked.items(), depths, strict=True)
            return {query: dict(own[:depth]) for (query, own), depth in pairs}
        if not isinstance(scores, Iterable):
            raise UsageError(SCORES)
        listed = list(scores)
        if listed and (isinstance(listed[0], Sequence) or getattr(listed[0], "ndim", 0) == 1):
            return depths_of(rule, listed)
        return depths_of(rule, [listed])[0]

    @checked
    def apply(self, run: Any, *, nil: str | None = None) -> pl.DataFrame:
        """A run, read as rankings are, with every list cut (polars: run, query, doc, score, rank).

        An empty list is one row whose document is NIL.
        """
        from abstain.analyses.cut.apply import cut_run

        return cut_run(run, self, nil=nil)[0]

    @checked
    def explain(self, run: str | None = None) -> str:
        """The rule as lines of Python, to paste into a retriever."""
        from abstain.analyses.cut.explain import python_of

        return python_of(self.rule_of(run))

    @checked
    def save_rule(self, path: str | os.PathLike[str]) -> None:
        """Write the rule with how it came about, for `abstain cut --apply` and `ab.load`."""
        from abstain.io.files import write_text
        from abstain.io.json_text import json_of

        bare = [msgspec.structs.replace(own, points=(), bins=()) for own in self.runs]
        write_text(Path(path), json_of(msgspec.structs.replace(self, runs=tuple(bare))))


def _told(chosen: Mapping[str, int]) -> str | None:
    return ", ".join(f"{name} {times}" for name, times in chosen.items()) or None


def _of(own: CutRun, table: str) -> Sequence[Facts]:
    return own.points if table == "depths" else own.bins
