"""Where responses come from: a gold and runs, judged rows, or counts that somebody else made.

Each is opened once. What is asked of it is counted where the responses live, and remembered.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Unpack

import polars as pl
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, checked
from abstain.io.columns import require_all
from abstain.io.frames import check_mapping
from abstain.judging.aliases import ALIASES, refuse_pooled
from abstain.judging.counting import Filled, KindCounts, binned, count_kinds, filled
from abstain.judging.evaluation import Evaluation, Kind, Source
from abstain.judging.given_counts import read_given
from abstain.judging.gold import Gold, joined_gold, read_gold
from abstain.judging.grades import count_nameless, judge_rows, numbered, shared_attributes
from abstain.judging.judge import Judged, judge
from abstain.judging.opening import opened_runs
from abstain.judging.plans import agreed, planned
from abstain.judging.reading import JudgedOptions, Reading, ReadingOptions, refuse_meaningless
from abstain.judging.responses import Responses, describe, in_its_engine, own_cluster, told

NAMELESS = "the rows name no question: each row counts as a question"


class _Source(Source):
    """Responses that are judged once and counted where they live; what was counted is kept."""

    def __init__(self, responses: Sequence[Responses], reading: Reading) -> None:
        self.responses = tuple(responses)
        self._reading = reading
        self._judged: dict[tuple[tuple[str, ...], ...], Judged] = {}
        self._kind_counts: dict[tuple[str, ...], KindCounts] = {}

    @abstractmethod
    def _judge(self, by: Sequence[str], keep: Sequence[str]) -> Judged:
        """Every response with its kind, anew."""

    def _count(self, by: Sequence[str]) -> KindCounts:
        return count_kinds(self.judged(by), by)

    def judged(self, by: Sequence[str] = (), keep: Sequence[str] = ()) -> Judged:
        """Every response with its kind, still lazy; `keep` names other columns to keep."""
        key = tuple(by), tuple(keep)
        if key not in self._judged:
            self._judged[key] = self._judge(by, keep)
        return self._judged[key]

    def count_kinds(self, by: Sequence[str]) -> KindCounts:
        """How many responses of each kind, counted by the engine that they live in."""
        key = tuple(by)
        if key not in self._kind_counts:
            self._kind_counts[key] = self._count(by)
        return self._kind_counts[key]

    def fill(self, *, confident: bool) -> Filled:
        """The kind of every response, one byte each; a run without one is missing there."""
        return filled(self.judged(), confident=confident)


class GoldRuns(_Source):
    """Runs that are judged against a gold."""

    kind: Kind = "gold"

    def __init__(self, gold: Gold, responses: Sequence[Responses], reading: Reading) -> None:
        super().__init__(responses, reading)
        self.gold, self.match = gold, reading.match
        self.cluster = own_cluster((own.table for own in responses), gold.attributes)

    @cached_property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What a reader should know of the gold and the runs."""
        return tuple(describe(self.gold, self.responses))

    def questions(self, attributes: Sequence[str] | None) -> pl.DataFrame:
        """The gold's questions; attributes that it lacks are refused."""
        self.gold.check_attributes(attributes or ())
        return self.gold.frame

    def _judge(self, by: Sequence[str], keep: Sequence[str]) -> Judged:
        how = self._reading
        return judge(self.gold, self.responses, match=how.match, align=how.align, by=by, keep=keep)

    def binned(self, bins: int) -> pl.DataFrame:
        """Confidences counted into bins by the engine that they live in."""
        return binned(self.judged(), bins)


class JudgedRows(_Source):
    """Rows that say what became of each response."""

    kind: Kind = "judged"
    gold = None

    def __init__(self, responses: Sequence[Responses], reading: Reading) -> None:
        super().__init__(responses, reading)
        self.cluster = own_cluster(own.table for own in responses)
        self.named = all("question" in own.table.columns for own in responses)
        """Whether the rows name their questions."""

    @cached_property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What a reader should know of the rows."""
        said = told(own.table for own in self.responses)
        return tuple(said) if self.named else (*said, NAMELESS)

    @cached_property
    def _attributes(self) -> tuple[str, ...]:
        return shared_attributes(self.responses) if self.named else ()

    def questions(self, attributes: Sequence[str] | None) -> pl.DataFrame:
        """The questions that the rows are about; rows that name none are counted by place."""
        judged = self.judged(self._attributes if attributes is None else attributes)
        return judged.gold.frame

    def _judge(self, by: Sequence[str], keep: Sequence[str]) -> Judged:
        judged = judge_rows(self.responses, self._reading.grades, by=by, keep=keep, confidence=True)
        return judged if self.named else numbered(judged)

    def _count(self, by: Sequence[str]) -> KindCounts:
        judged = judge_rows(self.responses, self._reading.grades, by=by)
        return count_kinds(judged, by) if self.named else count_nameless(judged, by)

    def lists(self, by: Sequence[str], keep: Sequence[str]) -> Judged:
        """As `judged`, where a run may have several rows a question: they must name it."""
        for own in self.responses:
            require_all(own.table, {"question": "which names each question"})
        return self.judged(by, keep)


@checked
def read(gold: Any, runs: Any, **reading: Unpack[ReadingOptions]) -> Evaluation:
    """Read runs and judge them against a gold, once: everything is asked of what comes back.

    Args:
        gold: A path or a dataframe with `question`, `correct` and any attributes; or several,
            with other questions each: then their attribute `gold` says which one is of which.
        runs: A path, a folder of logs, a dataframe, a sequence of those, or a mapping of names to
            them. Dataframes are those that narwhals knows: polars, pandas, pyarrow, duckdb, Spark.
        format: The format of the files where it is not evident, or a tool's log.
        pick: What to pick of a tool's log, such as `{"filter": "strict-match"}`.
        columns: Known name to actual name, such as `{"question": "id"}`.
        policy: What kinds of blanks become, such as `{"missing": "wrong"}`.
        match: When an answer is right: as given, as text, or as SQuAD has it.
        align: How responses are paired with questions.
        detect_refusals: Languages in which refusals are looked for: `"en,de"` or `"all"`.
        cluster: The attribute whose values make clusters of questions.
        engine: Who reads and counts files: polars unless said.
        master: Where Spark runs.
    """
    return evaluate(gold, runs, Reading.of(**reading))


def evaluate(gold: Any, runs: Any, reading: Reading) -> Evaluation:
    """As `read`, for a `Reading` that is there already; so may the gold be."""
    refuse_meaningless(reading, "gold")
    read = golds_of(gold, reading)
    responses = opened_runs(runs, reading)
    golds, standard = with_ids(read, gold, responses, reading)
    standard, responses = agreed(standard, responses)
    responses = [in_its_engine(own, reading) for own in planned(responses, standard)]
    tables = [*(own.table for own in golds), *(own.table for own in responses)]
    check_mapping(reading.columns, tables)
    for own in responses:
        refuse_pooled(own.table, judged=False)
    if reading.cluster is not None:
        standard.check_attributes([reading.cluster])
    return Evaluation(GoldRuns(standard, responses, reading), reading)


def with_ids(
    read: tuple[list[Gold], Gold],
    gold: Any,
    responses: Sequence[Responses],
    reading: Reading,
    *,
    answers: bool = True,
) -> tuple[list[Gold], Gold]:
    """The golds; read anew by their ids where `question` is the text and the runs give ids."""
    ids = _ids_of(read[1], responses)
    if ids is None:
        return read
    columns = {**reading.columns, "gold:question": ids}
    return golds_of(gold, replace(reading, columns=columns), answers=answers)


def _ids_of(gold: Gold, responses: Sequence[Responses]) -> str | None:
    """The gold's column of ids, where it calls the questions' text `question` as many do."""
    taken = {name for own in responses for name in own.table.renamed}
    found = [name for name in gold.attributes if name in taken and name in ALIASES["question"]]
    return found[0] if len(found) == 1 else None


def golds_of(gold: Any, reading: Reading, *, answers: bool = True) -> tuple[list[Gold], Gold]:
    """The golds that were named, and all of them as one; `answers` says whether they need any."""
    given = gold if isinstance(gold, (list, tuple)) else [gold]
    golds = [
        own if isinstance(own, Gold) else read_gold(own, reading, answers=answers) for own in given
    ]
    if not golds:
        raise UsageError("there is no gold to judge by")
    for own in golds if answers else ():
        if own.table.format == "qa4mre" and own.without_answer == len(own):
            raise InputError(
                "marks no answer as correct, expected the gold: only `validate` accepts the test "
                "set without its answers",
                own.name,
            )
    return golds, joined_gold(golds)


@checked
def read_judged(runs: Any, **reading: Unpack[JudgedOptions]) -> Evaluation:
    """Read rows that carry their own outcome, in a column `outcome` or `grade`.

    `grades` says what unusual grades mean, such as `{"meh": "wrong"}`. The rest is as for `read`;
    `match` and `align` need a gold.
    """
    return evaluate_judged(runs, Reading.of(**reading))


def evaluate_judged(runs: Any, reading: Reading) -> Evaluation:
    """As `read_judged`, for a `Reading` that is there already."""
    refuse_meaningless(reading, "judged")
    responses = planned(opened_runs(runs, reading, judged=True), None)
    responses = [in_its_engine(own, reading) for own in responses]
    check_mapping(reading.columns, [own.table for own in responses])
    for own in responses:
        refuse_pooled(own.table, judged=True)
    return Evaluation(JudgedRows(responses, reading), reading)


@checked
def read_counts(
    counts: Any,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    skip_inconsistent: bool = False,
) -> Evaluation:
    """Read counts that somebody else made; what needs questions says so when it is asked.

    Args:
        counts: A path, a dataframe, or a mapping of names to `Counts`.
        format: The format of the file where it is not evident.
        columns: Known name to actual name, such as `{"right": "correct"}`.
        skip_inconsistent: Whether rows that do not add up are left out, with a note.
    """
    reading = Reading.of(format=format, columns=columns)
    return evaluate_counts(counts, reading, skip_inconsistent=skip_inconsistent)


def evaluate_counts(
    counts: Any, reading: Reading, *, skip_inconsistent: bool = False
) -> Evaluation:
    """As `read_counts`, for a `Reading` that is there already."""
    refuse_meaningless(reading, "counts")
    source = read_given(counts, reading, skip_inconsistent=skip_inconsistent)
    return Evaluation(source, reading)


def together(runs: Mapping[str, Evaluation]) -> Evaluation:
    """Evaluations of one run each as one, whatever the runs were called; nothing is read again."""
    first = next(iter(runs.values()))
    responses = [
        replace(own, run=name) for name, read in runs.items() for own in read.source.responses
    ]
    if first.source.gold is None:
        return Evaluation(JudgedRows(responses, first.reading), first.reading)
    return Evaluation(GoldRuns(first.source.gold, responses, first.reading), first.reading)
