"""AbstentionBench: the responses of one model to one data set, judged for abstention.

Where a question should not be answered, abstaining is right and an answer is wrong. Elsewhere an
abstention is a blank. What a judge left open is unscored. A log has no ids, and its order may be
drawn by chance: questions are known by a hash of what they ask, so that logs of one data set pair.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from abstain.errors import InputError, Place
from abstain.io.documents import document
from abstain.io.files import Opened
from abstain.io.log_rows import RIGHT, WRONG, LogRows, accepted, plain_text
from abstain.io.readers import Reader
from abstain.io.tables import Table

HASH = 12


class Prompt(msgspec.Struct):
    question: str
    should_abstain: bool | None = None
    reference_answers: list[Any] | None = None
    metadata: dict[str, Any] | None = None


class Response(msgspec.Struct):
    prompt: Prompt
    response_or_abstention: str | None = None
    response: str | None = None
    is_abstention: bool | None = None
    is_response_correct: bool | None = None


class Responses(msgspec.Struct):
    responses: list[Response]


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    """The responses; a question is known by what it asks, with `#2` where that is asked again."""
    log = document(opened, Responses, what="AbstentionBench log")
    rows = LogRows(opened, "abstentionbench", own=("should_abstain", "position"))
    graded = any(own.is_response_correct is not None for own in log.responses)
    if all(own.is_abstention is None for own in log.responses):
        raise InputError(
            "has no 'is_abstention' in any response, expected a judged log (such as "
            "LLMJudgeAbstentionDetector.json or LLMJudgeCorrectnessEvaluator.json)",
            opened.name,
        )
    for number, own in enumerate(log.responses, 1):
        place, prompt = Place(opened.name, row=number), own.prompt
        if prompt.should_abstain is None:
            raise InputError("has no 'should_abstain', expected true or false", place)
        said = plain_text(own.response_or_abstention or own.response)
        outcome, reason = _outcome(own, graded)
        claims = outcome == RIGHT and prompt.should_abstain
        rows.add(
            rows.again(_key(prompt)),
            outcome,
            answer="none" if claims else said,
            response=said or None,
            reason=reason,
            correct=[] if prompt.should_abstain else accepted(prompt.reference_answers or ()),
            own={
                "should_abstain": "yes" if prompt.should_abstain else "no",
                "position": str(number),
            },
            attributes=prompt.metadata,
        )
    if not graded and any(not own.prompt.should_abstain for own in log.responses):
        rows.notes.append(
            "nobody judged whether answers are correct (no 'is_response_correct'): answers to "
            "answerable questions are unscored"
        )
    return rows.table(run=_run(opened))


def _outcome(own: Response, graded: bool) -> tuple[str, str | None]:
    if own.is_abstention is None:
        return "unscored", "the judge did not say whether the response abstains"
    if own.prompt.should_abstain:
        return (RIGHT if own.is_abstention else WRONG), None
    if own.is_abstention:
        return "declined", None
    if own.is_response_correct is None:
        unsaid = "the judge did not say whether the answer is correct"
        return "unscored", unsaid if graded else "not judged"
    return (RIGHT if own.is_response_correct else WRONG), None


def _key(prompt: Prompt) -> str:
    """What a question asks, what is right and whether to abstain, as a few digits."""
    told = [prompt.question, prompt.should_abstain, prompt.reference_answers]
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()[:HASH]


def _run(opened: Opened) -> str | None:
    """Results stand in DATASET_MODEL/DATE/…: the folder above the date says what it is."""
    folders = Path(opened.name).parts[:-1]
    return folders[-2] if len(folders) > 1 else (folders[-1] if folders else None)


READER = Reader(
    name="abstentionbench",
    tool="AbstentionBench",
    versions="2025",
    files="the judged responses (LLMJudgeCorrectnessEvaluator.json, …)",
    sniff=re.compile(
        rb'\{\s*"responses"\s*:\s*\[\s*\{(?=.*?"should_abstain"\s*:)'
        rb'(?=.*?"is_abstention"\s*:)',
        re.S,
    ),
    paired_by="by question, reference answers and should_abstain",
    read=read,
)
