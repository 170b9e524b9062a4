"""openai/evals: the JSONL of events that `oaieval` records.

The first line is the specification, the last the final report; between them are events. A
sample's verdict is its `match` event, or else its `metrics` event: a score, an accuracy, or a
grader's choice where `right` says which choices are right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from abstain.errors import InputError, Place, option, plural, shown
from abstain.io.documents import is_cut, records
from abstain.io.files import Opened
from abstain.io.log_rows import (
    RIGHT,
    WRONG,
    LogRows,
    accepted,
    as_float,
    number_picked,
    plain_text,
    verdict_of,
)
from abstain.io.readers import RIGHT_AT, Reader
from abstain.io.tables import Table, first_line

WHAT = "event of openai/evals"
INVALID = "__invalid__"
VERDICTS = {"choice", "score", "accuracy"}
"""What a `metrics` event says of a sample, where it is a verdict."""

Event = dict[str, Any]


@dataclass(slots=True)
class Sample:
    """What a recording says of a sample."""

    line: int
    """Where its verdict is, or what comes first of it."""
    said: list[str] = field(default_factory=list)
    failed: str = ""
    verdict: Event | None = None


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    """The samples of one recording with their verdicts."""
    spec: Event | None = None
    report: Event | None = None
    samples: dict[str, Sample] = {}
    rows = LogRows(opened, "openai-evals")
    for line, event in _events(opened, rows.notes):
        if "spec" in event:
            spec = event["spec"] if isinstance(event["spec"], dict) else {}
        elif "final_report" in event:
            report = event["final_report"] if isinstance(event["final_report"], dict) else {}
        else:
            _take(event, Place(opened.name, line), samples)
    if spec is None:
        raise InputError(
            "has no 'spec', with which a recording of openai/evals begins (versions 1 to 3 are "
            "known)",
            opened.name,
        )
    threshold = number_picked(picks, "right-at")
    right = frozenset(filter(None, picks.get("right", "").split("+")))
    for own, sample in samples.items():
        outcome, cells = _outcome(sample, threshold, right, Place(opened.name, sample.line))
        texts = sample.said or [""]  # where a model grades, its text comes after the answer
        graded = "choice" in (sample.verdict or {})
        said = cells.pop("said", None) or texts[0 if graded else -1]
        rows.add(own, outcome, line=sample.line, said=said, **cells)
    verdicts = [own.verdict for own in samples.values() if own.verdict is not None]
    _check(rows, report, len(verdicts))
    by_match = all("correct" in verdict for verdict in verdicts)
    return rows.table(run=_run(spec), by_match=by_match)


def _events(opened: Opened, notes: list[str]) -> Iterator[tuple[int, Event]]:
    """Events; a last line that a killed recorder cut off is left out, and said."""
    events = records(opened, dict[str, Any], what=WHAT)
    while True:
        try:
            yield next(events)
        except StopIteration:
            return
        except InputError as error:
            if error.place is None or not _is_cut(opened, error.place.line or 0):
                raise
            notes.append("the last line was cut off and is left out")
            return


def _is_cut(opened: Opened, line: int) -> bool:
    """Whether a line is the last one and ends in the middle of its JSON."""
    with opened.stream() as file:
        for number, text in enumerate(file, 1):
            if number == line:
                return not text.endswith(b"\n") and is_cut(text)
    return False


def _take(event: Event, place: Place, samples: dict[str, Sample]) -> None:
    kind, own, data = event.get("type"), event.get("sample_id"), event.get("data")
    if not isinstance(kind, str):
        raise InputError("has no 'type', expected an event such as match or sampling", place)
    if not isinstance(own, str):
        return  # what is recorded for the whole run
    data = data if isinstance(data, dict) else {}
    sample = samples.setdefault(own, Sample(place.line or 0))
    if kind == "sampling":
        said = data.get("sampled")
        sample.said.append(plain_text(said[0] if isinstance(said, list) and said else said))
    elif kind == "error":
        sample.failed = plain_text(data.get("message")) or "the sample failed"
    elif kind == "match" or (kind == "metrics" and VERDICTS & data.keys()):
        if sample.verdict is not None:
            raise InputError(
                f"is a second verdict on sample {shown(own)} (first: line {sample.line}), "
                "expected one",
                place,
            )
        sample.line, sample.verdict = place.line or 0, data


def _outcome(
    sample: Sample, threshold: float | None, right: frozenset[str], place: Place
) -> tuple[str, dict[str, Any]]:
    data = sample.verdict
    if data is None:
        if sample.failed:
            return "error", {"reason": first_line(sample.failed)}
        return "unscored", {"reason": "the recording has no verdict on it"}
    expected = data.get("expected")
    listed = expected if isinstance(expected, list) else [expected]
    cells: dict[str, Any] = {
        "correct": accepted(listed),
        "said": plain_text(data.get("sampled")) if isinstance(data.get("sampled"), str) else "",
    }
    if "correct" in data:
        if not isinstance(data["correct"], bool):
            said = shown(str(data["correct"]))
            raise InputError(f"'correct' is {said}, expected true or false", place)
        outcome = RIGHT if data["correct"] else WRONG
        if outcome == WRONG and data.get("sampled") == "":
            outcome = "empty"
        return outcome, cells
    choice = data.get("choice")
    if choice == INVALID:
        return "unscored", {**cells, "reason": "the grader's choice could not be read"}
    if right and choice is not None:
        return (RIGHT if str(choice) in right else WRONG), cells
    score = data.get("score", data.get("accuracy"))
    if choice is not None and score is None:
        raise InputError(
            f"the grader's choice {shown(plain_text(choice))} has no score; say which choices are "
            f"right, as in {option('pick', {'right': 'A+C'})}",
            place,
        )
    if not isinstance(score, (int, float)):
        return "unscored", {**cells, "reason": "the score is not a number"}
    verdict = verdict_of(score, threshold, place=place)
    return verdict or "unscored", cells


def _check(rows: LogRows, report: Event | None, verdicts: int) -> None:
    """Say what the recording lacks, or where its own accuracy is another."""
    if report is None:
        rows.notes.append("the recording has no final report: it did not finish")
        return
    own = report.get("accuracy")
    if isinstance(own, (int, float)) and verdicts:
        right = rows.outcomes[RIGHT]
        if abs(as_float(own) - right / verdicts) > 1e-9:
            rows.notes.append(
                f"its own accuracy is {as_float(own):g}, but {right:,} of "
                f"{plural(verdicts, 'verdict')} are right"
            )


def _run(spec: Event) -> str | None:
    named = spec.get("completion_fns") or spec.get("model_name")
    if isinstance(named, list):
        return ", ".join(map(plain_text, named)) or None
    return plain_text(named) or None


READER = Reader(
    name="openai-evals",
    tool="openai/evals",
    versions="1 to 3",
    files="the JSONL that oaieval records",
    sniff=re.compile(rb'\{"spec"\s*:\s*\{'),
    picks={"right-at": RIGHT_AT, "right": "the grader's choices that are right, as in A+C"},
    read=read,
)
