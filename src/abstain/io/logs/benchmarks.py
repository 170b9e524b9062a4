"""What benchmarks publish: judged responses (AbstentionBench, SimpleQA), PAN's answers, SQuAD 2."""

import contextlib
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, Place, UsageError, option, plural, shown
from abstain.io import readers
from abstain.io.files import Opened, open_file
from abstain.io.frames import ALIASES, names_systems
from abstain.io.json_files import document, records
from abstain.io.normalise import squad
from abstain.io.tables import ROW, Table, col, read_table

T = TypeVar("T")

HASH = 12


class Prompt(Struct):
    question: str
    should_abstain: bool
    reference_answers: list[Any] | None = None
    metadata: dict[str, Any] | None = None


class Response(Struct):
    prompt: Prompt
    response_or_abstention: str | None = None
    response: str | None = None
    is_abstention: bool | None = None
    is_response_correct: bool | None = None


class Responses(Struct):
    responses: list[Response]


def read_abstentionbench(opened: Opened, picks: Mapping[str, str]) -> Table:
    rows = readers.LogRows(opened, "abstentionbench")
    responses = document(opened, Responses, what="AbstentionBench log").responses
    for number, response in enumerate(responses, 1):
        prompt = response.prompt
        abstain, targets = prompt.should_abstain, prompt.reference_answers
        asked = msgspec.json.encode([prompt.question, abstain, targets])
        text = readers.plain_text(response.response_or_abstention or response.response)
        outcome, reason = _judged(response)
        rows.add(
            rows.again(hashlib.sha256(asked).hexdigest()[:HASH]),
            outcome,
            text=text,
            reason=reason,
            correct=[] if abstain else readers.accepted(targets),
            attributes={
                "answerable": "no" if abstain else "yes",
                "should_abstain": "yes" if abstain else "no",
                "position": str(number),
            },
            metadata=prompt.metadata,
        )
    # results stand in DATASET_MODEL/DATE/…
    return rows.table(run=next(iter(Path(opened.name).parts[:-1][-2:]), None))


def _judged(response: Response) -> readers.Verdict:
    """Abstaining is declining; where it should have abstained, any answer is wrong."""
    verdict = response.is_abstention
    if verdict:
        return "declined", None
    if verdict is not None and not response.prompt.should_abstain:
        verdict = response.is_response_correct
    if verdict is None:
        return "unscored", "the judge did not say whether the response abstains or is correct"
    return ("right" if verdict else "wrong"), None


ABSTENTIONBENCH = readers.Reader(
    name="abstentionbench",
    sniff=re.compile(
        rb'\{\s*"responses"\s*:\s*\[\s*\{(?=.*?"should_abstain"\s*:)'
        rb'(?=.*?"is_abstention"\s*:)',
        re.S,
    ),
    paired_by="by question, reference answers and should_abstain",
    read=read_abstentionbench,
)

# "The correct answer is Lima" is no CORRECT: a grade is all of a cell, a whole line, a line such
# as "Grade: A", or the grade of a JSON object; what else a cell says is unscored.
MEANINGS = {"A": "right", "B": "wrong", "C": "declined"}
MEANINGS |= {"CORRECT": "right", "INCORRECT": "wrong", "NOTATTEMPTED": "declined"}
LABEL = (
    r"(?:(?:the|my|final|overall)\s+)*(?:grade|verdict|judge?ment|grading)"
    r"[\s\"'”*_`]*(?::|=|\bis\b:?)"
)
GRADE = r"[ABC]|NOT[ _-]?ATTEMPTED|INCORRECT|CORRECT"
OPENS, CLOSES = r"[\s\"'“‘(\[{*_`<#>]*", r"[\s\"'”’)\]}*_`>.,;!]*"
"""What may stand around a grade: quotes, brackets, emphasis; "A-" and "B?" are no grades."""
VERDICT = re.compile(
    rf"{OPENS}(?:{LABEL})?{OPENS}({GRADE})(?:{CLOSES}[:=-]?{OPENS}(?<!\w)({GRADE}))?{CLOSES}",
    re.IGNORECASE,
)
FENCE = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL)
KEYS = ("grade", "verdict", "judgement", "judgment", "grade_letter")
MOST_LINE = 200
KNOWN_FORMS = "A, B, C, CORRECT, INCORRECT or NOT_ATTEMPTED, alone or in a line 'Grade: A'"

GRADES = ("grade", "grader_response", "judgement", "judgment", "grade_letter", "outcome")
EXACT = ("question_id", "id", "qid", "index", "original_index")
"""Columns that name a question once."""
QUESTIONS = (*EXACT, "question", "problem")
ANSWERS = ("predicted_answer", "prediction", "response", "model_answer", "model_response", "answer")
TARGETS = ("target", "correct", "gold", "reference", "answer")


def grade_of(text: str) -> str | None:
    """What a judge's grade says, or None where there is none, or several that differ."""
    fenced = FENCE.search(text)
    body = fenced[1] if fenced else text.strip()
    lines = text.splitlines()
    if body.startswith("{"):  # the JSON that a judge was asked for
        lines = []
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            items = msgspec.json.decode(body).items()
            lines = [v for k, v in items if k.strip().lower() in KEYS and isinstance(v, str)]
    matches = [VERDICT.fullmatch(line) for line in lines if len(line) <= MOST_LINE]
    words = [word.upper() for match in matches if match for word in match.groups() if word]
    grades = {MEANINGS[re.sub(r"[ _-]", "", word)] for word in words}
    return grades.pop() if len(grades) == 1 else None


def read_simpleqa(opened: Opened, picks: Mapping[str, str]) -> Table:
    raw = read_table(opened)
    column = _column(raw, picks.get("grade"), GRADES)
    if column is None:
        have, how = ", ".join(raw.columns[:20]), option("pick", {"grade": "NAME"})
        raise InputError(f"has no column of grades (its columns: {have}); name it: {how}", raw.name)
    id_column = _column(raw, picks.get("question"), QUESTIONS)
    run_column = _run_column(raw, picks.get("run"))
    answer = _column(raw, None, ANSWERS)
    target = next((c for c in TARGETS if c in raw.columns and c != answer), None)
    used = {ROW, column, id_column, answer, target, run_column, "confidence"}
    rows = readers.LogRows(opened, "simpleqa")
    unread: list[str] = []
    counted: Counter[str] = Counter()
    for row in raw.frame.collect().iter_rows(named=True):
        grade, place = readers.plain_text(row[column]), raw.place(row[ROW])
        outcome, reason = grade_of(grade), None
        if outcome is None:
            outcome, reason = "unscored", f"the grade reads {shown(grade, most=40)}"
            unread.append(f"{place}: {reason}")
        run = readers.plain_text(row[run_column]) if run_column else ""
        counted[run] += 1
        question = readers.plain_text(row[id_column]) if id_column else str(counted[run])
        sure = readers.plain_text(row.get("confidence"))
        again = rows.again(question, run)  # a text may well be asked twice
        if again != question and ("question" in picks or id_column in EXACT):
            raise InputError(f"question {shown(question)} appears twice", place)
        rows.add(
            again,
            outcome,
            text=readers.plain_text(row[answer]) if answer else "",
            reason=reason,
            correct=readers.accepted([row[target]]) if target else None,
            confidence=readers.share(sure, what="the confidence", place=place) if sure else None,
            run=run or None,
            metadata={c: row[c] for c in raw.columns if c not in used},
        )
    if unread:
        what = f"{len(unread):,} of {len(rows.rows):,} grades cannot be read as one grade"
        rows.notes.append(f"{what}: unscored (expected {KNOWN_FORMS}; the first, {unread[0]})")
    if run_column in (None, "run"):
        return rows.table()
    note = f"columns read by their usual names: {run_column} as run"
    table = rows.table()
    return replace(table, renamed={run_column: "run"}, notes=(*table.notes, note))


def _column(raw: Table, picked: str | None, usual: tuple[str, ...]) -> str | None:
    if picked is not None and picked not in raw.columns:
        have = ", ".join(raw.columns[:20])
        raise InputError(f"has no column {shown(picked)} (its columns: {have})", raw.name)
    return picked or next((c for c in usual if c in raw.columns), None)


def _run_column(raw: Table, picked: str | None) -> str | None:
    column = _column(raw, picked, ("run", *ALIASES["run"]))
    if column is not None:
        return column
    for name in filter(names_systems, raw.columns):
        systems = raw.frame.select(col(name).n_unique()).collect().item()
        if systems > 1:
            how = f"say that it names the runs: {option('pick', {'run': name})}"
            what = f"column {shown(name)} names {systems} systems, which would be one run"
            raise InputError(f"{what}; {how}", raw.name)
    return None


SIMPLEQA = readers.Reader(
    name="simpleqa",
    picks={
        "grade": "the column of grades",
        "question": "the column that names questions",
        "run": "the column that names the runs",
    },
    read=read_simpleqa,
)

SAME, DIFFERENT = "same", "different"


class Line(Struct):
    id: str | int
    same: bool | None = None
    value: Any = None
    """A number; one system of 2020 wrote a list of one."""


def read_pan(opened: Opened, picks: Mapping[str, str]) -> Table:
    """A truth as a gold, answers as a run: "same" above 0.5, "different" below, 0.5 is none."""
    rows = readers.LogRows(opened, "pan")
    for number, line in records(opened, Line, what="line of PAN's truth or answers"):
        outcome, values = "right", dict[str, Any]()
        if line.same is not None:
            values = {"correct": [SAME if line.same else DIFFERENT], "options": [SAME, DIFFERENT]}
            values["attributes"] = {"same": "yes" if line.same else "no"}
        else:
            is_one = isinstance(line.value, list) and len(line.value) == 1
            value = line.value[0] if is_one else line.value
            value = readers.share(value, what="'value'", place=Place(opened.name, number))
            outcome = "declined" if value == 0.5 else "right"
            values = {"answer": SAME if value > 0.5 else DIFFERENT, "value": value}
            values["confidence"] = max(value, 1 - value)
        rows.add(str(line.id), outcome, line=number, **values)
    return rows.gold()


PAN = readers.Reader(name="pan", read=read_pan)

DATA_SET = re.compile(rb'"data"\s*:\s*\[')
"""What a data set has and predictions, whose values are texts, have not."""


class Answer(Struct):
    text: str


class Item(Struct):
    id: str
    answers: list[Answer] = []


class Paragraph(Struct):
    qas: list[Item]


class Article(Struct):
    paragraphs: list[Paragraph]
    title: str = ""


class DataSet(Struct):
    data: list[Article]


def read_squad(opened: Opened, picks: Mapping[str, str]) -> Table:
    rows = readers.LogRows(opened, "squad")
    if "gold" not in picks:
        if not DATA_SET.search(opened.head):
            example = option("pick", {"gold": "dev-v2.0.json"})
            raise InputError(f"are predictions; name their data set, as in {example}", opened.name)
        for name, known in _questions(opened).items():
            rows.add(name, "right", **known)
        return rows.gold()
    questions = _questions(open_file(picks["gold"]))
    predictions = _by_question(opened, str, questions, what="SQuAD prediction file")
    threshold = readers.number_picked(picks, "threshold")
    if threshold is not None and "na-prob" not in picks:
        raise UsageError("threshold needs the no-answer probabilities: na-prob=FILE")
    chances: dict[str, float] = {}
    if "na-prob" in picks:
        file = open_file(picks["na-prob"])
        chances = _by_question(file, float, questions, what="SQuAD file of probabilities")
        if lacking := [name for name in questions if name not in chances]:
            raise InputError(f"has no probability for question {shown(lacking[0])}", file.name)
    probable = all(0 <= chance <= 1 for chance in chances.values())
    for name, known in questions.items():
        text, chance, golds = predictions.get(name), chances.get(name), known["correct"]
        held = bool(text) and threshold is not None and chance is not None and chance > threshold
        outcome, values = _predicted(text, golds, held=held)
        values |= {
            "response": text or None,
            "exact": exact_match(text or "", golds),
            "f1": f1_of_words(text or "", golds),
            "na_prob": chance,
        }
        if chance is not None and probable:  # of its answer, which may be that there is none
            values["confidence"] = 1 - chance if text and (golds or not held) else chance
        rows.add(name, outcome, **known, **values)
    if not probable:
        rows.notes.append("the no-answer probabilities are not from 0 to 1: no confidence")
    if silent := len(questions) - len(predictions):
        rows.notes.append(f"{plural(silent, 'question has', 'questions have')} no prediction")
    return rows.table(by_match=True)


def _predicted(text: str | None, golds: Sequence[str], *, held: bool) -> tuple[str, dict[str, Any]]:
    if text is None:
        return "missing", {}
    fits = squad(text) in map(squad, golds)
    if held:
        return "unanswered_right" if fits else "unanswered_wrong", {"candidate": text}
    if not text or not (golds or squad(text)):  # where nothing is right, nothing is left of "the"
        return "declined", {}
    return "right" if fits else "wrong", {"answer": text}


def exact_match(text: str, golds: Sequence[str]) -> float:
    """1 where a prediction is one of the answers; with none, where it is empty."""
    return float(squad(text) in map(squad, golds or ("",)))


def f1_of_words(text: str, golds: Sequence[str]) -> float:
    words, best = squad(text).split(), 0.0
    for gold in (squad(gold).split() for gold in golds or ("",)):
        common = sum((Counter(words) & Counter(gold)).values())
        best = max(best, 2 * common / (len(words) + len(gold)) if words or gold else 1.0)
    return best


def _questions(opened: Opened) -> dict[str, dict[str, Any]]:
    """What is known of each question; an answer that normalises to nothing is none, as in SQuAD."""
    data = document(opened, DataSet, what="SQuAD 2 data set")
    questions: dict[str, dict[str, Any]] = {}
    for article in data.data:
        for item in (item for paragraph in article.paragraphs for item in paragraph.qas):
            golds = [answer.text for answer in item.answers if squad(answer.text)]
            if item.id in questions:
                raise InputError(f"has question {shown(item.id)} twice", opened.name)
            kind = {
                "answerable": "yes" if golds else "no",
                "kind": "HasAns" if golds else "NoAns",
                "title": article.title,
            }
            questions[item.id] = {"correct": golds, "attributes": kind}
    return questions


def _by_question(
    opened: Opened, shape: type[T], questions: Mapping[str, Any], *, what: str
) -> dict[str, T]:
    values = document(opened, dict[str, shape], what=what)  # type: ignore[valid-type]
    if others := values.keys() - questions.keys():
        what = f"has question {shown(min(others))}, which the data set lacks"
        raise InputError(what, opened.name)
    return values


SQUAD = readers.Reader(
    name="squad",
    sniff=re.compile(rb'\{\s*"version"\s*:\s*"v2\.0"\s*,\s*"data"\s*:\s*\['),
    picks={
        "gold": "the data set (dev-v2.0.json)",
        "na-prob": "the file of no-answer probabilities",
        "threshold": "an answer is left blank if its no-answer probability is above this",
    },
    read=read_squad,
)
