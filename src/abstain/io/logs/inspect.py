"""Inspect logs, `.eval` and `.json`: epochs are repeats `q1`, `q1#2`, … clustered by `sample`."""

import fnmatch
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct, field

from abstain.errors import InputError, Place, UsageError, option, plural, reason_of, shown
from abstain.io import readers
from abstain.io.files import Opened
from abstain.io.json_files import decode, document
from abstain.io.submissions import HEADERS, Archive, open_archive
from abstain.io.tables import Plan, Table

T = TypeVar("T")

VALUES = {"C": "right", "I": "wrong", "N": "declined"}
VALUES |= dict.fromkeys(("yes", "true"), "right") | dict.fromkeys(("no", "false"), "wrong")
CANCELLED = "CancelledError"
"""The error of a sample that Inspect itself stopped, because another one failed."""
MATCHERS = ("match", "includes", "exact", "f1", "pattern", "answer", "choice")
"""Scorers that compare texts: they know no refusal."""


class Score(Struct):
    value: Any
    answer: Any = None
    explanation: Any = None


class Output(Struct):
    completion: Any = None
    choices: Any = None


class Sample(Struct):
    id: str | int
    epoch: int = 1
    target: Any = None
    output: Output | None = None
    scores: dict[str, Score] | None = None
    score: Score | None = None
    metadata: dict[str, Any] | None = None
    error: Any = None
    limit: Any = None


class Dataset(Struct):
    name: Any = None
    location: Any = None
    samples: int | None = None
    sample_ids: list[str | int] | None = None


class Config(Struct):
    epochs: int | None = None
    limit: int | float | list[int] | None = None
    """So many samples, or from where to where."""
    sample_id: Any = None
    """Only these samples; `*` stands for anything."""


class Spec(Struct):
    task: str = ""
    model: str = ""
    created: Any = None
    task_args: dict[str, Any] | None = None
    model_args: dict[str, Any] | None = None
    model_generate_config: dict[str, Any] | None = None
    dataset: Dataset = field(default_factory=Dataset)
    config: Config = field(default_factory=Config)


class Step(Struct):
    solver: str = "solver"
    params: dict[str, Any] | None = None


class Solvers(Struct):
    steps: list[Step] = []
    config: dict[str, Any] | None = None


class Header(Struct):
    eval: Spec
    status: str = "started"
    plan: Solvers | None = None


class Log(Header):
    samples: list[Sample] | None = None


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    rows = readers.LogRows(opened, "inspect")
    if not opened.head.startswith(b"PK"):
        log = document(opened, Log, what="Inspect log")
        if log.samples is None:
            raise InputError("has no samples, expected a log with them", opened.name)
        return _Reader(rows, picks, log).table((Place(opened.name), s) for s in log.samples)
    with open_archive(opened) as archive:
        name = next((name for name in HEADERS if name in archive.entries), None)
        if name is None:
            raise InputError("is an archive without a header.json, expected a log", opened.name)
        header = _entry(archive, name, Header, "Inspect header")[1]
        names = [n for n in archive.entries if n.startswith("samples/") and n.endswith(".json")]
        samples = (_entry(archive, name, Sample, "Inspect sample") for name in names)
        return _Reader(rows, picks, header).table(samples)


def _entry(archive: Archive, name: str, shape: type[T], what: str) -> tuple[Place, T]:
    place = Place(f"{archive.opened.name} ({shown(name)[1:-1]})")
    return place, decode(archive.read(name), shape, place, what=what)


class _Reader:
    def __init__(self, rows: readers.LogRows, picks: Mapping[str, str], header: Header) -> None:
        self.rows, self.header = rows, header
        self.threshold = readers.number_picked(picks, "right-at")
        self.partial = picks.get("partial")
        if self.partial not in (None, "right", "wrong"):
            raise UsageError(f"partial is right or wrong (got '{self.partial}')")
        self.picked = picks.get("scorer")
        self.scorer: str | None = None
        """Whose values count, and which of several values: by the first sample with scores."""
        self.key = ""
        self.several = (header.eval.config.epochs or 1) > 1
        self.identities: set[tuple[str, int]] = set()
        self.plan: Plan = "samples"

    def table(self, samples: Iterator[tuple[Place, Sample]]) -> Table:
        spec, finished = self.header.eval, self.header.status == "success"
        for place, sample in samples:
            if finished or sample.error is None or not _message(sample.error).startswith(CANCELLED):
                self._add(place, sample)
        self._add_missing()
        if not finished:
            self.rows.notes.append(f"the run did not finish: its status is '{self.header.status}'")
        if self.several:
            self.rows.notes.append("samples have several epochs: a sample is a cluster (sample)")
        return self.rows.table(
            run=(spec.task if spec.model in ("none/none", "none") else spec.model) or None,
            cluster="sample" if self.several else None,
            by_match=(self.scorer or "").rpartition("/")[2] in MATCHERS,
            facts=_facts(self.header),
            plan=self.plan,
        )

    def _score(self, sample: Sample) -> Score | None:
        scores = sample.scores or ({"score": sample.score} if sample.score is not None else {})
        if scores and self.scorer is None:
            name = self.picked
            if name is not None and name not in scores:
                name, _, self.key = name.partition(".")
            self.scorer = readers.one_of(list(scores), name, "scorer", self.rows.opened.name)
        return scores.get(self.scorer or "")

    def _add(self, place: Place, sample: Sample) -> None:
        identity = str(sample.id), sample.epoch
        if identity in self.identities:
            where = f"in epoch {sample.epoch}"
            raise InputError(f"sample {shown(identity[0])} appears twice {where}", place)
        self.identities.add(identity)
        score = self._score(sample)  # of one that failed too: it may choose the scorer
        outcome, reason = self._outcome(sample, score, place)
        answer = response = _completion(sample.output)
        if score is not None and score.answer is not None and outcome != "error":
            answer = readers.plain_text(score.answer)
        if outcome == "wrong" and not answer and not response and sample.output is not None:
            outcome = "empty"
        self.rows.add(
            readers.numbered(*identity),
            outcome,
            answer=answer,
            response=response or answer or None,
            reason=reason,
            correct=readers.accepted(sample.target),
            attributes=self._attributes(*identity),
            metadata=sample.metadata,
        )

    def _outcome(self, sample: Sample, score: Score | None, place: Place) -> tuple[str, str | None]:
        if sample.error is not None:
            return "error", _message(sample.error)
        outcome = "unscored" if score is None else self._verdict(score.value, place)
        if sample.limit is not None and outcome != "right":
            limit = sample.limit if isinstance(sample.limit, dict) else {"type": sample.limit}
            return "limit", reason_of(f"{limit.get('type')} limit {limit.get('limit', '')}")
        if outcome != "unscored":
            return outcome, None
        reason = readers.plain_text(score.explanation) if score is not None else "there is no score"
        return outcome, reason_of(reason or "the score is not a number (NaN)")

    def _verdict(self, value: Any, place: Place) -> str:
        if isinstance(value, dict):
            if self.key not in value:
                example = option("pick", {"scorer": f"{self.scorer}.{next(iter(value), 'KEY')}"})
                raise InputError(f"the score has several values; name one, as in {example}", place)
            value = value[self.key]
        if value is None:
            return "unscored"
        text = str(value).strip()
        if text == "P":
            if self.partial is not None:
                return self.partial
            example = option("pick", {"partial": "wrong"})
            raise InputError(f"the score P (partial) may be right or wrong: {example}", place)
        if verdict := VALUES.get(text) or VALUES.get(text.lower()):
            return verdict
        try:
            number = value if isinstance(value, (int, float)) else float(text)
        except ValueError:
            expected = "expected C, I, P, N or a number"
            raise InputError(f"the score is {shown(text)}, {expected}", place) from None
        return readers.verdict_of(number, self.threshold, place=place)

    def _attributes(self, sample: str, epoch: int) -> dict[str, Any]:
        task = {"task": self.header.eval.task} if self.header.eval.task else {}
        return {"sample": sample, **({"epoch": epoch} if self.several else {}), **task}

    def _add_missing(self) -> None:
        dataset, config = self.header.eval.dataset, self.header.eval.config
        epochs, held = config.epochs or 1, len(self.identities)
        ids = _wanted([str(i) for i in dataset.sample_ids or ()], config)
        if ids and {sample for sample, _ in self.identities} <= set(ids):
            announced = [(sample, epoch) for sample in ids for epoch in range(1, epochs + 1)]
            for identity in announced:
                if identity not in self.identities:
                    attributes = self._attributes(*identity)
                    self.rows.add(readers.numbered(*identity), "missing", attributes=attributes)
            if lacking := len(announced) - held:
                self.rows.notes.append(f"lacks {lacking:,} of {plural(len(announced), 'sample')}")
            return
        expected = epochs * (len(ids) or _first(dataset.samples or 0, config.limit))
        if expected > held:
            self.plan = "epochs"
            what = f"has {held:,} of {expected:,} samples"
            self.rows.notes.append(f"{what}; which are missing is unknown: they are not counted")


def _facts(header: Header) -> list[tuple[str, str, str]]:
    """What distinguishes a log from others of its model: task, settings and prompts, time."""
    spec, plan = header.eval, header.plan or Solvers()
    sources = [spec.task_args, spec.model_args, spec.model_generate_config, plan.config]
    settings = [item for source in sources for item in (source or {}).items()]
    settings.sort(key=lambda setting: isinstance(setting[1], (dict, list)))  # long ones last
    for step in plan.steps:
        params = dict(step.params or {})
        settings.append((step.solver, params.pop("template", None) or "used"))
        settings += [(f"{step.solver} {name}", value) for name, value in params.items()]
    dataset = spec.dataset.location or spec.dataset.name
    facts = [("task", "task", spec.task), ("dataset", "dataset", dataset)]
    facts += [("settings", name, value) for name, value in settings if value not in (None, {}, [])]
    texts = [(kind, name, readers.plain_text(value)) for kind, name, value in facts]
    return [*texts, ("time", "time", readers.plain_text(spec.created))]


def _wanted(ids: list[str], config: Config) -> list[str]:
    """The samples that were to be run: older versions list the whole data set."""
    if config.sample_id is not None:
        wanted = config.sample_id if isinstance(config.sample_id, list) else [config.sample_id]
        return [i for i in ids if any(fnmatch.fnmatchcase(i, str(pattern)) for pattern in wanted)]
    if isinstance(config.limit, list) and len(config.limit) == 2:
        start, end = max(config.limit[0], 0), config.limit[1]
        return ids if len(ids) <= end - start else ids[start:end]
    return ids[: _first(len(ids), config.limit)]


def _first(count: int, limit: Any) -> int:
    return min(count, limit) if isinstance(limit, int) and limit > 0 else count


def _completion(output: Output | None) -> str:
    if output is None or isinstance(output.completion, str):
        return output.completion.strip() if output else ""
    try:
        content = output.choices[0]["message"]["content"]
    except (LookupError, TypeError):
        return ""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        content = "\n".join(str(text) for text in texts if text)
    return readers.plain_text(content)


def _message(error: Any) -> str:
    text = error.get("message") if isinstance(error, dict) else error
    return reason_of(readers.plain_text(text) or "the sample failed")


READER = readers.Reader(
    name="inspect",
    sniff=re.compile(
        rb'PK\x03\x04|PK\x05\x06|\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"\w+"\s*,'
        rb'\s*"eval"\s*:\s*\{'
    ),
    picks={
        "scorer": "the scorer whose values count; NAME.KEY for one of several values",
        "right-at": readers.RIGHT_AT,
        "partial": "what P is: right or wrong",
    },
    one_task=True,
    read=read,
)
