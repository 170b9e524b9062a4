"""A threshold put to work: a run that is silent where it is not sure enough."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from abstain.confidence.choose import Threshold
from abstain.confidence.tuned import KIND, VERSION
from abstain.errors import InputError, UsageError, plural, shown
from abstain.formats.logs.registry import log_format
from abstain.formats.tables import ROW, format_of_name
from abstain.judge import NO
from abstain.outcomes import OUTCOMES
from abstain.questions import collect, open_table, read_gold, rename, require

if TYPE_CHECKING:
    from abstain.confidence.matrix import ConfidenceMatrix
    from abstain.confidence.tuned import TuneResult


def read_thresholds(path: str | os.PathLike[str]) -> dict[str, Threshold]:
    """The thresholds of a file that `abstain tune --threshold-file` wrote, by run."""
    import msgspec

    name = os.fspath(path)
    try:
        data: Any = msgspec.json.decode(Path(name).read_bytes())
    except FileNotFoundError:
        raise InputError("there is no such file", name) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", name) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise InputError("is not JSON", name) from None
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise InputError("is not a file of thresholds, as --threshold-file writes it", name)
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
            raise InputError(str(error), name) from None
    return found


def apply_threshold(
    run: Any,
    thresholds: Mapping[str, Threshold],
    *,
    gold: Any = None,
    only: str | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
) -> tuple[pl.DataFrame, list[str]]:
    """A run's table with answers only where they are sure enough, and what was done.

    What is blanked stays as the candidate; a candidate that is sure enough becomes the answer.
    `only` names the run to keep of a table with several.
    """
    table = rename(open_table(run, name="run", format=format), columns or {}, side="run")
    if table.refusals:
        from abstain.refusals.detect import with_refusals

        table = with_refusals(table, table.refusals)
    require(table, "answer", "which holds the answer (empty: none was given)")
    require(table, "confidence", "which a threshold looks at")
    rows = collect(nw.from_native(table.frame), table.name).drop(ROW, strict=False)
    if table.verdicts is not None:
        rows = rows.drop("outcome")  # a log's own verdicts speak of what it answered before
    if only is not None and "run" in rows.columns:
        rows = rows.filter(pl.col("run").cast(pl.String) == only)
    sure = rows["confidence"].cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    bad = rows.filter(((sure < 0) | (sure > 1)).fill_null(value=False))
    if bad.height:
        raise InputError("a confidence is outside 0 to 1", table.name)
    answered = _sure_enough(rows, sure, thresholds, gold, columns, table.name, format)
    return _decided(rows, answered, table.run_id), _said(rows, answered, sure)


def _sure_enough(
    rows: pl.DataFrame,
    sure: pl.Series,
    thresholds: Mapping[str, Threshold],
    gold: Any,
    columns: Mapping[str, str] | None,
    name: str,
    format: str | None,
) -> pl.Series:
    slices = _slices(rows, thresholds, gold, columns, name, format)
    numbers = sure.fill_null(float("nan")).to_numpy()
    if len(thresholds) == 1:
        return pl.Series(next(iter(thresholds.values())).answered(numbers, slices))
    if "run" not in rows.columns:
        raise UsageError(f"{name} names no run, and there are thresholds for {len(thresholds)}")
    answered = np.zeros(rows.height, bool)
    for own in rows["run"].unique().to_list():
        if own not in thresholds:
            raise UsageError(f"there is no threshold for run {shown(str(own))}")
        mine = (rows["run"] == own).to_numpy()
        part = slices[mine] if slices is not None else None
        answered[mine] = thresholds[own].answered(numbers[mine], part)
    return pl.Series(answered)


def _slices(
    rows: pl.DataFrame,
    thresholds: Mapping[str, Threshold],
    gold: Any,
    columns: Mapping[str, str] | None,
    name: str,
    format: str | None,
) -> Any:
    per = next((t.per for t in thresholds.values() if t.per), None)
    if per is None:
        return None
    if gold is not None:
        standard = read_gold(gold, columns=columns, format=log_format(format))
        standard.check_attributes([per])
        known = standard.frame.select(pl.col("question"), pl.col(per).alias("__slice"))
        joined = rows.select(pl.col("question").cast(pl.String)).join(
            known, on="question", how="left", maintain_order="left"
        )
        return np.array(joined["__slice"].fill_null("").to_list())
    if per not in rows.columns:
        raise UsageError(
            f"the thresholds are per {per}, which {name} does not have: name its gold before it"
        )
    return np.array(rows[per].cast(pl.String).fill_null("").to_list())


def _decided(
    rows: pl.DataFrame, answered: pl.Series, run_id: tuple[str, int] | None
) -> pl.DataFrame:
    def text(column: str) -> pl.Expr:
        return pl.col(column).cast(pl.String).fill_null("").str.strip_chars()

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
        notes.append("every response is sure enough: the threshold changes nothing")
    elif not answered.any():
        notes.append("no response is sure enough: everything is left blank")
    if sure.is_null().any():
        notes.append(
            f"{plural(int(sure.null_count()), 'response')} without a confidence left blank"
        )
    return notes


def thresholded_rows(result: TuneResult) -> pl.DataFrame:
    """The judged rows of the tuned runs as they would be with their thresholds."""
    matrix: ConfidenceMatrix = result.matrix
    parts = []
    for number, own in enumerate(result.runs):
        slices = None
        if result.per is not None:
            slices = matrix.questions[result.per].cast(pl.String).fill_null("").to_list()
        answered = own.threshold.answered(matrix.confidence[number], slices)
        outcomes = matrix.thresholded(number, answered)
        kept = outcomes >= 0
        names = np.array(OUTCOMES)
        parts.append(
            pl.DataFrame(
                {
                    "run": [own.run] * int(kept.sum()),
                    "question": matrix.questions["question"].filter(pl.Series(kept)),
                    "outcome": names[outcomes[kept]].tolist(),
                    "confidence": pl.Series(matrix.confidence[number][kept]).fill_nan(None),
                }
            )
        )
    return pl.concat(parts)


def writable(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The table in the shape that its format wants."""
    if format_of_name(str(path)) == "qa4mre" and "run" not in frame.columns:
        return frame.with_columns(run=pl.lit(path.name.split(".")[0]))
    return frame
