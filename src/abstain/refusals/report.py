"""What the rules are, what they found, and how often they err."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl

from abstain import __version__
from abstain.compare.bounds import WORDS
from abstain.errors import InputError, plural, shown
from abstain.questions import Responses, collect, into_lazy, open_table, rename, require
from abstain.refusals.detect import RULE
from abstain.refusals.rules import LANGUAGES
from abstain.report.grid import Cell, Column, Grid
from abstain.scoring import open_runs

Told = tuple[Grid, dict[str, Any]]


def rules_grid(languages: Sequence[str]) -> Told:
    """The rules of some languages."""
    found = [rule for code in languages for rule in LANGUAGES[code].rules]
    rows: list[list[Cell]] = [
        [rule.name, "all of it" if rule.whole else "how it begins", rule.example] for rule in found
    ]
    data = {
        "abstain": __version__,
        "openings": {code: LANGUAGES[code].openings for code in languages},
        "hedges": {code: LANGUAGES[code].hedges for code in languages},
        "rules": [
            {"rule": r.name, "pattern": r.pattern, "whole": r.whole, "example": r.example}
            for r in found
        ],
    }
    columns = [Column("rule"), Column("looks at"), Column("example")]
    notes = [f"{plural(len(found), 'rule')}; --format json has the patterns."]
    return Grid(columns, rows, notes=notes), data


def hits_grid(
    files: Sequence[str], *, columns: Mapping[str, str], format: str | None, most: int
) -> Told:
    """Every response that a rule finds to decline."""
    sources = open_runs(list(files), columns=columns, format=format)
    parts = [_rows(source) for source in sources]
    every = pl.concat(parts, how="vertical")
    hits = every.filter(pl.col(RULE).is_not_null())
    by_rule = hits.group_by(RULE).len().sort("len", RULE, descending=[True, False])
    shown_rows = hits.head(most) if most else hits
    rows: list[list[Cell]] = [list(row) for row in shown_rows.iter_rows()]
    notes = [note for source in sources for note in source.table.notes]
    notes += [f"{rule}: {count:,}" for rule, count in by_rule.iter_rows()]
    if hits.height > shown_rows.height:
        notes.append(f"{hits.height - shown_rows.height:,} more: --most 0 shows all")
    data = {
        "abstain": __version__,
        "responses": every.height,
        "refusals": hits.height,
        "rules": dict(by_rule.iter_rows()),
        "hits": hits.to_dicts(),
        "notes": notes,
    }
    heads = [Column(name) for name in ("run", "question", "rule", "text")]
    return Grid(heads, rows, notes=notes, wrap=True), data


def _rows(source: Responses) -> pl.DataFrame:
    table = source.table
    require(table, "question", "which names each question")
    if RULE not in table.columns:
        raise InputError("has no text of responses to look at (a column 'answer')", table.name)
    frame = collect(nw.from_native(table.frame), table.name)
    run = pl.lit(source.run) if source.run is not None else pl.col("run").cast(pl.String)
    return frame.select(
        run.alias("run"), pl.col("question").cast(pl.String), RULE, pl.col("response").alias("text")
    )


# --------------------------------------------------------------------------------- its errors


def check_grid(
    files: Sequence[str], check: str, *, columns: Mapping[str, str], format: str | None
) -> Told:
    """Verdicts with the rules at work against a hand-checked sample: rows true, columns judged."""
    truth = rename(open_table(check), {}, side="run")
    for name, purpose in (("question", "which names each question"), ("true", "by hand")):
        require(truth, name, purpose)
    checked = collect(into_lazy(truth.frame), truth.name)
    keys = ["question", *(["run"] if "run" in checked.columns else [])]
    judged = pl.concat(
        [_verdicts(source) for source in open_runs(list(files), columns=columns, format=format)]
    )
    if keys == ["question"] and judged["run"].n_unique() > 1:
        raise InputError("has no column 'run', but the files have several runs", truth.name)
    texts = [pl.col(key).cast(pl.String) for key in keys]
    joined = checked.with_columns(*texts).join(judged, on=keys, how="left")
    lost = joined.filter(pl.col("judged").is_null())
    if lost.height:
        raise InputError(
            f"question {shown(str(lost['question'][0]))} has no verdict in the files", truth.name
        )
    counts = {(t, j): 0 for t in WORDS for j in WORDS}
    for true, said in joined.select("true", "judged").iter_rows():
        word = str(true).strip().lower()
        if word not in WORDS:
            raise InputError(f"true is {shown(word)}, expected {', '.join(WORDS)}", truth.name)
        counts[word, said] += 1
    rows: list[list[Cell]] = [[t, *(counts[t, j] for j in WORDS)] for t in WORDS]
    wrong = sum(n for (t, j), n in counts.items() if t != j)
    heads = [Column("true"), *(Column(word, "count") for word in WORDS)]
    notes = [
        f"{plural(joined.height, 'response')} checked by hand, {wrong:,} judged otherwise.",
        "As CSV this is what `abstain compare --judge-error` takes.",
    ]
    data = {
        "abstain": __version__,
        "checked": joined.height,
        "judged_otherwise": wrong,
        "confusion": [{"true": t, **{j: counts[t, j] for j in WORDS}} for t in WORDS],
    }
    return Grid(heads, rows, notes=notes), data


def _verdicts(source: Responses) -> pl.DataFrame:
    """What each response counts as: right, wrong or blank."""
    table = source.table
    require(table, "question", "which names each question")
    require(table, "outcome", "without which there is no verdict to check")
    frame = collect(nw.from_native(table.frame), table.name)
    run = pl.lit(source.run) if source.run is not None else pl.col("run").cast(pl.String)
    verdict = pl.col("outcome")
    return frame.select(
        run.alias("run"),
        pl.col("question").cast(pl.String),
        pl.when(verdict.is_in(["right", "wrong"])).then(verdict).otherwise(pl.lit("blank"))
        .alias("judged"),
    )  # fmt: skip
