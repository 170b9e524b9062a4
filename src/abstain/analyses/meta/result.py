"""What resampling says of measures, in one result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstain import __version__
from abstain.analyses.meta.agreement import COEFFICIENTS, Agreement
from abstain.analyses.meta.draws import Plan
from abstain.analyses.meta.power import Power
from abstain.analyses.meta.settings import Part
from abstain.analyses.meta.stability import Stability
from abstain.analyses.meta.swap import Swap

if TYPE_CHECKING:
    import polars as pl

SENSITIVITY = (
    *("required", "within_bins", "highest", "relative", "sensitivity", "tied_elsewhere"),
    *("comparisons", "ties", "undefined", "width"),
)
POWER = (
    *("pairs", "discriminative_power", "bootstrap", "tukey", "honest_difference"),
    *("undefined", "undefined_resamples", "undefined_permutations"),
)


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

        for name, own in zip(self.measures, self.scores, strict=True):
            for run, score in zip(self.runs, own, strict=True):
                add("scores", name, None, run, score=score)
        for curve in self.stability:
            values = {k: getattr(curve, k) for k in ("comparisons", "undefined")}
            add("stability", curve.measure, None, **values)
            for point in curve.to_dict()["curve"]:
                add("stability", curve.measure, point.pop("fuzziness"), **point)
        for row in self.swap:
            low, high = row.required_range
            values = {k: getattr(row, k) for k in SENSITIVITY}
            values |= {"required_low": low, "required_high": high}
            add("sensitivity", row.measure, row.size, **values)
            for item in row.to_dict()["bins"]:
                values = {k: item[k] for k in ("swap_rate", "se", "count")}
                add("swap rates", row.measure, item["from"], **values)
        for need in self.requirements:
            add("required by questions", need.measure, need.questions, required=need.required)
        for power in self.power:
            values = {k: getattr(power, k) for k in POWER}
            add("power", power.measure, power.alpha, **values)
            for pair, level in power.curve:
                add("asl", power.measure, pair, asl=level)
        for both in self.agreement:
            values = {k: getattr(both, k) for k in (*COEFFICIENTS, "runs")}
            add("agreement", both.first, None, both.second, **values)
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
