"""What resampling says of measures, as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec
import polars as pl
from msgspec import structs

from abstain.analyses.result import Facts, Result
from abstain.errors import shown
from abstain.stats.resampling.draws import Draws

Part: TypeAlias = Literal["stability", "sensitivity", "power", "agreement"]


class StabilityPoint(Facts, frozen=True, kw_only=True):
    """Stability at one fuzziness."""

    fuzziness: float
    error: float | None
    """The share of comparisons that the minority direction of each pair wins."""
    error_se: float | None
    """Monte Carlo error: what other trials of as many draws would change."""
    ties: float | None
    ties_se: float | None


class Stability(Facts, frozen=True, kw_only=True):
    """How often another sample reverses two runs, by one measure."""

    measure: str
    comparisons: int
    undefined: int
    """Comparisons left out: the measure did not exist for one of the runs."""
    curve: tuple[StabilityPoint, ...]


class SwapBin(Facts, frozen=True, kw_only=True):
    """Comparisons of about one difference; the last bin is open."""

    start: float = msgspec.field(name="from")
    count: int
    swap_rate: float | None
    se: float | None


class Sensitivity(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """The difference that one measure requires, and the swap rates that say so."""

    measure: str
    size: int
    """Questions in a subset."""
    width: float
    """Of a bin."""
    required: float | None
    """The difference required, or None: `reason` says why."""
    within_bins: float | None
    """The same by the listed bins alone, of which the last is open."""
    highest: float | None
    """The highest score seen."""
    relative: float | None
    """The difference required, over the highest score."""
    sensitivity: float | None
    """The share of the comparisons that differ by as much as is required."""
    tied_elsewhere: float | None
    """Of the differences that reach what is required, the share that is none elsewhere."""
    comparisons: int
    ties: int
    """Comparisons without any difference: they are in the first bin."""
    undefined: int
    required_range: tuple[float | None, float | None]
    """The difference required with rates two Monte Carlo errors lower and higher."""
    bins: tuple[SwapBin, ...]
    reason: str = ""


class Requirement(Facts, frozen=True, kw_only=True):
    """The difference that a test of so many questions requires."""

    measure: str
    questions: int
    required: float | None


class Need(Facts, frozen=True, kw_only=True):
    """How many questions make a difference hold."""

    measure: str
    difference: float
    questions: int
    """At most 10^15, which stands for all beyond."""


class Power(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How many pairs of runs one measure separates."""

    measure: str
    pairs: int
    """Pairs whose difference exists, on all questions and on enough resamples."""
    alpha: float
    discriminative_power: float | None
    """The share of pairs with an achieved significance level below alpha."""
    bootstrap: int | None
    """How many those are, or None: `reason` says why."""
    tukey: int | None
    """Pairs separated by Tukey's HSD, or None: `reason` says why."""
    honest_difference: float | None
    """What a difference has to exceed for Tukey's test to separate it at alpha; None where
    differences are divided by their standard errors, as those of scores are."""
    undefined: int
    """Pairs left out."""
    resamples: int
    """Resamples of the pairs whose difference exists on all questions."""
    undefined_resamples: int
    """Those left out: the measure did not exist for one of the runs."""
    undefined_permutations: int
    """Permutations in which it did not exist for some run: the range is that of the others."""
    asl: tuple[float, ...]
    """Achieved significance levels, ascending (evenly thinned beyond a thousand pairs)."""
    reason: str = ""

    @property
    def curve(self) -> list[tuple[int, float]]:
        """The ASL curve: the place of a pair, from 1 on, and its level."""
        step = (self.pairs - 1) / max(1, len(self.asl) - 1)
        return [(round(k * step) + 1, level) for k, level in enumerate(self.asl)]


class Agreement(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How similarly two measures order the runs."""

    measures: tuple[str, str]
    runs: int
    """Runs for which both exist."""
    tau_b: float | None
    tau_ap: float | None
    spearman: float | None
    rbo: float | None
    reason: str = ""


class MetaResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="meta"):
    """What resampling says of measures; a part that was not asked for is empty."""

    questions: int
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    parts: tuple[Part, ...]
    trials: int
    size: int
    """Questions in a subset."""
    draws: Draws
    resamples: int
    level: float
    """How sure a conclusion has to be."""
    seed: int
    width: float | None = None
    """Of a bin, where it was asked for."""
    given_scores: bool = False
    """Whether the scores were read, not computed."""
    spans: dict[str, float]
    """The largest difference that two runs can have, of each measure that has bounds."""
    scores: dict[str, dict[str, float | None]]
    """Measure to run to its score on all questions."""
    stability: tuple[Stability, ...] = ()
    sensitivity: tuple[Sensitivity, ...] = ()
    required_by_questions: tuple[Requirement, ...] = ()
    questions_needed: tuple[Need, ...] = ()
    power: tuple[Power, ...] = ()
    agreement: tuple[Agreement, ...] = ()

    TABLES: ClassVar[tuple[str, ...]] = (
        *("main", "scores", "stability", "sensitivity", "swap_rates", "required_by_questions"),
        *("questions_needed", "power", "asl", "agreement"),
    )

    def check(self) -> None:
        """Every measure has what the tables set beside one another."""
        levels = [[point.fuzziness for point in own.curve] for own in self.stability]
        if any(own != levels[0] for own in levels):
            raise ValueError(
                "the stability of the measures is not given for the same levels of fuzziness"
            )
        if any(not row.width > 0 for row in self.sensitivity):
            raise ValueError("a sensitivity has bins of no width, expected more than 0")
        known = {(row.questions, row.measure) for row in self.required_by_questions}
        sizes = {size for size, _ in known}
        judged = {row.measure for row in self.sensitivity}
        for own in self.measures:
            if list(self.scores.get(own, ())) != list(self.runs):
                raise ValueError(f"the scores of {shown(own)} are incomplete")
            lacking = any((size, own) not in known for size in sizes)
            if judged and (lacking or own not in judged or own not in self.spans):
                raise ValueError(f"the sensitivity of {shown(own)} is incomplete")

    def _frame(self, table: str) -> pl.DataFrame:
        """Every number in one long table, or the table of one part."""
        if table == "main":
            text = ("part", "measure", "other", "quantity")
            schema = {name: pl.String if name in text else pl.Float64 for name in LONG}
            return pl.DataFrame(self.records(), schema=schema, orient="row", strict=False)
        return pl.DataFrame(list(self._rows(table)), infer_schema_length=None)

    def _rows(self, table: str) -> Iterator[dict[str, Any]]:
        """The rows of one part, a column a quantity."""
        if table == "scores":
            for run in self.runs:
                yield {"run": run} | {name: self.scores[name][run] for name in self.measures}
        elif table in NESTED:
            part, field, _ = NESTED[table]
            for own in getattr(self, part):
                yield from _nested(own, field)
        else:
            yield from map(_flat, getattr(self, table))

    def records(self) -> list[tuple[str, str, str, float | None, str, float | None]]:
        """Every number, one a row: part, measure, other, at, quantity, value."""
        rows: list[tuple[str, str, str, float | None, str, float | None]] = []

        def add(part: str, values: dict[str, Any], at: str = "") -> None:
            measure, other = values.pop("measure"), values.pop("other", "")
            about = part.replace("_", " "), measure, other, values.pop(at, None)
            rows.extend((*about, k, v) for k, v in values.items() if not isinstance(v, str))

        for name in self.measures:
            for run, score in self.scores[name].items():
                add("scores", {"measure": name, "other": run, "score": score})
        for part, at in PLACED.items():
            for own in getattr(self, part):
                add(part, _flat(own), at)
                for table, (whole, field, place) in NESTED.items():
                    for values in _nested(own, field) if whole == part else ():
                        add(table, values, place)
        return rows


def _flat(own: Facts) -> dict[str, Any]:
    """The texts and numbers of a part of one measure, or of two, which it names first."""
    plain = structs.asdict(own)
    if isinstance(own, Agreement):
        plain = dict(zip(("measure", "other"), own.measures, strict=True)) | plain
    if isinstance(own, Sensitivity):
        plain |= dict(zip(("required_low", "required_high"), own.required_range, strict=True))
    return {name: value for name, value in plain.items() if not isinstance(value, tuple)}


def _nested(own: Any, field: str) -> Iterator[dict[str, Any]]:
    """The rows of what a part of one measure holds a list of."""
    for item in getattr(own, field):
        plain = {"pair": item[0], "asl": item[1]} if isinstance(own, Power) else item
        yield {"measure": own.measure} | msgspec.to_builtins(plain)


LONG = ("part", "measure", "other", "at", "quantity", "value")
"""The columns of the long table."""

PLACED = {
    "stability": "",
    "sensitivity": "size",
    "required_by_questions": "questions",
    "questions_needed": "difference",
    "power": "alpha",
    "agreement": "",
}
"""The parts, and the quantity at which the others of a row were found."""

NESTED = {
    "stability": ("stability", "curve", "fuzziness"),
    "swap_rates": ("sensitivity", "bins", "from"),
    "asl": ("power", "curve", "pair"),
}
"""Tables of what a part holds a list of, and the quantity at which the others were found."""
