"""The facts of `meta`: how measures order runs on other samples of the questions."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

import msgspec
import polars as pl
from msgspec import structs

from abstain.report.grid import Column
from abstain.report.result import Facts, Result
from abstain.stats.resampling.draws import Draws

Part: TypeAlias = Literal["stability", "sensitivity", "power", "agreement"]
PARTS: tuple[Part, ...] = get_args(Part)
MANY = 10**15
TWO_MEASURES = "agreement needs at least two measures"
COEFFICIENT = {"tau_b": "Kendall τ-b", "tau_ap": "τ_AP", "spearman": "Spearman ρ", "rbo": "RBO"}


class StabilityPoint(Facts, frozen=True, kw_only=True):
    """Stability at one fuzziness."""

    fuzziness: float
    error: float | None
    """The share of comparisons that the minority direction of each pair wins."""
    error_se: float | None
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
    width: float
    required: float | None
    within_bins: float | None
    """The same by the listed bins alone, of which the last is open."""
    highest: float | None
    relative: float | None
    sensitivity: float | None
    """The share of the comparisons that differ by as much as is required."""
    tied_elsewhere: float | None
    """Of the differences that reach the required one, the share that ties on the other subset."""
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
    bootstrap: Annotated[int | None, Column("bootstrap", "count")]
    tukey: Annotated[int | None, Column("Tukey HSD", "count")]
    honest_difference: Annotated[float | None, Column("honest difference", "score")]
    """What a difference has to exceed for Tukey's test to separate it at alpha; None where
    differences are divided by their standard errors, as those of scores are."""
    undefined: int
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
    def power_in_100(self) -> Annotated[float | None, Column("power %", "percent")]:
        return None if self.discriminative_power is None else 100 * self.discriminative_power

    @property
    def curve(self) -> list[dict[str, float]]:
        step = (self.pairs - 1) / max(1, len(self.asl) - 1)
        return [{"pair": round(k * step) + 1, "asl": level} for k, level in enumerate(self.asl)]


class Agreement(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How similarly two measures order the runs."""

    measures: Annotated[tuple[str, str], Column("measure"), Column("and")]
    runs: int
    tau_b: Annotated[float | None, Column(COEFFICIENT["tau_b"], "score")]
    tau_ap: Annotated[float | None, Column(COEFFICIENT["tau_ap"], "score")]
    spearman: Annotated[float | None, Column(COEFFICIENT["spearman"], "score")]
    rbo: Annotated[float | None, Column(COEFFICIENT["rbo"], "score")]
    reason: str = ""


AT = {
    "scores": "",
    "stability": "fuzziness",
    "sensitivity": "size",
    "swap_rates": "from",
    "required_by_questions": "questions",
    "questions_needed": "difference",
    "power": "alpha",
    "asl": "pair",
    "agreement": "",
}
"""The tables, and the column of each that the long table has as `at`."""
POINTS = {
    "stability": ("stability", "curve"),
    "sensitivity": ("swap_rates", "bins"),
    "power": ("asl", "curve"),
}
"""Parts whose rows have points: the table of these, and the field."""


class MetaResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="meta"):
    """What resampling says of measures; a part that was not asked for is empty."""

    questions: int
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    parts: tuple[Part, ...]
    subsets: int = msgspec.field(name="trials")
    size: int
    draws: Draws
    resamples: int
    level: float
    seed: int
    width: float | None = None
    given_scores: bool = False
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

    TABLES: ClassVar[tuple[str, ...]] = ("main", *AT)

    def _frame(self, table: str) -> pl.DataFrame:
        if table == "main":
            names = ("part", "measure", "other", "at", "quantity", "value")
            schema = dict.fromkeys(names, pl.String) | {"at": pl.Float64, "value": pl.Float64}
            return pl.DataFrame(self.records(), schema=schema, orient="row", strict=False)
        rows: list[dict[str, Any]] = []
        if table == "scores":
            rows += [{"run": r} | {m: self.scores[m][r] for m in self.measures} for r in self.runs]
        else:
            at = AT[table]
            rows += [row for name, row in self._rows() if name == table and (not at or at in row)]
        return pl.DataFrame(rows, infer_schema_length=None)

    def records(self) -> list[tuple[str, str, str, float | None, str, float | None]]:
        records: list[tuple[str, str, str, float | None, str, float | None]] = []
        for table, row in self._rows():
            place = table.replace("_", " "), row.pop("measure"), row.pop("other", "")
            at = row.pop(AT[table], None)
            records += [(*place, at, k, v) for k, v in row.items() if not isinstance(v, str)]
        return records

    def _rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The rows of all parts with the name of their table; each is followed by its points."""
        for name, scores in self.scores.items():
            for run, score in scores.items():
                yield "scores", {"measure": name, "other": run, "score": score}
        for part in [*AT][1:]:
            table, field = POINTS.get(part, ("", ""))
            for item in getattr(self, part, ()):
                yield part, _flat(item)
                for point in getattr(item, field) if field else ():
                    yield table, {"measure": item.measure} | msgspec.to_builtins(point)


def _flat(item: Facts) -> dict[str, Any]:
    plain = structs.asdict(item)
    if isinstance(item, Agreement):
        plain = dict(zip(("measure", "other"), item.measures, strict=True)) | plain
    if isinstance(item, Sensitivity):
        plain |= dict(zip(("required_low", "required_high"), item.required_range, strict=True))
    return {name: value for name, value in plain.items() if not isinstance(value, tuple)}
