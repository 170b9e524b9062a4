"""`meta`: stability, sensitivity, power and agreement of measures, in one result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from abstain import __version__
from abstain.errors import UsageError, plural
from abstain.resample.advice import advice_of
from abstain.resample.agreement import COEFFICIENTS, Agreement, agreements
from abstain.resample.draws import Block, Draws, Plan, Progress, all_pairs, subsets
from abstain.resample.power import RESAMPLES, Power, discriminative_power
from abstain.resample.sources import Source
from abstain.resample.stability import (
    FUZZINESS,
    SAME,
    BlockWins,
    Stability,
    StabilityTally,
    block_wins,
    gaps_of,
)
from abstain.resample.swap import (
    BINS,
    WIDTH,
    BlockSwaps,
    Swap,
    SwapTally,
    block_swaps,
    fine_bins,
)

if TYPE_CHECKING:
    import polars as pl

Part: TypeAlias = Literal["stability", "sensitivity", "power", "agreement"]
PARTS: tuple[Part, ...] = get_args(Part)
MOST_TRIALS = 100_000
CURVE_POINTS = 6
DIFFERENCE = 0.05
SENSITIVITY = ("required", "highest", "relative", "sensitivity")
POWER = ("pairs", "discriminative_power", "bootstrap", "tukey", "honest_difference")


@dataclass(frozen=True, slots=True)
class Requirement:
    """The difference that a test of so many questions requires."""

    measure: str
    questions: int
    required: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"measure": self.measure, "questions": self.questions, "required": self.required}


@dataclass(frozen=True, slots=True)
class MetaResult:
    """What resampling says of measures; a part that was not asked for is empty."""

    runs: tuple[str, ...]
    questions: int
    measures: tuple[str, ...]
    scores: tuple[tuple[float | None, ...], ...]
    """Measures × runs, on all questions."""
    plan: Plan
    resamples: int
    confidence: float
    parts: tuple[Part, ...]
    stability: tuple[Stability, ...] = ()
    swap: tuple[Swap, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    power: tuple[Power, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    advice: str = ""
    notes: tuple[str, ...] = ()
    policy: Mapping[str, str] | None = None
    touched: Mapping[str, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what `--format json` prints."""
        plain: dict[str, Any] = {
            "abstain": __version__,
            "kind": "meta",
            "questions": self.questions,
            "runs": list(self.runs),
            "measures": list(self.measures),
            "trials": self.plan.trials,
            "size": self.plan.size,
            "draws": self.plan.draws,
            "resamples": self.resamples,
            "confidence": self.confidence,
            "seed": self.plan.seed,
        }
        if self.policy is not None:
            plain |= {"policy": dict(self.policy), "touched": dict(self.touched or {})}
        if self.notes:
            plain["notes"] = list(self.notes)
        plain["scores"] = {
            m: dict(zip(self.runs, own, strict=True))
            for m, own in zip(self.measures, self.scores, strict=True)
        }
        if "stability" in self.parts:
            plain["stability"] = [item.to_dict() for item in self.stability]
        if "sensitivity" in self.parts:
            plain["sensitivity"] = [item.to_dict() for item in self.swap]
            plain["required_by_questions"] = [item.to_dict() for item in self.requirements]
        if "power" in self.parts:
            plain["power"] = [item.to_dict() for item in self.power]
        if "agreement" in self.parts:
            plain["agreement"] = [item.to_dict() for item in self.agreement]
        if self.advice:
            plain["advice"] = self.advice
        return plain

    def records(self) -> list[dict[str, Any]]:
        """Every number in one long table: part, measure, other, at, quantity, value."""
        rows: list[dict[str, Any]] = []

        def add(part: str, name: str, at: float | None, other: str = "", **values: Any) -> None:
            for quantity, value in values.items():
                rows.append(
                    {
                        "part": part,
                        "measure": name,
                        "other": other,
                        "at": at,
                        "quantity": quantity,
                        "value": value,
                    }
                )

        for curve in self.stability:
            for point in curve.to_dict()["curve"]:
                add("stability", curve.measure, point.pop("fuzziness"), **point)
        for row in self.swap:
            values = {k: getattr(row, k) for k in SENSITIVITY}
            add("sensitivity", row.measure, row.size, **values)
            for item in row.to_dict()["bins"]:
                values = {"swap_rate": item["swap_rate"], "count": item["count"]}
                add("swap rates", row.measure, item["from"], **values)
        for need in self.requirements:
            add("required by questions", need.measure, need.questions, required=need.required)
        for power in self.power:
            values = {k: getattr(power, k) for k in POWER}
            add("power", power.measure, power.alpha, **values)
        for pair in self.agreement:
            values = {k: getattr(pair, k) for k in COEFFICIENTS}
            add("agreement", pair.first, None, pair.second, **values)
        return rows

    def to_frame(self) -> pl.DataFrame:
        """Every number, one a row (polars): part, measure, other, at, quantity, value."""
        import polars as pl

        schema = dict.fromkeys(("part", "measure", "other"), pl.String)
        return pl.DataFrame(
            self.records(),
            schema={**schema, "at": pl.Float64, "quantity": pl.String, "value": pl.Float64},
            strict=False,
        ).select("part", "measure", "other", "at", "quantity", "value")


def evaluate(
    source: Source,
    *,
    only: Sequence[Part] = PARTS,
    trials: int = 100,
    size: int | None = None,
    fuzziness: Sequence[float] = FUZZINESS,
    draws: Draws = "paired",
    confidence: float = 95,
    width: float = WIDTH,
    bins: int = BINS,
    sizes: Sequence[int] | None = None,
    resamples: int = RESAMPLES,
    difference: float = DIFFERENCE,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
    notes: Sequence[str] = (),
    policy: Mapping[str, str] | None = None,
    touched: Mapping[str, int] | None = None,
) -> MetaResult:
    """Judge the measures of a source."""
    parts = tuple(part for part in PARTS if part in only)
    _check(source, only, trials, resamples, confidence, width, bins, draws, seed, difference)
    levels = _levels(fuzziness)
    half = source.questions // 2
    chosen = half if size is None else size
    _check_size(chosen, source.questions, swap="sensitivity" in parts)
    plan = Plan(trials, chosen, draws, seed, threads, progress)
    full = source.full()
    said = [*notes, *_undefined_on_all(source, full)]
    stability: list[Stability] = []
    swap: list[Swap] = []
    requirements: list[Requirement] = []
    if "stability" in parts or "sensitivity" in parts:
        want = "stability" in parts, "sensitivity" in parts
        stability, swap = _drawn(source, plan, levels, confidence, width, bins, want=want, part=0)
    if "sensitivity" in parts:
        curve = _curve_sizes(sizes, chosen, half)
        for number, own in enumerate(curve):
            found = swap
            if own != chosen:
                again = plan.of_size(own)
                _, found = _drawn(
                    *(source, again, levels, confidence, width, bins),
                    want=(False, True),
                    part=10 + number,
                )
            requirements += [Requirement(row.measure, own, row.needed) for row in found]
    power: list[Power] = []
    if "power" in parts:
        drawing = Plan(resamples, chosen, draws, seed, threads, progress)
        power = discriminative_power(source, drawing, alpha=round(1 - confidence / 100, 12))
    agreement: list[Agreement] = []
    if "agreement" in parts:
        agreement = agreements(source.measures, full, source.directions)
        if len(source.measures) < 2:
            said.append("agreement needs two measures: name another with -m")
    said += [*_left_out(stability, swap), *_open_ended(swap, bins)]
    return MetaResult(
        runs=tuple(source.runs),
        questions=source.questions,
        measures=tuple(source.measures),
        scores=tuple(tuple(None if v != v else float(v) for v in own) for own in full),
        plan=plan,
        resamples=resamples,
        confidence=confidence,
        parts=parts,
        stability=tuple(stability),
        swap=tuple(swap),
        requirements=tuple(requirements),
        power=tuple(power),
        agreement=tuple(agreement),
        advice=advice_of(swap, requirements, source, difference) if swap else "",
        notes=tuple(said),
        policy=policy,
        touched=touched,
    )


def _drawn(
    source: Source,
    plan: Plan,
    levels: tuple[float, ...],
    confidence: float,
    width: float,
    bins: int,
    *,
    want: tuple[bool, bool],
    part: int,
) -> tuple[list[Stability], list[Swap]]:
    """One pass over the trials serves both: the first subset of a swap is a subset too."""
    first, second = all_pairs(len(source.runs))
    full = source.full()
    ahead = full[:, first] - full[:, second]
    scale = np.nanmax(np.abs(full), axis=1, initial=1.0)
    same = SAME * scale
    fine = fine_bins(source.spans, width, bins)
    wins = StabilityTally(source.measures, len(first), levels)
    swaps = SwapTally(source.measures, size=plan.size, width=width, bins=bins, fine=fine)
    steps = np.array(levels)

    def use(block: Block) -> tuple[BlockWins | None, BlockSwaps | None]:
        gaps = gaps_of(block.x, block.y, same)
        binned: Any = {"width": width, "bins": bins, "fine": fine, "same": same, "gaps": gaps}
        return (
            block_wins(block, steps, ahead, same, gaps) if want[0] else None,
            block_swaps(block, **binned) if want[1] else None,
        )

    for blocks in subsets(source, plan, use, part=part, disjoint=want[1]):
        for won, swapped in blocks:
            if won is not None:
                wins.add(won)
            if swapped is not None:
                swaps.add(swapped)
        wins.close()
        swaps.close()
    return wins.results() if want[0] else [], swaps.results(confidence) if want[1] else []


# ---------------------------------------------------------------------------------- checks


def _check(
    source: Source,
    only: Sequence[str],
    trials: int,
    resamples: int,
    confidence: float,
    width: float,
    bins: int,
    draws: str,
    seed: int,
    difference: float,
) -> None:
    from abstain.errors import UnknownNameError

    for part in only:
        if part not in PARTS:
            raise UnknownNameError("part", part, PARTS, hint=f"there are {', '.join(PARTS)}")
    if draws not in get_args(Draws):
        raise UsageError(f"draws are paired or shared (got '{draws}')")
    if len(source.runs) < 2:
        raise UsageError(
            f"measures are judged by pairs of runs: at least 2 (got {len(source.runs)})"
        )
    if source.questions < 2:
        raise UsageError(f"subsets need at least 2 questions (got {source.questions})")
    if not 1 <= trials <= MOST_TRIALS:
        raise UsageError(f"trials must be from 1 to {MOST_TRIALS:,} (got {trials:,})")
    if not 1 <= resamples <= MOST_TRIALS:
        raise UsageError(f"resamples must be from 1 to {MOST_TRIALS:,} (got {resamples:,})")
    if not 0 < confidence < 100:
        raise UsageError(f"the confidence is a percentage between 0 and 100 (got {confidence:g})")
    if not (math.isfinite(width) and width > 0):
        raise UsageError(f"the width of a bin must be above 0 (got {width:g})")
    if not 2 <= bins <= 1000:
        raise UsageError(f"bins must be from 2 to 1,000 (got {bins:,})")
    if seed < 0:
        raise UsageError(f"the seed must be 0 or more (got {seed})")
    if not (math.isfinite(difference) and difference > 0):
        raise UsageError(f"the difference must be above 0 (got {difference:g})")


def _check_size(size: int, questions: int, *, swap: bool) -> None:
    if swap and not 1 <= size <= questions // 2:
        raise UsageError(
            f"a subset of {size:,} leaves no disjoint one of its size: with "
            f"{plural(questions, 'question')} at most {questions // 2:,} "
            "(stability alone takes larger ones: --only stability)"
        )
    if not 1 <= size <= questions:
        raise UsageError(f"the size of a subset must be from 1 to {questions:,} (got {size:,})")


def _levels(fuzziness: Sequence[float]) -> tuple[float, ...]:
    values = sorted(set(fuzziness))
    if not values or not all(0 <= f <= 1 for f in values):
        raise UsageError("a fuzziness is a share from 0 to 1, such as 0.05")
    return tuple(values)


def _curve_sizes(sizes: Sequence[int] | None, chosen: int, half: int) -> list[int]:
    """Sizes for the curve of required differences: up to half the questions, evenly spread."""
    if sizes is not None:
        for size in sizes:
            if not 1 <= size <= half:
                raise UsageError(f"a size of the curve must be from 1 to {half:,} (got {size:,})")
        return sorted(set(sizes))
    even = {max(1, round(half * k / CURVE_POINTS)) for k in range(1, CURVE_POINTS + 1)}
    return sorted(even | {chosen})


def _undefined_on_all(source: Source, full: Any) -> list[str]:
    found = []
    for m, name in enumerate(source.measures):
        gone = [source.runs[i] for i in np.flatnonzero(np.isnan(full[m]))]
        if gone:
            some = ", ".join(gone[:3]) + (f" and {len(gone) - 3} more" if len(gone) > 3 else "")
            found.append(f"{name} does not exist for {some}, on all questions")
        elif np.ptp(full[m]) <= SAME:
            found.append(f"all runs have the same {name}")
    return found


def _left_out(stability: Sequence[Stability], swap: Sequence[Swap]) -> list[str]:
    """How many comparisons a measure could not make."""
    found = []
    for item in swap or stability:
        if item.undefined:
            total = item.comparisons + item.undefined
            found.append(
                f"{item.measure} did not exist for one of two runs in {item.undefined:,} of "
                f"{total:,} comparisons; they are left out"
            )
    return found


def _open_ended(swap: Sequence[Swap], bins: int) -> list[str]:
    """Where the required difference is only the beginning of the last, open bin."""
    return [
        f"{row.measure} requires {row.required:g} by the last bin, which is open; with more bins "
        f"it would be {row.needed:g} (--bins)"
        for row in swap
        if row.required is not None
        and row.needed is not None
        and row.required == round((bins - 1) * row.width, 12) < row.needed
    ]
