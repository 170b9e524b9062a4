"""A campaign's facts as arrays, runs from the best to the worst, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from abstain.errors import InputError, plural, shown
from abstain.features.campaign.result import ENDS, CampaignResult
from abstain.measures import count_measure
from abstain.outcomes import RIGHT, Counts, CountsArray
from abstain.report.grid import Cell, CellKind, Column, Grid
from abstain.report.view import measure_summary
from abstain.runs.corrections import NOBODY, Correction
from abstain.runs.gold import slices_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray
    from abstain.stats.orderings import Marks

MOST_CELLS = 5_000_000
"""Responses beyond which an overview does without answers, curves and resampled ranks."""

ALL_RUNS = "all runs"
ROLE = "role"
"""The attribute that tells main questions from auxiliary ones."""
AUXILIARY = pl.col("auxiliary_of").fill_null("") != ""


class Overview:
    """A campaign's result, unpacked."""

    def __init__(self, result: CampaignResult) -> None:
        rows, asked = result.rows, result.questions
        self.result = result
        self.measure = count_measure(result.measure)
        self.runs = [row.run for row in rows]
        """From the best to the worst."""
        self.teams = [row.team for row in rows]
        names = dict.fromkeys(name for row in rows for name in row.info)
        self.info = {name: [row.info.get(name) for row in rows] for name in names}
        """What is known of the runs, by attribute."""
        self.overall = CountsArray.of(row.counts for row in rows)
        self.questions = pl.DataFrame(
            asked.attributes, schema=dict.fromkeys(asked.attributes, pl.String)
        )
        self.tried = tuple(np.array(n, np.int64) for n in (asked.right, asked.wrong, asked.blank))
        """For each question, in how many runs it was right, wrong, left blank."""
        parts = result.breakdowns
        self.slices = {each.attribute: slices_of(self.questions, each.attribute) for each in parts}
        self.sliced = {each.attribute: _counts(each.outcomes) for each in parts}
        """For each attribute, counts by run and slice."""
        self.baselines = {
            run.name: (
                Counts.of(run.counts),
                dict(zip(self.slices, map(_counts, run.slices), strict=True)),
            )
            for run in (*result.unranked, *result.references)
        }
        """Reference runs and runs without a rank: counts overall, and by slice."""
        hidden = () if result.with_references else {run.name for run in result.references}
        self.beside = {name: k for name, k in self.baselines.items() if name not in hidden}
        """Those that tables list."""
        self.what = "ranked run" if result.apart or result.unranked else "run"
        """What sentences call the runs that they count."""
        self.reranked = [m for m in result.moved if m.rank.strip("=") != m.rank_before.strip("=")]
        """Runs whose rank corrections changed."""

    @cached_property
    def total(self) -> Counts:
        return Counts.of(self.overall.table.sum(axis=0).astype(float))

    @cached_property
    def scores(self) -> Array:
        return self.measure(self.overall)

    @cached_property
    def slice_scores(self) -> dict[str, Array]:
        return {name: self.measure(counts) for name, counts in self.sliced.items()}

    def whom(self, attribute: str) -> str:
        """Over which runs the numbers of an attribute's slices are: a blind phase hides some."""
        hidden = self.result.blind and np.isnan(self.slice_scores[attribute]).any()
        return "the runs shown" if hidden else ALL_RUNS

    @property
    def hardness(self) -> str:
        """How many questions were right in some run, none or all, and how often at the median."""
        right, runs = self.tried[0], len(self.runs)
        some, everybody = int((right > 0).sum()), int((right == runs).sum())
        return (
            f"{plural(some, 'question was', 'questions were')} right in at least one {self.what} "
            f"({100 * some / len(right):.1f} %), {len(right) - some} in none, {everybody} in every "
            f"{self.what}; the median question was right in {np.median(right):g} of "
            f"{plural(runs, self.what)}."
        )

    @cached_property
    def pairs(self) -> Pairs | None:
        rows = [row.pairs for row in self.result.rows]
        gone = taken_out(self.result.corrections)
        twins = None if None in rows else twins_of(self.questions, gone)
        if twins is None:
            return None
        main, auxiliary = (self.tried[0][twins[name].to_numpy()] for name in ("main", "at"))
        return Pairs(twins, main, auxiliary, np.array(rows, np.int64))


def _counts(outcomes: Sequence[Sequence[object]]) -> CountsArray:
    """Counts from numbers by outcome, whatever is behind that axis."""
    return CountsArray(np.moveaxis(np.array(outcomes), 0, -1))


@dataclass(frozen=True)
class Pairs:
    """Main questions and their twins with one difficulty removed: what does that change?"""

    attributes: pl.DataFrame
    main_right: IntArray
    """In how many runs each main question was right."""
    auxiliary_right: IntArray
    fourfold: IntArray
    """For each run: both right, main only, auxiliary only, neither."""

    @cached_property
    def everything(self) -> Marks:
        return np.ones(len(self.main_right), bool)

    def levels(self, attribute: str) -> dict[str, Marks]:
        """The values of an attribute of the auxiliary questions, each with its pairs."""
        if attribute not in self.attributes.columns:
            return {}
        slices = slices_of(self.attributes, attribute)
        return {value: slices.slice_of == at for at, value in enumerate(slices.names)}

    def mean_increase(self, chosen: Marks) -> float | None:
        """The mean increase in percent, over the chosen pairs where right responses increased."""
        before, after = self.main_right[chosen], self.auxiliary_right[chosen]
        more = (after > before) & (before > 0)
        gains = 100 * (after[more] - before[more]) / before[more]
        return float(gains.mean()) if gains.size else None

    def counts(self, chosen: Marks) -> PairCounts:
        main, auxiliary = self.main_right[chosen], self.auxiliary_right[chosen]
        before, after = int(main.sum()), int(auxiliary.sum())
        change = 100 * (after - before) / before if before else None
        better = int((auxiliary > main).sum())
        return PairCounts(before, after, change, better, int(chosen.sum()))


class PairCounts(NamedTuple):
    main_right: int
    auxiliary_right: int
    change: float | None
    """Percent more right on the auxiliary questions; None where nothing was right before."""
    better: int
    """Pairs whose auxiliary question got more right than its main one."""
    pairs: int


def fourfold_of(
    questions: pl.DataFrame, codes: npt.NDArray[np.uint8], gone: Sequence[str] = ()
) -> IntArray | None:
    twins = twins_of(questions, gone)
    if twins is None:
        return None
    a, b = (codes[:, twins[name].to_numpy()] == RIGHT for name in ("main", "at"))
    four = np.stack([(a & b), (a & ~b), (~a & b), (~a & ~b)], axis=-1)
    return np.asarray(four.sum(axis=1), np.int64)


def taken_out(corrections: Iterable[Correction]) -> list[str]:
    """The questions that count for nobody: an auxiliary question of one of them has no twin."""
    return [each.question for each in corrections if each.correction == NOBODY]


def twins_of(questions: pl.DataFrame, gone: Sequence[str] = ()) -> pl.DataFrame | None:
    """The auxiliary twins of main questions, with where they stand (`at`) and where these do."""
    if "auxiliary_of" not in questions.columns:
        return None
    indexed = questions.with_columns(pl.int_range(pl.len()).alias("at"))
    twins = indexed.filter(AUXILIARY & ~pl.col("auxiliary_of").is_in(gone))
    if twins.is_empty():
        return None
    known = indexed.select(pl.col("question").alias("auxiliary_of"), pl.col("at").alias("main"))
    joined = twins.join(known, on="auxiliary_of", how="left", maintain_order="left")
    lost = joined.filter(pl.col("main").is_null())
    if lost.height:
        raise InputError(
            f"question {shown(lost['question'][0])} is an auxiliary question of "
            f"{shown(lost['auxiliary_of'][0])}, which is not in the gold"
        )
    return joined


def with_role(questions: pl.DataFrame) -> pl.DataFrame:
    """Mark questions as main or auxiliary where the gold says which belong to which."""
    if "auxiliary_of" not in questions.columns or ROLE in questions.columns:
        return questions
    role = pl.when(AUXILIARY).then(pl.lit("auxiliary")).otherwise(pl.lit("main")).alias(ROLE)
    return questions.with_columns(role) if questions.select(AUXILIARY.any()).item() else questions


ATTRIBUTES = {
    "role": "main questions, and auxiliary ones: their simplified twins",
    "main": "the questions of the task itself",
    "auxiliary": "simplified twins of main questions that need one inference less",
    "first_run": "the team's first run (01) or one of its others",
    "source": "the language of the questions",
    "target": "the language of the documents",
    "language": "the language of the questions, from the run's id",
    "status": "official runs are ranked; others are not, and are left out of every mean",
    "team": "who handed the run in: by the table of runs, its folder or its id",
    "test": "a reading test: a text with its questions",
    "type": "what kind of thing is asked for",
    "topic": "what the texts are about",
}
"""Attributes of questions and of runs whose names say what they hold."""

PLAIN = ("#", "run", "right", "wrong", "questions", "runs", "question", "topic", "text", "type")
"""Columns that need no line in a legend."""
NO_ANSWER = "left without an answer (NoA)"
BLANKS = "blanks by the answer that was held back: right, wrong or none"
BEST = "the best {measure} of a run, and whose it is"
OVER_RUNS = "of {measure} over the runs"
HOW_MANY = "how many there are"
MEANINGS: dict[CellKind, dict[str, str]] = {
    "text": {
        "#": "rank; = where several share it",
        "run": "a system's responses to all questions",
        "group": "runs that share a letter cannot be told apart",
        "best run": BEST,
        "place": "the file and the line",
        "kind": "what sort of problem it is",
        "what is wrong": "what is there and what was expected",
        "severity": "a problem leaves its run out, a warning does not",
        "question": "",
        "correct": "the answer that is right",
        "answers given": "each answer with how many runs gave it",
        "text": "",
        "by": "the attribute whose value is in the column level",
        "level": "one value of the attribute; TOTAL: all of them",
        **ATTRIBUTES,
    },
    "bar": {"outcomes": "the shares right, wrong and blank"},
    "score": {
        **dict.fromkeys(("low", "high"), ENDS),
        "all": "over all questions, or over all kinds of questions",
        **dict.fromkeys(("mean", "median", "st. dev."), OVER_RUNS),
        "best": BEST,
        "mean of the others": "the mean {measure} of the team's other runs",
        "lowest": "the lowest {measure} of the team's other runs",
        "mean with": "the mean {measure} of the runs that have it",
        "mean without": "the mean {measure} of the runs that do not",
        "difference": "the first mean or score minus the second",
    },
    "percent": dict.fromkeys(("right %", "blank %"), "of all responses"),
    "count": {
        "answered": "right and wrong together",
        "right": "answered right",
        "wrong": "answered wrong",
        "blank": NO_ANSWER,
        **dict.fromkeys(("blank (right)", "blank (wrong)", "blank (empty)"), BLANKS),
        "tests passed": "reading tests with the pass mark or more",
        **dict.fromkeys(("questions", "runs", "teams"), HOW_MANY),
        "both right": "pairs of a main and an auxiliary question with both right",
        "main only": "pairs with only the main question right",
        "auxiliary only": "pairs with only the auxiliary question right",
        "neither": "pairs with neither right",
    },
}
"""What each heading means, by the kind of its cells."""
KINDS: dict[str, CellKind] = {name: kind for kind, names in MEANINGS.items() for name in names}


def grid_of(c: Overview, cells: Mapping[Any, Sequence[Cell]], **more: Any) -> Grid:
    heads = [head if isinstance(head, Column) else columns(c, head)[0] for head in cells]
    return Grid.of(zip(heads, cells.values(), strict=True), **more)


def columns(c: Overview, *names: str) -> list[Column]:
    """Columns by their names: those declared here, and measures."""
    words = {"measure": c.measure, "level": 100 * c.result.level}
    made = []
    for name in names:
        kind = KINDS.get(name)
        means = MEANINGS[kind][name].format_map(words) if kind else measure_summary(name)
        made.append(Column(name, kind or "score", means=means, plain=name in PLAIN))
    return made


def from_the_best(c: Overview, scores: Array) -> list[int]:
    """The order of scores; of equal ones the first, and those that are undefined last."""
    better = -scores if c.measure.higher_is_better else scores
    order: list[int] = np.argsort(better, kind="stable").tolist()
    return order


def attribute_column(name: str, whose: str) -> Column:
    means = ATTRIBUTES.get(name, f"an attribute of the {whose}")
    return Column(name, means=means, plain=name in PLAIN)


def safe(name: str) -> str:
    return "".join(sign if sign.isalnum() else "_" for sign in name.lower())[:40]


def free_name(name: str, taken: set[str]) -> str:
    """The name, numbered where a file already has it: attributes `a b` and `a_b` are two tables."""
    names = chain([name], (f"{name}_{number}" for number in count(2)))
    free = next(each for each in names if each not in taken)
    taken.add(free)
    return free
