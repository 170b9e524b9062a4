"""The page of a result of `abstain meta`: the same tables and charts as the command has."""

from __future__ import annotations

from typing import Any

from abstain.analyses.meta.agreement import LABELS, Agreement
from abstain.analyses.meta.draws import Plan
from abstain.analyses.meta.power import Power
from abstain.analyses.meta.result import MetaResult, Requirement
from abstain.analyses.meta.stability import Stability
from abstain.analyses.meta.swap import Swap
from abstain.errors import plural
from abstain.report.meta import grids_by_part, in_bins
from abstain.report.meta_charts import agreement_chart, meta_charts
from abstain.report.pieces import Figure, Page, PageTable, Section
from abstain.report.results.common import again, blanks_table, facts, known_measure, number
from abstain.report.results.saved import Meta, SwapRow
from abstain.report.rewards import measure_facts

PARTS = {
    "stability": "Stability",
    "sensitivity": "Sensitivity",
    "power": "Power",
    "agreement": "Agreement",
}


def meta_page(saved: Meta) -> Page:
    """Would another sample of questions have said the same?"""
    result = rebuilt(saved)
    grids = grids_by_part(result)
    drawn = [(name, spec) for name, spec in _charts(result) if spec["data"]["values"]]
    sections = [
        Section(
            part,
            title,
            said=[saved.advice] if part == "sensitivity" and saved.advice else [],
            figures=[_figure(name, spec, saved) for name, spec in drawn if _home(name) == part],
            tables=[
                PageTable(f"{part}_{n}", g.title, " ".join(g.notes), g)
                for n, g in enumerate(grids.get(part, []))
                if g.rows
            ],
        )
        for part, title in PARTS.items()
    ]
    known = [item for name in saved.measures if (item := known_measure(name)) is not None]
    sections += [
        Section(f"measure{n}", f"What {item} rewards", facts=measure_facts(item))
        for n, item in enumerate(known)
        if item.definition.takes == "counts"
    ]
    return Page(
        title=f"{', '.join(saved.measures)} judged over {plural(len(saved.runs), 'run')}",
        lead=_lead(saved),
        sections=sections,
        again=again(saved),
        again_facts=facts(
            saved,
            ("questions", f"{saved.questions:,}"),
            ("trials", f"{saved.trials:,}, subsets of {saved.size:,}, draws {saved.draws}"),
            ("resamples", f"{saved.resamples:,}"),
            ("confidence", f"{saved.confidence:g} %"),
        ),
        again_tables=blanks_table(saved),
        command=saved.command,
    )


def _charts(result: MetaResult) -> list[tuple[str, dict[str, Any]]]:
    """The charts of the command; agreement in one where that is enough."""
    charts = meta_charts(result)
    one = agreement_chart(result)
    if one is None:
        return charts
    return [*(own for own in charts if _home(own[0]) != "agreement"), ("agreement", one)]


def rebuilt(saved: Meta) -> MetaResult:
    """The result as it was before it was saved."""
    parts = [p for p in ("stability", "sensitivity", "power", "agreement") if getattr(saved, p)]
    return MetaResult(
        runs=tuple(saved.runs),
        questions=saved.questions,
        measures=tuple(saved.measures),
        scores=(),
        plan=Plan(saved.trials, saved.size, saved.draws, saved.seed or 0),  # type: ignore[arg-type]
        resamples=saved.resamples,
        confidence=saved.confidence,
        parts=tuple(parts),  # type: ignore[arg-type]
        stability=tuple(
            Stability(
                s.measure,
                tuple(p.fuzziness for p in s.curve),
                tuple(p.error for p in s.curve),
                tuple(p.error_se for p in s.curve),
                tuple(p.ties for p in s.curve),
                tuple(p.ties_se for p in s.curve),
                s.comparisons,
                s.undefined,
            )
            for s in saved.stability
        ),
        swap=tuple(
            Swap(
                measure=s.measure,
                size=s.size,
                width=s.width,
                confidence=saved.confidence,
                rates=tuple(b.swap_rate for b in s.bins),
                rates_se=tuple(b.se for b in s.bins),
                counts=tuple(b.count for b in s.bins),
                required=s.required,
                required_range=s.required_range,
                reason=s.reason,
                highest=s.highest,
                sensitivity=s.sensitivity,
                comparisons=s.comparisons,
                undefined=s.undefined,
                within_bins=s.within_bins,
                ties=s.ties,
                tied_elsewhere=s.tied_elsewhere,
            )
            for s in saved.sensitivity
        ),
        requirements=tuple(
            Requirement(r.measure, r.questions, r.required) for r in saved.required_by_questions
        ),
        power=tuple(
            Power(
                measure=p.measure,
                pairs=p.pairs,
                alpha=p.alpha,
                asl=tuple(p.asl),
                bootstrap=p.bootstrap,
                tukey=p.tukey,
                honest_difference=p.honest_difference,
                undefined=p.undefined,
                resamples=saved.resamples * (p.pairs + p.undefined),
                undefined_resamples=p.undefined_resamples,
                undefined_permutations=p.undefined_permutations,
                reason=p.reason,
            )
            for p in saved.power
        ),
        agreement=tuple(
            Agreement(*a.measures, a.runs, a.tau_b, a.tau_ap, a.spearman, a.rbo, a.reason)
            for a in saved.agreement
        ),
    )


def _home(name: str) -> str:
    return {"swap": "sensitivity", "required": "sensitivity"}.get(name, name.split("_")[0])


def _figure(name: str, spec: dict[str, Any], saved: Meta) -> Figure:
    heading = spec["title"]["text"]
    return Figure(f"chart_{name}", _words(name, saved), spec, title=heading)


def _words(name: str, saved: Meta) -> str:
    """What a chart shows, for those who do not see it."""
    if name == "stability":
        ends = [(s.measure, s.curve[0]) for s in saved.stability if s.curve]
        said = "; ".join(
            f"{m}: {_percent(p.error)} errors and {_percent(p.ties)} ties at {p.fuzziness:g}"
            for m, p in ends
        )
        return f"Error rate over the share of ties, a point for each fuzziness. {said}."
    if name == "swap":
        said = "; ".join(f"{s.measure} requires {_required(s)}" for s in saved.sensitivity)
        limit = f"{100 - saved.confidence:g} %"
        return (
            f"How often another sample swaps two runs, by their difference. For at most {limit}, "
            f"where the diamonds lie: {said}. The last bin has no end: a square is for all "
            "differences from there on, so the curves stop before it."
        )
    if name == "required":
        return "The more questions, the smaller the difference that can be trusted."
    if name == "power":
        said = "; ".join(
            f"{p.measure} could not be tested"
            if p.bootstrap is None
            else f"{p.measure} tells {p.bootstrap:,} of {p.pairs:,} apart"
            for p in saved.power
        )
        return f"Achieved significance levels of all pairs, the surest first: {said}."
    coefficient = name.partition("_")[2] or "tau_b"
    said = "; ".join(
        f"{a.measures[0]} and {a.measures[1]} {number(getattr(a, coefficient), 2)}"
        for a in saved.agreement
    )
    said = f"{LABELS[coefficient]}, {said}" if name == "agreement" else said
    return f"How far two measures order the runs alike: {said}."


def _required(row: SwapRow) -> str:
    return in_bins(row.required, row.width) or "–"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f} %"


def _lead(saved: Meta) -> str:
    there = [s for s in saved.sensitivity if s.required is not None]
    if there:
        best = there[0]
        return (
            f"With {plural(best.size, 'question')}, two runs must differ by "
            f"{_required(best)} in {best.measure} to keep their order in "
            f"{saved.confidence:g} % of samples; {_percent(best.sensitivity)} of comparisons do."
        )
    if saved.stability:
        first = min(
            saved.stability, key=lambda s: _first_error(s.curve[0].error if s.curve else None)
        )
        error = first.curve[0].error if first.curve else None
        return (
            f"{first.measure} errs least: another sample reverses {_percent(error)} of the pairs."
        )
    if saved.power:
        top = max(saved.power, key=lambda p: p.bootstrap or 0)
        if top.bootstrap is None:
            return f"No pair of runs could be tested: {top.reason}."
        return f"{top.measure} tells most pairs of runs apart: {top.bootstrap:,} of {top.pairs:,}."
    if saved.agreement:
        near = max(saved.agreement, key=lambda a: -2.0 if a.tau_b is None else a.tau_b)
        tau = number(near.tau_b, 2)
        return f"{near.measures[0]} and {near.measures[1]} agree most: Kendall's τ {tau}."
    return saved.advice or "No part of the result has anything to show."


def _first_error(value: float | None) -> float:
    return 2.0 if value is None else value
