"""Read runs once: with a gold, as rows that are graded already, or as published counts."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from msgspec.structs import replace

from abstain.errors import UsageError
from abstain.io.frames import ALIASES, KNOWN, check_mapping, require
from abstain.io.tables import Table
from abstain.outcomes import Unanswerable
from abstain.reading import (
    Align,
    Corrections,
    EngineName,
    Match,
    PolicyLike,
    Reading,
    ReadingOptions,
    refuse_meaningless,
)
from abstain.runs.evaluation import Evaluation
from abstain.runs.gold import Gold, joined_gold, read_gold
from abstain.runs.responses import OUTCOME, Responses, in_its_engine, opened_runs
from abstain.runs.sources import GoldRuns, JudgedRows

OPTIONS = Reading.__struct_fields__


def read(
    gold: Any,
    runs: Any = None,
    *,
    format: str | None = None,
    pick: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    policy: PolicyLike = None,
    unanswerable: Unanswerable | None = None,
    match: Match = "id",
    align: Align = "id",
    detect_refusals: str | Sequence[str] = (),
    refusal_pattern: str | Sequence[str] = (),
    cluster: str | None = None,
    engine: EngineName | None = None,
    master: str | None = None,
    names: Sequence[str] | str | None = None,
    corrections: Corrections = None,
) -> Evaluation:
    """Read runs and judge them against a gold, once: the analyses are methods of the result.

    Args:
        gold: A path or a dataframe with `question`, `correct` and any attributes; or a
            list of them with different questions, told apart by the attribute `gold`. Or the
            folder of a season (`season.toml`): its gold and the runs that count.
        runs: A path, a folder of logs, a dataframe, a sequence of those, or a mapping of names to
            them. Dataframes are those that narwhals knows: polars, pandas, pyarrow, duckdb, Spark.
        format: The format of the files where first bytes and name do not tell, or a tool's log.
        pick: What to pick of a tool's log, such as `{"filter": "strict-match"}`.
        columns: Known name to actual name, such as `{"question": "id"}`; the prefix `gold:` or
            `run:` restricts it to one side.
        policy: What kinds of blanks become, such as `{"missing": "wrong"}`.
        unanswerable: What declining an unanswerable question counts as: right (the default where a
            column such as `answerable` says which those are), blank or wrong.
        match: How answers are compared: exactly (`id`), or normalised (`text`, `squad`).
        align: How responses are paired with questions: by `id` or by `position`.
        detect_refusals: Languages in which refusals are looked for: `"en,de"` or `"all"`.
        refusal_pattern: Regular expressions by which texts decline besides.
        cluster: The attribute by which questions are clustered (cluster-robust intervals, tests).
        engine: What reads and counts files: polars (the default), duckdb or spark.
        master: The URL of the Spark master.
        names: Names for the runs, in order.
        corrections: Questions that were corrected after submission, such as `{"1/1/4": "none"}`
            (`none`, `everyone` or the new key), or a table of question, correction and reason.
    """
    options: Any = {name: value for name, value in locals().items() if name in OPTIONS}
    return evaluate(gold, runs, Reading.of(**options))


def evaluate(gold: Any, runs: Any, reading: Reading) -> Evaluation:
    """As `read`, with the options as a `Reading`; the gold may have been read already."""
    refuse_meaningless(reading, "gold")
    if runs is None:
        from abstain.runs.season import read_season

        season = read_season(gold)
        gold, runs, reading = season.gold, season.runs(), season.reading_with(reading)
    standard = read_golds(gold, reading)
    responses = opened_runs(runs, reading)
    standard = with_ids(standard, gold, responses, reading)
    if any(item.is_log for item in responses):
        from abstain.runs.log_tasks import with_shared_ids, with_unasked

        standard, responses = with_shared_ids(standard, responses)
        responses = [in_its_engine(item, reading) for item in with_unasked(responses, standard)]
    _check_columns(responses, standard.tables, reading, judged=False)
    if reading.cluster is not None:
        standard.check_attributes([reading.cluster])
    if reading.corrections:
        from abstain.runs.corrections import corrected

        standard, reading = corrected(standard, reading)
    return Evaluation(GoldRuns(standard, responses, reading), reading)


def _check_columns(
    responses: Sequence[Responses], golds: Sequence[Table], reading: Reading, *, judged: bool
) -> None:
    check_mapping(reading.columns, [*golds, *(item.table for item in responses)])
    for item in responses:
        if judged and not {"outcome", "grade"} & {*item.table.columns}:
            require(item.table, {"outcome": OUTCOME})
        if not KNOWN.issuperset(item.table.columns):
            from abstain.runs.usual_names import refuse_pooled

            refuse_pooled(item.table, judged=judged)


def read_golds(gold: Any, reading: Reading, *, answers: bool = True) -> Gold:
    """Read one gold, or join several; `answers` says whether it needs the right answers."""
    if not isinstance(gold, (list, tuple)):
        return read_gold(gold, reading, answers=answers)
    if not gold:
        raise UsageError("there is no gold to judge by")
    return joined_gold([read_gold(item, reading, answers=answers) for item in gold])


def with_ids(
    gold: Gold, data: Any, responses: Sequence[Responses], reading: Reading, *, answers: bool = True
) -> Gold:
    """The gold; if runs name questions by an id column of it, `data` is read again by those ids."""
    taken = {name for item in responses for name in item.table.renamed}
    ids = [name for name in gold.attributes if name in taken and name in ALIASES["question"]]
    if len(ids) != 1:
        return gold
    columns = {**reading.columns, "gold:question": ids[0]}
    return read_golds(data, replace(reading, columns=columns), answers=answers)


def read_judged(runs: Any, **options: Unpack[ReadingOptions]) -> Evaluation:
    """Read rows that carry their outcome, in a column `outcome` or `grade`.

    `grades` says what unusual grades mean, such as `{"meh": "wrong"}`. The other options are those
    of `read`, but for those that need a gold: `match` and `align`.
    """
    return evaluate_judged(runs, Reading.of(**options))


def evaluate_judged(runs: Any, reading: Reading) -> Evaluation:
    refuse_meaningless(reading, "judged")
    responses = opened_runs(runs, reading, judged=True)
    if any(item.is_log for item in responses):
        from abstain.runs.log_tasks import with_unasked

        responses = [in_its_engine(item, reading) for item in with_unasked(responses, None)]
    _check_columns(responses, (), reading, judged=True)
    return Evaluation(JudgedRows(responses, reading), reading)


def read_counts(
    counts: Any,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    skip_inconsistent: bool = False,
) -> Evaluation:
    """Read published counts; an analysis that needs single questions raises.

    Args:
        counts: A path, a dataframe, or a mapping of names to `Counts`.
        format: The format of the file where it cannot be detected.
        columns: Known name to actual name, such as `{"right": "correct"}`.
        skip_inconsistent: Whether rows that do not add up are left out, with a note.
    """
    reading = Reading.of(format=format, columns=columns)
    return evaluate_counts(counts, reading, skip_inconsistent=skip_inconsistent)


def evaluate_counts(
    counts: Any, reading: Reading, *, skip_inconsistent: bool = False
) -> Evaluation:
    from abstain.runs.counts_table import read_counts_table

    refuse_meaningless(reading, "counts")
    source = read_counts_table(counts, reading, skip_inconsistent=skip_inconsistent)
    return Evaluation(source, reading)


def merged(evaluations: Mapping[str, Evaluation]) -> Evaluation:
    first = next(iter(evaluations.values()))
    responses = [
        replace(item, run=name)
        for name, evaluation in evaluations.items()
        for item in evaluation.data.source.responses
    ]
    gold, reading = first.data.source.gold, first.reading
    if gold is None:
        return Evaluation(JudgedRows(responses, reading), reading)
    return Evaluation(GoldRuns(gold, responses, reading), reading)
