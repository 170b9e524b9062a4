"""A threshold put to work: a run that is silent where it is not sure enough."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl
from msgspec import structs

from abstain.analyses.result import load
from abstain.analyses.tune.choose import Threshold
from abstain.analyses.tune.result import KIND, VERSION, TuneResult
from abstain.analyses.tune.tuning import thresholded
from abstain.errors import InputError, UsageError, plural, shown
from abstain.io.columns import require_all, text_column
from abstain.io.documents import document
from abstain.io.files import open_plain
from abstain.io.frames import collect
from abstain.io.names import cells, col
from abstain.io.normalise import matcher
from abstain.io.tables import ROW, Table, format_of_name
from abstain.judging.faults import bad_confidence, no_confidence
from abstain.judging.gold import Gold, read_gold
from abstain.judging.judge import NO
from abstain.judging.reading import Reading
from abstain.judging.responses import RULE, read_responses
from abstain.outcomes import EXCLUDED, OUTCOMES

if TYPE_CHECKING:
    from abstain.judging.evaluation import Evaluation

RUN, QUESTION = "__run", "__question"


def read_thresholds(path: str | os.PathLike[str]) -> dict[str, Threshold]:
    """The thresholds of a file that `abstain tune --threshold-file` wrote, by run.

    A saved result of `abstain tune` will do as well.
    """
    name = os.fspath(path)
    data = document(open_plain(name), dict[str, Any], what="file of thresholds")
    if data.get("kind") == "tune":
        saved = load(name)
        assert isinstance(saved, TuneResult)
        return saved.chosen
    if data.get("kind") != KIND:
        raise InputError(
            "is not a file of thresholds, as `abstain tune --threshold-file` writes it", name
        )
    if data.get("version", VERSION) != VERSION:
        raise InputError(
            f"is of version {data['version']!r}, written by abstain {data.get('abstain')}; this "
            f"one reads version {VERSION}",
            name,
        )
    found: dict[str, Threshold] = {}
    entries = data.get("thresholds")
    if not isinstance(entries, list) or not entries:
        raise InputError("holds no threshold", name)
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("run"), str):
            raise InputError("has a threshold without a run", name)
        if entry["run"] in found:
            raise InputError(f"has two thresholds for run {shown(entry['run'])}", name)
        try:
            found[entry["run"]] = Threshold.from_dict(entry)
        except UsageError as error:
            raise InputError(error.quoted(), name) from None
    attributes = sorted({t.per for t in found.values() if t.per is not None})
    if len(attributes) > 1:
        raise InputError(
            f"has thresholds per {attributes[0]} and per {attributes[1]}, expected one attribute "
            "for all runs",
            name,
        )
    return found


def apply_thresholds(
    run: Any,
    thresholds: Mapping[str, Threshold],
    reading: Reading | None = None,
    *,
    gold: Any = None,
    only: str | None = None,
) -> tuple[pl.DataFrame, list[str]]:
    """A run's table with answers only where they are sure enough, and what was done.

    What is blanked stays as the candidate; a candidate that is sure enough becomes the answer.
    `gold` says which slice a question is in; `only` names the run to keep of a table with several.
    """
    how = structs.replace(reading or Reading(), engine=None, master=None)
    table = read_responses(run, how, name="run").table
    require_all(
        table,
        {
            "answer": "which holds the answer (empty: none was given)",
            "confidence": "which is compared with the threshold",
        },
    )
    rows = collect(nw.from_native(table.frame), table.name)
    if table.verdicts is not None:
        rows = rows.drop("outcome")  # a log's own verdicts speak of what it answered before
    if ROW not in rows.columns:
        rows = rows.with_row_index(ROW)
    rows = _named(rows, table.name)
    if only is not None and "run" in rows.columns:
        rows = rows.filter(pl.col(RUN) == only)
    _refuse_duplicates(rows, table)
    sure = _confidence(rows, table)
    questions = None
    if gold is not None:
        standard = gold if isinstance(gold, Gold) else read_gold(gold, how)
        standard.check_attributes([t.per for t in thresholds.values() if t.per is not None])
        questions = standard.frame
    if how.detect_refusals:
        rows = _without_refusals(rows, questions, how.align)
    slices = _slices(rows, thresholds, questions, how.align, table)
    answered, notes = _sure_enough(rows, sure, slices, thresholds, table.name)
    rows = rows.drop(ROW, RUN, QUESTION)
    return _decided(rows, answered, table.run_id), [*_said(rows, answered, sure), *notes]


def _without_refusals(
    rows: pl.DataFrame, questions: pl.DataFrame | None, align: str
) -> pl.DataFrame:
    """Refusals as blanks, but for those that the gold accepts, however they are written."""
    from abstain.judging.refusals.detect import blanked

    if RULE not in rows.columns:
        return rows
    if questions is None or align != "id":
        return blanked(rows)
    normal = matcher("text")
    accepted = dict(zip(questions["question"], questions["accepted"].to_list(), strict=True))
    found = rows.filter(pl.col(RULE).is_not_null())
    right = [
        at
        for at, question, answer in found.select(ROW, QUESTION, "answer").iter_rows()
        if normal(str(answer or "")) in map(normal, accepted.get(question, ()))
    ]
    return blanked(rows, stands=pl.col(ROW).is_in(right))


def _named(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Rows with their run and question as the text that golds and thresholds know them by."""
    lazy = nw.from_native(rows.lazy())
    named = [
        text_column(lazy, column, name, trim=True).alias(own)
        for column, own in (("run", RUN), ("question", QUESTION))
        if column in rows.columns
    ]
    found = lazy.with_columns(*named).to_native().collect() if named else rows
    absent = [own for own in (RUN, QUESTION) if own not in found.columns]
    return found.with_columns(pl.lit(None, pl.String).alias(own) for own in absent)


def _refuse_duplicates(rows: pl.DataFrame, table: Table) -> None:
    key = pl.struct(RUN, QUESTION)
    again = rows.filter((pl.col(QUESTION).fill_null("") != "") & ~key.is_first_distinct())
    if not again.height:
        return
    row = again.row(0, named=True)
    same = pl.col(RUN).eq_missing(pl.lit(row[RUN])) & (pl.col(QUESTION) == row[QUESTION])
    first = table.place(rows.filter(same)[ROW][0])
    message = f"question {shown(row[QUESTION])} appears twice (first: {first})"
    raise InputError(message, table.place(row[ROW]))


def _confidence(rows: pl.DataFrame, table: Table) -> pl.Series:
    """Confidence as a number or none; what is neither is refused, with its line."""
    kind = rows["confidence"].dtype
    if kind.is_nested() or kind == pl.Binary:
        raise no_confidence(kind, table.name)
    text = rows["confidence"].cast(pl.String).str.strip_chars().fill_null("")
    sure = text.cast(pl.Float64, strict=False)
    inside = ((sure >= 0) & (sure <= 1)).fill_null(value=False)
    bad = rows.filter((text != "") & ~inside)
    if bad.height:
        at = bad[ROW][0]
        value = text.filter(rows[ROW] == at)[0]
        raise InputError(bad_confidence(value), table.place(at))
    return sure


def _sure_enough(
    rows: pl.DataFrame, sure: pl.Series, slices: Any, thresholds: Mapping[str, Threshold], name: str
) -> tuple[pl.Series, list[str]]:
    """Which responses are to be given, and whose threshold they were held against."""
    numbers = sure.fill_null(float("nan")).to_numpy()
    runs = [own for own in rows[RUN].unique(maintain_order=True) if own is not None]
    if len(thresholds) == 1 and len(runs) < 2:
        ((tuned, threshold),) = thresholds.items()
        other = bool(runs) and runs[0] != tuned
        notes = [f"run {shown(runs[0])} uses the threshold of {shown(tuned)}"] if other else []
        return pl.Series(threshold.answered(numbers, slices)), notes
    if not runs:
        raise UsageError(
            f"{name} names no run, but there are thresholds for {len(thresholds)} runs: which one "
            "applies is unclear"
        )
    answered = np.zeros(rows.height, bool)
    for own in runs:
        if own not in thresholds:
            have = ", ".join(shown(known) for known in list(thresholds)[:5])
            raise UsageError(f"there is no threshold for run {shown(own)} (there is for {have})")
        mine = (rows[RUN] == own).fill_null(value=False).to_numpy()
        part = slices[mine] if slices is not None else None
        answered[mine] = thresholds[own].answered(numbers[mine], part)
    return pl.Series(answered), []


def _slices(
    rows: pl.DataFrame,
    thresholds: Mapping[str, Threshold],
    questions: pl.DataFrame | None,
    align: str,
    table: Table,
) -> Any:
    """The slice of each response; a question that the gold does not have is refused."""
    per = next((t.per for t in thresholds.values() if t.per), None)
    if questions is None:
        if per is None:
            return None
        if per not in rows.columns:
            raise UsageError(
                f"the thresholds are per {per}, which {table.name} does not have: give the gold "
                "before the run"
            )
        return np.array(cells(rows, per).cast(pl.String).fill_null("").to_list())
    value = pl.lit("") if per is None else col(per).cast(pl.String).fill_null("")
    known = questions.select(pl.col("question").alias(QUESTION), value.alias("__slice"))
    if align == "position":
        known = known.with_columns(at=pl.int_range(pl.len()))
        rows = rows.with_columns(at=pl.col(ROW).rank("ordinal").over(RUN).cast(pl.Int64) - 1)
    on = "at" if align == "position" else QUESTION
    joined = rows.join(known, on=on, how="left", maintain_order="left")
    strange = joined.filter(pl.col("__slice").is_null())
    if strange.height:
        message = f"question {shown(strange[QUESTION][0] or '')} is not in the gold"
        raise InputError(message, table.place(strange[ROW][0]))
    return None if per is None else np.array(joined["__slice"].to_list())


def _decided(
    rows: pl.DataFrame, answered: pl.Series, run_id: tuple[str, int] | None
) -> pl.DataFrame:
    def text(column: str) -> pl.Expr:
        return col(column).cast(pl.String).str.strip_chars().fill_null("")

    candidate = text("candidate") if "candidate" in rows.columns else pl.lit("")
    best = pl.when(text("answer") != "").then(text("answer")).otherwise(candidate)
    given = answered & rows.select((best != "").alias("has"))["has"]
    decided = rows.with_columns(
        answer=pl.when(given).then(best).otherwise(pl.lit("")),
        candidate=pl.when(given).then(pl.lit("")).otherwise(best),
        answered=pl.when(given).then(pl.lit("YES")).otherwise(pl.lit("NO")),
    )
    if "why" in rows.columns:
        decided = decided.with_columns(why=pl.when(given).then(pl.lit("")).otherwise(text("why")))
    if run_id is not None and "run" not in decided.columns:
        decided = decided.with_columns(run=pl.lit(run_id[0]))
    return decided


def _said(rows: pl.DataFrame, answered: pl.Series, sure: pl.Series) -> list[str]:
    before = rows["answer"].cast(pl.String).fill_null("") != ""
    if "answered" in rows.columns:
        said = rows["answered"].cast(pl.String).fill_null("").str.to_lowercase()
        before = before & ~said.is_in(list(NO))
    blanked = int((before & ~answered).sum())
    notes = [f"{plural(blanked, 'answer')} left blank"]
    given = answered & ~before
    if "candidate" in rows.columns:
        given = given & (rows["candidate"].cast(pl.String).fill_null("") != "")
    if "answered" in rows.columns or "candidate" in rows.columns:
        notes.append(f"{plural(int(given.sum()), 'candidate')} given as the answer")
    if answered.all():
        notes.append("every response is sure enough: the threshold leaves nothing blank")
    elif not answered.any():
        notes.append("no response is sure enough: everything is left blank")
    if sure.is_null().any():
        notes.append(
            f"{plural(int(sure.null_count()), 'response has', 'responses have')} no confidence: "
            "left blank"
        )
    return notes


def thresholded_rows(evaluation: Evaluation, result: TuneResult) -> pl.DataFrame:
    """The judged rows of the tuned runs as they would be with their thresholds."""
    chosen = result.chosen
    questions = evaluation.with_attributes([result.by] if result.by is not None else [])
    slices = None
    if result.by is not None:
        slices = questions[result.by].cast(pl.String).fill_null("").to_list()
    parts = []
    names = pl.Series(OUTCOMES)
    for run, codes, sure in zip(
        evaluation.runs, evaluation.codes, evaluation.confidence, strict=True
    ):
        if run not in chosen:
            continue
        held = thresholded(codes, chosen[run].answered(sure, slices))
        kept = held != EXCLUDED
        parts.append(
            pl.DataFrame(
                {
                    "run": [run] * int(kept.sum()),
                    "question": questions["question"].filter(pl.Series(kept)),
                    "outcome": names.gather(held[kept]),
                    "confidence": pl.Series(sure[kept]).fill_nan(None),
                }
            )
        )
    return pl.concat(parts)


def writable(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The table in the shape that its format wants."""
    if format_of_name(str(path)) == "qa4mre" and "run" not in frame.columns:
        return frame.with_columns(run=pl.lit(path.name.split(".")[0]))
    return frame
