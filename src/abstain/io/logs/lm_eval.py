"""lm-evaluation-harness: `samples_<task>_<date>.jsonl`, as `--log_samples` writes it.

A row stands for a document and a filter. The verdict is the row's metric; of a multiple choice
the answer is the option of the largest log probability and its softmax is the confidence.
Documents are known by `doc_hash`, so that runs over a shuffled or a shortened task still pair.
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from abstain.errors import InputError, Place, shown
from abstain.io import readers
from abstain.io.files import Opened
from abstain.io.json_files import records
from abstain.io.normalise import squad
from abstain.io.tables import Table
from abstain.outcomes import OUTCOMES

FIELDS = ("doc_id", "target", "filtered_resps", "schema_version")
"""Numbers and lists of a row besides its metrics, which rows before 0.4.3 do not name."""
PREFERRED = ("exact_match", "acc", "exact", "c_at_1")
NAME = re.compile(r"samples_(?P<task>.+?)_(?P<day>\d{4}-\d\d-\d\d)T(?P<time>.*)$")
HASH = 12
INVALID = "[invalid]"
"""What a regex filter leaves of a response in which it finds nothing."""
WHAT = "row of lm-evaluation-harness 0.4"

Record = dict[str, Any]


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    chosen = _rows(opened, picks.get("filter"))
    metric = _metric(chosen[0][1], picks.get("metric"), opened.name)
    threshold = readers.number_picked(picks, "right-at")
    rows = readers.LogRows(opened, "lm-eval")
    name = NAME.match(Path(opened.name).stem)
    task = {"task": name["task"]} if name else {}
    documents = set()
    hashed = all(isinstance(record.get("doc_hash"), str) for _, record in chosen)
    for line, record in chosen:
        place = Place(opened.name, line)
        document = str(record["doc_id"])
        if document in documents:
            raise InputError(f"document {shown(document)} appears twice", place)
        documents.add(document)
        question = rows.again(str(record["doc_hash"])[:HASH] if hashed else document)
        outcome, values = _judged(record, metric, threshold, place)
        rows.add(question, outcome, line=line, attributes={"doc_id": document, **task}, **values)
    facts = []
    if name is not None:
        moment = f"{name['day']}T{name['time'].replace('-', ':')}"
        facts = [("task", "task", name["task"]), ("time", "time", moment)]
    folder = Path(opened.name).parent.name  # a model's logs are in a folder of its name
    is_model = folder not in ("", ".", "..") and not os.path.isabs(folder)
    run = folder if name and is_model else task.get("task")
    return rows.table(run=run, by_match=True, facts=facts)


def _rows(opened: Opened, wanted: str | None) -> list[tuple[int, Record]]:
    filters: dict[str, None] = {}
    kept: list[tuple[int, Record]] = []
    for line, record in records(opened, dict[str, Any], what=WHAT):
        if lacking := {"doc_id", "filtered_resps"} - record.keys():
            place = Place(opened.name, line)
            raise InputError(f"has no '{min(lacking)}', expected a {WHAT}", place)
        name = str(record.get("filter", "none"))
        filters[name] = None
        if wanted in (None, name):
            is_choice = _choices(record["filtered_resps"]) is not None
            raw = "" if is_choice else readers.first_text(record.get("resps"))
            long = ("doc", "arguments", "resps")  # not needed
            kept.append((line, {k: v for k, v in record.items() if k not in long} | {"raw": raw}))
    readers.one_of(list(filters), wanted, "filter", opened.name)
    return kept


def _metric(record: Record, wanted: str | None, name: str) -> str:
    listed = record.get("metrics")
    if isinstance(listed, list):
        metrics = [m for m in listed if isinstance(m, str) and m in record]
    else:
        kinds = (int, float, list)
        metrics = [k for k, v in record.items() if k not in FIELDS and isinstance(v, kinds)]
    usual = [m for m in PREFERRED if m in metrics]
    if wanted is None and len(usual) == 1:
        return usual[0]
    return readers.one_of(metrics, wanted, "metric", name)


def _judged(
    record: Record, metric: str, threshold: float | None, place: Place
) -> tuple[str, dict[str, Any]]:
    score = record.get(metric, "missing")
    if isinstance(score, list):
        return _judged_pair(score, metric, place)
    if score in OUTCOMES:  # of a task that abstain wrote
        return str(score), {"correct": readers.accepted([record.get("target")])}
    values: dict[str, Any] = {"correct": readers.accepted([record.get("target")])}
    if not isinstance(score, (int, float, type(None))):
        raise InputError(f"the metric '{metric}' is {shown(str(score))}, expected a number", place)
    outcome = readers.verdict_of(math.nan if score is None else score, threshold, place=place)
    if outcome == "unscored":
        values["reason"] = f"{metric} is not a number (NaN or null)"
    logs = _choices(record["filtered_resps"])
    if logs is not None:
        return outcome, values | _choice(logs, metric)
    values["text"] = readers.first_text(record["filtered_resps"])
    if record["raw"]:
        values["response"] = record["raw"]
    if outcome == "wrong" and values["text"] in ("", INVALID):
        outcome = "unparseable" if record["raw"] else "empty"
    return outcome, values


def _choices(responses: Any) -> list[float] | None:
    if not isinstance(responses, list) or len(responses) < 2:
        return None
    try:
        pairs = [(float(log), str(greedy)) for log, greedy in responses]
    except (TypeError, ValueError, OverflowError):
        return None
    is_choice = all(greedy in ("True", "False") for _, greedy in pairs)
    return [log for log, _ in pairs] if is_choice else None


def _choice(logs: Sequence[float], metric: str) -> dict[str, Any]:
    top, options = max(logs), [str(i) for i in range(len(logs))]
    # acc_norm picks by length-normalised sums, which the row does not have
    if metric != "acc" or not math.isfinite(top):
        return {"options": options}
    share = 1 / math.fsum(math.exp(log - top) for log in logs)
    return {"answer": options[logs.index(top)], "confidence": share, "options": options}


def _judged_pair(score: list[Any], metric: str, place: Place) -> tuple[str, dict[str, Any]]:
    """A metric over all rows (squadv2) logs what it takes: the prediction and the reference."""
    try:
        prediction, reference = score
        text, answers = readers.plain_text(prediction["prediction_text"]), reference["answers"]
    except (ValueError, TypeError, KeyError):
        raise InputError(f"the metric {metric} is a list, expected a number", place) from None
    texts = answers.get("text", []) if isinstance(answers, dict) else answers
    golds = [readers.plain_text(t) for t in texts or () if readers.plain_text(t)]
    values: dict[str, Any] = {"text": text, "correct": golds}
    if (chance := prediction.get("no_answer_probability")) is not None:
        probability = readers.share(chance, what="the no-answer probability", place=place)
        values["confidence"] = 1 - probability
    if not golds:
        return ("right", values | {"answer": "none"}) if not text else ("wrong", values)
    if not text:
        return "empty", values
    return ("right" if squad(text) in map(squad, golds) else "wrong"), values


READER = readers.Reader(
    name="lm-eval",
    sniff=re.compile(rb'\{(?=[^\n]*?"doc_id": ?\d)(?=[^\n]*?"filtered_resps": ?\[)'),
    picks={
        "filter": "the filter whose answers count",
        "metric": "the metric that says what is right",
        "right-at": readers.RIGHT_AT,
    },
    one_task=True,
    paired_by="by doc_hash",
    read=read,
)
