"""lm-evaluation-harness: `samples_<task>_<date>.jsonl`, as `--log_samples` writes it.

A row stands for a document and a filter. The verdict is the row's metric; of a multiple choice
the answer is the option of the largest log probability and its softmax is the confidence.
Documents are known by `doc_hash`, so that runs over a shuffled or a shortened task still pair.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from abstain.errors import InputError, Place, shown
from abstain.io.documents import records
from abstain.io.files import Opened
from abstain.io.log_rows import (
    RIGHT,
    WRONG,
    LogRows,
    accepted,
    as_float,
    number_picked,
    one_of,
    plain_text,
    verdict_of,
)
from abstain.io.normalise import squad
from abstain.io.readers import RIGHT_AT, Reader
from abstain.io.tables import Table

FIELDS = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash", "schema_version", "raw"),
)
"""What a row has besides its metrics; rows before 0.4.3 have fewer of them."""
PREFERRED = ("exact_match", "acc", "exact")
NAME = re.compile(r"samples_(?P<task>.+?)_(?P<date>\d{4}-\d\d-\d\dT.*)$")
HASH = 12
INVALID = "[invalid]"
"""What a regex filter leaves of a response in which it finds nothing."""
WHAT = "row of lm-evaluation-harness's samples"
SEEN = "only lm-evaluation-harness 0.4 is known; the file does not say which version wrote it"

Record = dict[str, Any]


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    """The documents of one filter with the verdicts of one metric."""
    chosen = _rows(opened, picks.get("filter"))
    metric = _metric(chosen[0][1], picks.get("metric"), opened.name)
    threshold = number_picked(picks, "right-at")
    rows = LogRows(opened, "lm-eval")
    task = NAME.match(Path(opened.name).stem)
    told: set[str] = set()
    hashed = all(isinstance(record.get("doc_hash"), str) for _, record in chosen)
    for line, record in chosen:
        place = Place(opened.name, line)
        if str(record["doc_id"]) in told:
            raise InputError(f"document {shown(str(record['doc_id']))} appears twice", place)
        told.add(str(record["doc_id"]))
        key = str(record["doc_hash"])[:HASH] if hashed else str(record["doc_id"])
        question = rows.again(key)
        _add(rows, question, record, metric, threshold, place, task["task"] if task else None)
    if metric != "acc" and any(_choices(record["filtered_resps"]) for _, record in chosen):
        rows.notes.append(
            f"the log does not say which option {metric} picks: answers and confidences are "
            "not read"
        )
    return rows.table(run=_run(opened), by_match=True, facts=_facts(opened))


def _rows(opened: Opened, wanted: str | None) -> list[tuple[int, Record]]:
    """The rows of the filter asked for, or of the only one, with their lines."""
    filters: dict[str, None] = {}
    kept: list[tuple[int, Record]] = []
    for line, record in records(opened, dict[str, Any], what=WHAT):
        place = Place(opened.name, line)
        for name in ("doc_id", "filtered_resps"):
            if name not in record:
                raise InputError(f"has no '{name}', expected a {WHAT} ({SEEN})", place)
        own = str(record.get("filter", "none"))
        filters[own] = None
        if wanted in (None, own):
            kept.append((line, _slim(record)))
    if not filters:
        raise InputError(f"has no rows, expected {WHAT}", opened.name)
    one_of(list(filters), wanted, what="filter", name=opened.name)
    return kept


def _slim(record: Record) -> Record:
    """A row without what is long and not needed: the document, its prompt."""
    raw = _response(record.get("resps")) if _choices(record["filtered_resps"]) is None else ""
    kept = {k: v for k, v in record.items() if k not in ("doc", "arguments", "resps")}
    return {**kept, "raw": raw}


def _run(opened: Opened) -> str | None:
    """A model's logs stand in a folder of its name; else the task names the run."""
    folder = Path(opened.name).parent.name
    named = NAME.match(Path(opened.name).stem)
    if folder and folder not in (".", "..") and named and not os.path.isabs(folder):
        return folder
    return named["task"] if named else None


def _facts(opened: Opened) -> list[tuple[str, str, str]]:
    """What a log's file name says of it: its task, and when it was written."""
    named = NAME.match(Path(opened.name).stem)
    if named is None:
        return []
    day, _, time = named["date"].partition("T")
    moment = f"{day}T{time.replace('-', ':')}"
    return [("task", "task", named["task"]), ("time", "time", moment)]


def _metric(record: Record, wanted: str | None, name: str) -> str:
    listed = record.get("metrics")
    found = (
        [m for m in listed if isinstance(m, str) and m in record]
        if isinstance(listed, list)
        else [k for k, v in record.items() if k not in FIELDS and isinstance(v, (int, float, list))]
    )
    if not found:
        raise InputError(f"has no metric in its rows, expected one such as 'acc' ({SEEN})", name)
    if wanted is None:
        usual = [m for m in PREFERRED if m in found]
        wanted = usual[0] if len(usual) == 1 else None
    return one_of(found, wanted, what="metric", name=name)


def _add(
    rows: LogRows,
    question: str,
    record: Record,
    metric: str,
    threshold: float | None,
    place: Place,
    task: str | None,
) -> None:
    if metric not in record:
        raise InputError(f"has no metric '{metric}', which other rows have ({SEEN})", place)
    value = record[metric]
    cells: dict[str, Any] = {"correct": accepted([record.get("target")])}
    pairs = _choices(record["filtered_resps"])
    if isinstance(value, list):
        outcome, more = _of_pair(value, metric, place)
        cells |= more
    else:
        value = math.nan if value is None else value
        if not isinstance(value, (int, float)):
            raise InputError(
                f"the metric {metric} is {shown(str(value))}, expected a number", place
            )
        verdict = verdict_of(value, threshold, place=place)
        outcome = verdict or "unscored"
        if verdict is None:
            cells["reason"] = f"{metric} is not a number (NaN or null)"
        if pairs is not None:
            cells |= _of_choices(pairs, metric)
        else:
            text = _response(record["filtered_resps"])
            cells |= {"said": text} | ({"response": record["raw"]} if record["raw"] else {})
            if outcome == WRONG and text in ("", INVALID):
                outcome = "unparseable" if record["raw"] else "empty"
    rows.add(
        question,
        outcome,
        line=place.line,
        own={"doc_id": str(record["doc_id"]), **({"task": task} if task else {})},
        **cells,
    )


def _choices(responses: Any) -> list[float] | None:
    """Log probabilities, where responses are (log probability, greedy) pairs; else None."""
    if not isinstance(responses, list) or len(responses) < 2:
        return None
    found = []
    for item in responses:
        pair = isinstance(item, list) and len(item) == 2
        if not pair or str(item[1]) not in ("True", "False"):
            return None
        try:
            found.append(float(item[0]))
        except (TypeError, ValueError, OverflowError):
            return None
    return found


def _of_choices(logs: Sequence[float], metric: str) -> dict[str, Any]:
    """The option of the largest log probability, and its share of them all."""
    top, options = max(logs), [str(i) for i in range(len(logs))]
    # acc_norm picks by length-normalised sums, which the row does not have
    if metric != "acc" or not math.isfinite(top):
        return {"options": options}
    share = 1 / math.fsum(math.exp(own - top) for own in logs)
    return {"answer": options[logs.index(top)], "confidence": share, "options": options}


def _response(responses: Any) -> str:
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return "" if isinstance(responses, list) else plain_text(responses)


def _of_pair(value: list[Any], metric: str, place: Place) -> tuple[str, dict[str, Any]]:
    """A metric over all rows (squadv2) logs what it takes: the prediction and the reference."""
    if (
        len(value) != 2
        or not all(isinstance(part, dict) for part in value)
        or "prediction_text" not in value[0]
        or "answers" not in value[1]
    ):
        raise InputError(
            f"the metric {metric} is a list, expected a number (or a prediction and its reference, "
            "as squadv2 logs them)",
            place,
        )
    said, answers = plain_text(value[0]["prediction_text"]), value[1]["answers"]
    texts = answers.get("text", []) if isinstance(answers, dict) else answers
    golds = [plain_text(t) for t in texts or () if plain_text(t)]
    sure = value[0].get("no_answer_probability")
    cells: dict[str, Any] = {"said": said, "correct": golds}
    if isinstance(sure, (int, float)):
        if not 0 <= sure <= 1:
            raise InputError(
                f"the no-answer probability is {as_float(sure):g}, expected 0 to 1", place
            )
        cells["confidence"] = 1 - float(sure)
    if not golds:
        return (RIGHT, cells | {"answer": "none"}) if not said else (WRONG, cells)
    if not said:
        return "empty", cells
    return (RIGHT if squad(said) in map(squad, golds) else WRONG), cells


READER = Reader(
    name="lm-eval",
    tool="lm-evaluation-harness",
    versions="0.4",
    files="samples_<task>_<date>.jsonl, as --log_samples writes it",
    sniff=re.compile(rb'\{(?=[^\n]*?"doc_id": ?\d)(?=[^\n]*?"filtered_resps": ?\[)'),
    picks={
        "filter": "the filter whose answers count",
        "metric": "the metric that says what is right",
        "right-at": RIGHT_AT,
    },
    one_task=True,
    paired_by="by doc_hash",
    read=read,
)
