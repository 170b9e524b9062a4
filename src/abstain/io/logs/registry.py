"""The readers of other tools' logs, and how a log is told from a table.

A reader turns a log into one table: `question`, `outcome` (right, wrong, or why there is no
answer), `answer`, what else the log knows (`correct`, `options`, `confidence`, `reason`), and
its metadata as attributes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from abstain.errors import UnknownNameError, UsageError, option
from abstain.io.files import BOM

if TYPE_CHECKING:
    from abstain.io.files import Opened
    from abstain.io.tables import Table

ZIP = b"PK"
BETWEEN_PICKS = re.compile(r",(?=\s*[a-z][a-z-]*\s*=|\s*$)")


@dataclass(frozen=True, slots=True)
class Reader:
    """What is known of a tool's logs before one is opened."""

    name: str
    module: str
    """Where its `read(opened, picks)` is."""
    tool: str
    versions: str
    """The versions whose logs were looked at."""
    files: str
    sniff: re.Pattern[bytes] | None = None
    """How such a file begins; None: nothing in it says so safely, `--from` must."""
    picks: Mapping[str, str] | None = None
    """What can be picked of a log, and what that means."""

    def read(self, opened: Opened, picks: Mapping[str, str]) -> Table:
        """The log as a table."""
        for name in picks:
            if name not in (self.picks or {}):
                known = tuple(self.picks or ())
                raise UnknownNameError(
                    f"pick of {self.name}", name, known, hint=f"there are {', '.join(known) or '–'}"
                )
        module = import_module(f"abstain.io.logs.{self.module}")
        table: Table = module.read(opened, picks)
        return table


RIGHT_AT = "a score of at least this is right (for scores between 0 and 1)"

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader(
            "lm-eval",
            "lm_eval",
            "lm-evaluation-harness",
            "0.4",
            "samples_<task>_<date>.jsonl, as --log_samples writes it",
            re.compile(rb'\{(?=[^\n]*?"doc_id": ?\d)(?=[^\n]*?"filtered_resps": ?\[)'),
            {
                "filter": "the filter whose answers count",
                "metric": "the metric that says what is right",
                "right-at": RIGHT_AT,
            },
        ),
        Reader(
            "inspect",
            "inspect",
            "Inspect",
            "log versions 1 and 2",
            ".eval and .json logs",
            re.compile(
                rb'PK\x03\x04|PK\x05\x06|\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"\w+"\s*,'
                rb'\s*"eval"\s*:\s*\{'
            ),
            {
                "scorer": "the scorer whose values count; NAME.KEY for one of several values",
                "right-at": RIGHT_AT,
                "partial": "what P is: right or wrong",
            },
        ),
        Reader(
            "simpleqa",
            "simpleqa",
            "SimpleQA style grades",
            "A/B/C and CORRECT/INCORRECT/NOT_ATTEMPTED",
            "a table (CSV, TSV, JSONL, Parquet) with a column of grades",
            None,
            {"grade": "the column of grades", "question": "the column that names questions"},
        ),
        Reader(
            "pan",
            "pan",
            "PAN authorship verification",
            "PAN 2020 to 2023",
            "truth.jsonl (id, same) and answers.jsonl (id, value)",
        ),
        Reader(
            "squad",
            "squad",
            "SQuAD 2",
            "v2.0",
            "predictions ({question: text}) with gold=FILE, or the data set itself",
            re.compile(rb'\{\s*"version"\s*:\s*"v2\.0"\s*,\s*"data"\s*:\s*\['),
            {
                "gold": "the data set (dev-v2.0.json)",
                "na-prob": "the file of no-answer probabilities",
                "threshold": "an answer is held back where its no-answer probability is above",
            },
        ),
        Reader(
            "abstentionbench",
            "abstentionbench",
            "AbstentionBench",
            "2025",
            "the judged responses (LLMJudgeCorrectnessEvaluator.json, …)",
            re.compile(
                rb'\{\s*"responses"\s*:\s*\[\s*\{(?=.*?"should_abstain"\s*:)'
                rb'(?=.*?"is_abstention"\s*:)',
                re.S,
            ),
        ),
        Reader(
            "promptfoo",
            "promptfoo",
            "promptfoo",
            "summary versions 2 and 3",
            "promptfoo eval -o results.json or results.jsonl",
            re.compile(
                rb'\{\s*"evalId"\s*:\s*(?:"[^"]*"|null)\s*,\s*"results"\s*:\s*\{'
                rb'|\{\s*"version"\s*:\s*[23]\s*,\s*"timestamp"\s*:\s*"[^"]*"\s*,'
                rb'\s*"(?:results|prompts|stats)"\s*:'
                rb'|\{(?=[^\n]*?"promptIdx"\s*:)(?=[^\n]*?"testIdx"\s*:)(?=[^\n]*?"success"\s*:)'
            ),
            {"right-at": RIGHT_AT},
        ),
        Reader(
            "openai-evals",
            "openai_evals",
            "openai/evals",
            "1 to 3",
            "the JSONL that oaieval records",
            re.compile(rb'\{"spec"\s*:\s*\{'),
            {"right-at": RIGHT_AT, "right": "the grader's choices that are right, as in A+C"},
        ),
        Reader(
            "deepeval",
            "deepeval",
            "deepeval",
            "3 and 4",
            "a test run's JSON, as DEEPEVAL_RESULTS_FOLDER keeps it",
            re.compile(rb'\{\s*(?:"\w+"\s*:\s*(?:"[^"]*"|null)\s*,\s*)*"testCases"\s*:\s*\['),
            {"metric": "the metric that says what is right (default: all)", "right-at": RIGHT_AT},
        ),
    )
}


def split_format(format: str) -> tuple[str, dict[str, str]]:
    """The name of a format and what is picked of it.

    A pick begins with its name, so a value may hold commas that no `name=` follows.

    >>> split_format("lm-eval:filter=strict-match,metric=exact_match")
    ('lm-eval', {'filter': 'strict-match', 'metric': 'exact_match'})
    >>> split_format("squad:gold=a,b.json,threshold=0.2")
    ('squad', {'gold': 'a,b.json', 'threshold': '0.2'})
    """
    name, _, rest = format.partition(":")
    picks: dict[str, str] = {}
    for text in filter(None, BETWEEN_PICKS.split(rest)):
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise UsageError(
                f"{option('format')} reads NAME:PICK=VALUE, such as lm-eval:filter=none "
                f"(got '{format}')"
            )
        if key.strip() in picks:
            raise UsageError(f"{option('format')} says {key.strip()} twice (got '{format}')")
        picks[key.strip()] = value.strip()
    return name.strip(), picks


def log_format(format: str | None) -> str | None:
    """A format that is a tool's log: golds of commands that sniff them are read by it too."""
    return format if format and split_format(format)[0] in READERS else None


def with_languages(format: str | None, languages: str | None) -> str | None:
    """A format that also says in which languages to look for refusals.

    >>> with_languages("lm-eval:filter=none", "en,de"), with_languages(None, "en")
    ('lm-eval:filter=none,refusals=en+de', ':refusals=en')
    """
    if languages is None:
        return format
    joined = languages.replace(" ", "").replace(",", "+")
    if not joined:
        raise UsageError(f"{option('detect_refusals')} names languages: en,de,es,fr,it or all")
    base = format or ""
    return f"{base}{',' if ':' in base else ':'}refusals={joined}"


def sniff_log(head: bytes) -> str | None:
    """The log that a file's first bytes are surely of."""
    text = head.removeprefix(BOM).lstrip()
    if not text.startswith((b"{", ZIP)):
        return None
    for reader in READERS.values():
        if reader.sniff is not None and reader.sniff.match(text):
            return reader.name
    return None
