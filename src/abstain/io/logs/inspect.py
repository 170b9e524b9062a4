"""Inspect logs: `.eval` archives and `.json` files.

A sample's epochs are repeats of one question: `q1`, `q1#2`, … with `sample` as their cluster. An
error, a limit that was reached and a score of NaN are blanks of their own kind.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from abstain.errors import InputError, Place, UsageError, option, plural, shown
from abstain.io.archive import Archive, Damaged, is_inspect
from abstain.io.documents import decode, document
from abstain.io.files import Opened
from abstain.io.log_rows import (
    RIGHT,
    WRONG,
    LogRows,
    accepted,
    number_picked,
    numbered,
    one_of,
    plain_text,
    verdict_of,
)
from abstain.io.readers import RIGHT_AT, Reader
from abstain.io.tables import Plan, Table, first_line

SAMPLES = "samples/"
HEADERS = ("header.json", "_journal/start.json")
LETTERS = {"C": RIGHT, "I": WRONG, "N": "declined"}
WORDS = {"yes": RIGHT, "true": RIGHT, "no": WRONG, "false": WRONG}
MATCHERS = ("match", "includes", "exact", "f1", "pattern", "answer", "choice")
"""Scorers that compare texts: they know no refusal."""


class Score(msgspec.Struct):
    """What a scorer said of a sample."""

    value: Any = None
    answer: Any = None
    explanation: Any = None


class Message(msgspec.Struct):
    content: Any = None


class Choice(msgspec.Struct):
    message: Message | None = None


class Output(msgspec.Struct):
    completion: Any = None
    choices: list[Choice] = []
    error: Any = None


class Sample(msgspec.Struct):
    """What is read of a sample; its messages and events are skipped."""

    id: str | int
    epoch: int = 1
    target: Any = None
    output: Output | None = None
    scores: dict[str, Any] | None = None
    score: Any = None
    metadata: dict[str, Any] | None = None
    error: Any = None
    limit: Any = None


class Dataset(msgspec.Struct):
    name: Any = None
    location: Any = None
    samples: int | None = None
    sample_ids: list[str | int] | None = None


class Config(msgspec.Struct):
    epochs: int | None = None
    limit: Any = None
    """So many samples, or from where to where."""
    sample_id: Any = None
    """Only these samples; `*` stands for anything."""


class Spec(msgspec.Struct):
    """What the header says of the evaluation."""

    task: str = ""
    model: str = ""
    created: Any = None
    task_args: Any = None
    model_args: Any = None
    model_generate_config: Any = None
    dataset: Dataset = msgspec.field(default_factory=Dataset)
    config: Config = msgspec.field(default_factory=Config)
    packages: dict[str, Any] = msgspec.field(default_factory=dict)


class Header(msgspec.Struct):
    eval: Spec
    version: int | None = None
    status: str = "started"
    plan: Any = None
    """The solvers with their parameters, among them prompts."""


class Log(Header):
    samples: list[Sample] | None = None


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    """The samples of a log with their verdicts."""
    rows = LogRows(opened, "inspect")
    reader = _Reader(rows, picks)
    if opened.head(2) == b"PK":
        with Archive(opened) as archive:
            reader.take(_header(archive), _samples(archive, rows))
    else:
        log = document(opened, Log, what="Inspect log")
        if log.samples is None:
            raise InputError(
                f"has no samples, expected a log with them ({_seen(log)}; a log written with "
                "log_samples=False has only scores)",
                opened.name,
            )
        reader.take(log, ((Place(opened.name), sample) for sample in log.samples))
    return reader.table()


def _header(archive: Archive) -> Header:
    for name in HEADERS:
        if name in archive.entries:
            place = Place(f"{archive.opened.name} ({name})")
            try:
                return decode(archive.read(name), Header, place, what="Inspect header")
            except Damaged as error:
                raise InputError(f"is damaged: it {error}", place) from None
    if is_inspect(archive) or archive.opened.name.lower().endswith(".eval"):
        raise InputError("is an Inspect log without its header.json", archive.opened.name)
    raise InputError(
        "is an archive, expected one table or log (an archive of runs is accepted in place of "
        "runs)",
        archive.opened.name,
    )


def _samples(archive: Archive, rows: LogRows) -> Iterator[tuple[Place, Sample]]:
    lost = 0
    names = [n for n in archive.entries if n.startswith(SAMPLES) and n.endswith(".json")]
    for name in names:
        place = Place(f"{archive.opened.name} ({shown(name)[1:-1]})")
        try:
            yield place, decode(archive.read(name), Sample, place, what="Inspect sample")
        except Damaged as error:
            if archive.whole:
                raise InputError(f"is damaged: it {error}", place) from None
            lost += 1
    if archive.repeated:
        rows.notes.append(
            f"the archive has {plural(len(archive.repeated), 'entry', 'entries')} more than once; "
            f"the last copy of each counts (the first such entry: {shown(archive.repeated[0])})"
        )
    if not archive.whole:
        rows.notes.append(
            "the archive was never finished (it has no directory): "
            f"{plural(len(names) - lost, 'whole sample')} recovered"
            + (f", {lost} damaged" if lost else "")
        )


def _seen(header: Header) -> str:
    package = header.eval.packages.get("inspect_ai")
    return f"log version {header.version}" + (f", inspect_ai {package}" if package else "")


class _Reader:
    """Samples to rows, with what the header says."""

    def __init__(self, rows: LogRows, picks: Mapping[str, str]) -> None:
        self.rows = rows
        self.threshold = number_picked(picks, "right-at")
        self.partial = picks.get("partial")
        if self.partial not in (None, RIGHT, WRONG):
            raise UsageError(f"partial is right or wrong (got '{self.partial}')")
        self.scorer: str | None = picks.get("scorer")
        self.used = ""
        self.header = Header(Spec())
        self.several = False
        self.told: set[tuple[str, int]] = set()
        self.plan: Plan = "samples"

    def take(self, header: Header, samples: Iterator[tuple[Place, Sample]]) -> None:
        """Every sample; then those that the header announces and the log lacks.

        A run that fails cancels the samples under way: it lacks them too.
        """
        self.header = header
        self.several = (header.eval.config.epochs or 1) > 1
        self.rows.own = tuple(self._place("", 1))
        for place, sample in samples:
            if header.status != "success" and _cancelled(sample.error):
                continue
            if sample.epoch > 1 and not self.several:
                raise InputError(
                    f"has epoch {sample.epoch} of sample {shown(str(sample.id))}, but its header "
                    f"announces one epoch ({_seen(header)})",
                    place,
                )
            self._scores(sample)  # one that failed may choose the scorer too
            self._add(place, sample)
        self._add_missing()
        if header.status != "success":
            self.rows.notes.append(f"the run did not finish: its status is '{header.status}'")

    def table(self) -> Table:
        name = self.header.eval.model or None
        if self.header.eval.model in ("none/none", "none"):
            name = self.header.eval.task or None
        scorer = self.used.partition(".")[0].rpartition("/")[2]
        if self.several:
            self.rows.notes.append(
                "samples were asked in several epochs: intervals treat the repeats of a sample as "
                "a cluster (sample)"
            )
        return self.rows.table(
            run=name,
            cluster="sample" if self.several else None,
            by_match=scorer in MATCHERS,
            facts=_facts(self.header),
            plan=self.plan,
        )

    def _scores(self, sample: Sample) -> dict[str, Any]:
        """The scores of a sample by name; the scorer is chosen by the first that has some."""
        found = dict(sample.scores or {})
        if not found and sample.score is not None:
            found = {"score": sample.score}
        if found and not self.used:
            scorer, _, key = (self.scorer or "").partition(".")
            name = next((n for n in (self.scorer, scorer) if n in found), None)
            if name is None or self.scorer is None:
                asked = scorer if self.scorer else None
                name = one_of(list(found), asked, what="scorer", name=self.rows.opened.name)
            self.used = f"{name}.{key}" if key and name != self.scorer else name
            self.name, self.key = name, (key if name != self.scorer else "")
        return found

    def _add(self, place: Place, sample: Sample) -> None:
        identity = str(sample.id), sample.epoch
        if identity in self.told:
            raise InputError(
                f"sample {shown(identity[0])} appears twice in epoch {sample.epoch}", place
            )
        self.told.add(identity)
        outcome, reason, score = self._outcome(sample, place)
        response = _completion(sample.output)
        answer = plain_text(score.answer) if score and score.answer is not None else response
        if outcome == WRONG and not answer and not response and sample.output is not None:
            outcome = "empty"
        self.rows.add(
            numbered(*identity),
            outcome,
            answer=answer,
            response=response or answer or None,
            reason=reason,
            correct=accepted(sample.target if isinstance(sample.target, list) else [sample.target]),
            own=self._place(*identity),
            attributes=sample.metadata,
        )

    def _outcome(self, sample: Sample, place: Place) -> tuple[str, str | None, Score | None]:
        if sample.error is not None:
            return "error", _message(sample.error), None
        raw = self._scores(sample).get(self.name if self.used else "")
        score, verdict, reason = None, None, "there is no score"
        if raw is not None:
            if not isinstance(raw, dict) or "value" not in raw:
                seen = _seen(self.header)
                raise InputError(f"has a score without a value, expected one ({seen})", place)
            score = Score(raw["value"], raw.get("answer"), raw.get("explanation"))
            verdict = self._verdict(self._value(score, place), place)
            reason = plain_text(score.explanation) or "the score is not a number (NaN)"
        if sample.limit is not None and verdict != RIGHT:
            return "limit", _limit(sample.limit), score
        if verdict is None:
            return "unscored", first_line(reason), score
        return verdict, None, score

    def _value(self, score: Score, place: Place) -> Any:
        value = score.value
        if not isinstance(value, (dict, list)):
            return value
        if isinstance(value, list):
            raise InputError(
                "the score is a list, expected one value (only Inspect's own metrics can read "
                "a list)",
                place,
            )
        if self.key not in value:
            keys = [f"{self.name}.{key}" for key in value]
            raise InputError(
                "the score has several values; name one, as in "
                f"{option('pick', {'scorer': keys[0]})}"
                if keys
                else "the score has no value",
                place,
            )
        return value[self.key]

    def _verdict(self, value: Any, place: Place) -> str | None:
        if value is None:
            return None
        if isinstance(value, bool):
            return RIGHT if value else WRONG
        if isinstance(value, (int, float)):
            return verdict_of(value, self.threshold, place=place)
        text = str(value).strip()
        if text in LETTERS:
            return LETTERS[text]
        if text == "P":
            if self.partial is None:
                raise InputError(
                    "the score P (partial) is neither right nor wrong; say what it is, as in "
                    f"{option('pick', {'partial': 'wrong'})}",
                    place,
                )
            return self.partial
        if text.lower() in WORDS:
            return WORDS[text.lower()]
        try:
            number = float(text)
        except ValueError:
            number = math.inf
        if math.isinf(number):
            raise InputError(
                f"the score {shown(text)} has no known meaning, expected C, I, P, N or a number",
                place,
            )
        return verdict_of(number, self.threshold, place=place)

    def _place(self, own: str, epoch: int) -> dict[str, Any]:
        """What is known of every sample: epochs repeat it, so which one it is, and which task."""
        task = {"task": self.header.eval.task} if self.header.eval.task else {}
        return {"sample": own, **({"epoch": epoch} if self.several else {}), **task}

    def _add_missing(self) -> None:
        dataset, config = self.header.eval.dataset, self.header.eval.config
        epochs = config.epochs or 1
        ids = _wanted([str(i) for i in dataset.sample_ids or ()], config)
        strangers = {own for own, _ in self.told} - set(ids)
        if ids and not strangers:
            announced = [(i, e) for i in ids for e in range(1, epochs + 1)]
            lacking = [own for own in announced if own not in self.told]
            for own, epoch in lacking:
                self.rows.add(numbered(own, epoch), "missing", own=self._place(own, epoch))
            if lacking:
                self.rows.notes.append(
                    f"lacks {len(lacking):,} of {plural(len(announced), 'sample')}"
                )
            return
        expected = len(ids) or _first(dataset.samples or 0, config.limit)
        if expected * epochs > len(self.told):
            self.plan = "epochs"
            self.rows.notes.append(
                f"has {len(self.told):,} of {expected * epochs:,} samples and does not "
                "say which are missing: the missing samples are not counted"
            )


def _facts(header: Header) -> list[tuple[str, str, str]]:
    """What tells a log from others of its model: task, settings and prompts, time."""
    spec = header.eval
    found = [("task", "task", spec.task)] if spec.task else []
    plan = header.plan if isinstance(header.plan, dict) else {}
    settings = [spec.task_args, spec.model_args, spec.model_generate_config, plan.get("config")]
    filled = [own for given in settings for own in _filled(given)]
    for k, v in sorted(filled, key=lambda own: isinstance(own[1], (dict, list))):  # long ones last
        found.append(("settings", str(k), plain_text(v)))
    steps = plan.get("steps")
    for step in steps if isinstance(steps, list) else []:
        if isinstance(step, dict):
            solver, params = str(step.get("solver", "solver")), dict(_filled(step.get("params")))
            found.append(("settings", solver, plain_text(params.pop("template", "used"))))
            found += [("settings", f"{solver} {k}", plain_text(v)) for k, v in params.items()]
    if name := plain_text(spec.dataset.location) or plain_text(spec.dataset.name):
        found.append(("dataset", "dataset", name))
    if spec.created:
        found.append(("time", "time", str(spec.created)))
    return found


def _filled(settings: Any) -> list[tuple[Any, Any]]:
    """The settings that have a value."""
    if not isinstance(settings, dict):
        return []
    return [(name, value) for name, value in settings.items() if value not in (None, {}, [])]


def _wanted(ids: list[str], config: Config) -> list[str]:
    """The samples that were to be run: older versions list the whole data set."""
    if config.sample_id is not None:
        named = config.sample_id if isinstance(config.sample_id, list) else [config.sample_id]
        return [own for own in ids if any(fnmatch.fnmatchcase(own, str(n)) for n in named)]
    limit = config.limit
    if isinstance(limit, list) and len(limit) == 2 and all(isinstance(n, int) for n in limit):
        start, end = max(limit[0], 0), limit[1]
        return ids if len(ids) <= end - start else ids[start:end]
    return ids[: _first(len(ids), limit)]


def _first(count: int, limit: Any) -> int:
    return min(count, limit) if isinstance(limit, int) and limit > 0 else count


def _completion(output: Output | None) -> str:
    if output is None:
        return ""
    if isinstance(output.completion, str):
        return output.completion.strip()
    message = output.choices[0].message if output.choices else None
    content = message.content if message else ""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        content = "\n".join(str(text) for text in texts if text)
    return plain_text(content)


def _cancelled(error: Any) -> bool:
    """Whether Inspect itself stopped a sample, because another one failed."""
    return error is not None and _message(error).startswith("CancelledError")


def _message(error: Any) -> str:
    text = error.get("message") if isinstance(error, dict) else error
    return first_line(plain_text(text) or "the sample failed")


def _limit(limit: Any) -> str:
    if isinstance(limit, dict):
        return first_line(f"{limit.get('type', 'a')} limit of {limit.get('limit', '?')}")
    return first_line(plain_text(limit) or "a limit")


READER = Reader(
    name="inspect",
    tool="Inspect",
    versions="log versions 1 and 2",
    files=".eval and .json logs",
    sniff=re.compile(
        rb'PK\x03\x04|PK\x05\x06|\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"\w+"\s*,'
        rb'\s*"eval"\s*:\s*\{'
    ),
    picks={
        "scorer": "the scorer whose values count; NAME.KEY for one of several values",
        "right-at": RIGHT_AT,
        "partial": "what P is: right or wrong",
    },
    one_task=True,
    read=read,
)
