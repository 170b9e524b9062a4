"""What resampling says of measures, in sentences: notes, the lead of a page, its charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from abstain.analyses.meta.parts import MANY
from abstain.analyses.meta.result import MetaResult, Need, Sensitivity
from abstain.errors import plural
from abstain.report.words import first_few, listed, number
from abstain.stats.resampling.draws import SAME
from abstain.stats.resampling.sensitivity import WIDTH

COEFFICIENT = {"tau_b": "Kendall τ-b", "tau_ap": "τ_AP", "spearman": "Spearman ρ", "rbo": "RBO"}


def in_bins(value: float | None, width: float) -> str | None:
    """A score as exact as bins of this width make it, and to two decimals at least.

    >>> in_bins(0.3, 0.01), in_bins(41, 1), in_bins(0.0035, 0.0005), in_bins(4e-9, 1e-11)
    ('0.30', '41.00', '0.0035', '4e-09')
    """
    if value is None:
        return None
    digits = -math.floor(math.log10(width) + 1e-9)
    fixed = -6 <= digits <= 6
    text = f"{value:.{max(2, digits)}f}" if fixed else f"{value:.4g}"
    return text.replace("-", "−") if fixed else text


def bootstrap(result: MetaResult) -> str:
    """Which bootstrap tests pairs: of scores that of Student's t, of counts that of differences."""
    if result.given_scores:
        return "studentised, Sakai 2006"
    return (
        "every resample is scored anew; the observed difference is subtracted from that "
        "of the resample, without division by a standard error"
    )


def percent(share: float) -> str:
    """A share as a percentage, without what is only rounding.

    >>> percent(0.95), percent(1 - 0.95)
    ('95', '5')
    """
    return f"{100 * share:g}"


def how_drawn(result: MetaResult) -> str:
    """The trials, the subsets and the seed."""
    paired = result.draws == "paired"
    whose = "own subsets for each pair" if paired else "the same subsets for all pairs"
    return (
        f"{plural(result.trials, 'trial')}, subsets of {result.size:,} of "
        f"{plural(result.questions, 'question')}, {whose}, seed {result.seed}"
    )


def notes_of(result: MetaResult) -> list[str]:
    """What has to be said beside the numbers, in the order of the parts."""
    found = [*_undefined_on_all(result), *_left_out(result)]
    if result.trials == 1 and result.stability:
        found.append("a single trial always has an error rate of 0")
    if result.trials == 1 and result.sensitivity:
        found.append("a single trial has no Monte Carlo error: use more trials")
    if result.width is None:
        found += _widths(result)
    found += [*_beyond(result), *_tied_elsewhere(result), *_rising(result)]
    found += _not_resampled(result)
    if "agreement" in result.parts and len(result.measures) < 2:
        more = "give another file of scores" if result.given_scores else "name another measure"
        found.append(f"agreement needs two measures: {more}")
    return found


def _undefined_on_all(result: MetaResult) -> Iterator[str]:
    for name, own in result.scores.items():
        there = [score for score in own.values() if score is not None]
        gone = [run for run, score in own.items() if score is None]
        if gone:
            yield f"{name} is undefined for {first_few(gone)} even on all questions together"
        elif max(there) - min(there) <= SAME * max(map(abs, there)):
            yield f"all runs have the same {name}"


def _left_out(result: MetaResult) -> Iterator[str]:
    """How many comparisons a measure could not make."""
    for item in result.sensitivity or result.stability:
        if item.undefined:
            yield (
                f"{item.measure} was undefined for one of two runs in {item.undefined:,} of "
                f"{item.comparisons + item.undefined:,} comparisons; they are left out"
            )


def _widths(result: MetaResult) -> Iterator[str]:
    """Scores on another scale than the papers' have bins on theirs."""
    for row in result.sensitivity:
        if row.width != WIDTH:
            yield (
                f"{row.measure} spans {result.spans[row.measure]:g}, so its bins are "
                f"{row.width:g} wide (the width can be set)"
            )


def _beyond(result: MetaResult) -> Iterator[str]:
    for row in result.sensitivity:
        last = row.bins[-1].start if row.bins else math.inf
        if row.required is not None and row.required > last:
            found = "no required difference" if row.within_bins is None else f"{row.within_bins:g}"
            yield (
                f"{row.measure} requires a difference of {row.required:g}. This is beyond the "
                f"{len(row.bins):,} listed bins (the last one is open and starts at {last:g}); it "
                "was computed with more bins of the same width. From the listed bins alone the "
                f"result would be {found}; set a larger number of bins to list more of them"
            )


def _tied_elsewhere(result: MetaResult) -> Iterator[str]:
    """A difference that other questions do not show is not reversed, but not kept either."""
    for row in result.sensitivity:
        if row.tied_elsewhere is not None and row.tied_elsewhere > 1 - result.level:
            yield (
                f"{row.measure}: of the differences that are as large as required or larger, "
                f"{100 * row.tied_elsewhere:.0f} % are ties on the other questions; ties do not "
                "count as swaps"
            )


def _rising(result: MetaResult) -> Iterator[str]:
    """More questions cannot require more: where they seem to, it is chance."""
    for name in result.measures:
        own = [
            (point.questions, point.required)
            for point in result.required_by_questions
            if point.measure == name and point.required is not None
        ]
        for (fewer, before), (more, after) in pairwise(own):
            if after > before:
                yield (
                    f"{name} seems to require a larger difference on {more:,} questions than on "
                    f"{fewer:,}: this is due to chance; use more trials"
                )
                break


def _not_resampled(result: MetaResult) -> Iterator[str]:
    """Where the tests of power had less to go by."""
    for item in result.power:
        if item.undefined_resamples:
            yield (
                f"{item.measure} was undefined for one of two runs in "
                f"{item.undefined_resamples:,} of {item.resamples:,} resamples of pairs; they are "
                "left out of the bootstrap"
            )
        if item.undefined:
            yield (
                f"{plural(item.undefined, 'pair is', 'pairs are')} not tested by {item.measure}: "
                "it is defined for both runs on too few resamples, or on none"
            )
        if item.undefined_permutations:
            yield (
                f"{item.measure} was undefined for some run in "
                f"{plural(item.undefined_permutations, 'permutation')} of Tukey's test; the test "
                "uses the others"
            )


def lead_of(result: MetaResult) -> str:
    """The first sentence of a page."""
    there = [row for row in result.sensitivity if row.required is not None]
    if there:
        best = there[0]
        return (
            f"With {plural(best.size, 'question')}, two runs must differ by "
            f"{in_bins(best.required, best.width)} in {best.measure} to keep their order in "
            f"{percent(result.level)} % of samples; {_share(best.sensitivity)} of comparisons "
            "have such a difference."
        )
    if result.stability:
        errors = {own.measure: own.curve[0].error for own in result.stability if own.curve}
        name, error = min(errors.items(), key=lambda own: 2.0 if own[1] is None else own[1])
        said = f"{name} has the lowest error rate"
        return f"{said}: another sample reverses {_share(error)} of the pairs."
    if result.power:
        top = max(result.power, key=lambda p: p.bootstrap or 0)
        if top.bootstrap is None:
            return f"No pair of runs could be tested: {top.reason}."
        most = ", more than any other measure" if len(result.power) > 1 else ""
        return f"{top.measure} tells {top.bootstrap:,} of {top.pairs:,} pairs of runs apart{most}."
    if result.agreement:
        near = max(result.agreement, key=lambda a: -2.0 if a.tau_b is None else a.tau_b)
        tau = number(near.tau_b, 2)
        return f"{near.measures[0]} and {near.measures[1]} agree most: Kendall's τ {tau}."
    return "No part of the result has anything to show."


def chart_words(name: str, result: MetaResult) -> str:
    """What a chart shows, for those who do not see it."""
    if name == "stability":
        ends = [(own.measure, own.curve[0]) for own in result.stability if own.curve]
        said = "; ".join(
            f"{m}: {_share(p.error)} errors and {_share(p.ties)} ties at {p.fuzziness:g}"
            for m, p in ends
        )
        return f"Error rate against the share of ties, with a point for each fuzziness. {said}."
    if name == "swap":
        said = "; ".join(
            f"{row.measure} requires {in_bins(row.required, row.width) or '–'}"
            for row in result.sensitivity
        )
        return (
            "How often another sample swaps two runs, by their difference. For a swap rate of at "
            f"most {percent(1 - result.level)} % (diamonds): {said}. The last bin is open: its "
            "square stands for all larger differences, so the curves stop before it."
        )
    if name == "required":
        return "The more questions, the smaller the difference that can be trusted."
    if name == "power":
        said = "; ".join(
            f"{p.measure} could not be tested"
            if p.bootstrap is None
            else f"{p.measure} tells {p.bootstrap:,} of {p.pairs:,} apart"
            for p in result.power
        )
        return f"Achieved significance levels of all pairs, the surest first: {said}."
    coefficient = name.partition("_")[2] or "tau_b"
    said = "; ".join(
        f"{a.measures[0]} and {a.measures[1]} {number(getattr(a, coefficient), 2)}"
        for a in result.agreement
    )
    said = f"{COEFFICIENT[coefficient]}, {said}" if name == "agreement" else said
    return f"How similarly two measures order the runs: {said}."


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f} %"


def advice_of(result: MetaResult) -> str:
    """One paragraph: which measure needs least here, and how many questions."""
    rows = result.sensitivity
    known = [row for row in rows if row.required is not None]
    said: list[str] = []
    if known:
        said.append(_least(known, result.level))
        said += _shares_of_range(known, result)
    for row in rows:
        if row.required is None:
            said.append(f"{row.measure}: no required difference can be given: {row.reason}.")
    needs: dict[float, list[Need]] = {}
    for need in result.questions_needed:
        needs.setdefault(need.difference, []).append(need)
    said += [_needed(*item) for item in needs.items()]
    sizes = [point.questions for point in result.required_by_questions]
    tried = max([*sizes, *(row.size for row in rows)], default=0)
    if any(need.questions > tried for need in result.questions_needed):
        said.append(
            f"Beyond the {tried:,} that were tried, the required difference is assumed to fall "
            "with the square root of the number of questions."
        )
    return " ".join(said)


def _needed(difference: float, needs: Sequence[Need]) -> str:
    told = [
        f"{n.questions:,} with {n.measure}"
        if n.questions < MANY
        else f"over 10^15 with {n.measure}"
        for n in needs
    ]
    told[0] = told[0].replace(" with", " questions with", 1)
    about = "about " if needs[0].questions < MANY else ""
    return f"A difference of {difference:g} would need {about}{listed(told)}."


def _least(known: Sequence[Sensitivity], level: float) -> str:
    """Which measure needs least; on different scales as a share of the highest score.

    Where the highest score is not above 0 there is no share, and nothing to compare.
    """
    one_scale = len({row.width for row in known}) == 1
    amounts = [(row.required if one_scale else row.relative) for row in known]
    compared = [a for a in amounts if a is not None]
    if not compared:
        told = listed([f"{row.measure} {row.required:g}" for row in known])
        return (
            f"Differences required for a reliable comparison on "
            f"{plural(known[0].size, 'question')}: {told}. Their scales cannot be compared."
        )
    best = [
        row
        for row, amount in zip(known, amounts, strict=True)
        if amount is not None and math.isclose(amount, min(compared), rel_tol=1e-9)
    ]
    names = listed([row.measure for row in best])
    size = plural(best[0].size, "question")
    share = listed(list(dict.fromkeys(f"{100 * (row.sensitivity or 0):.0f} %" for row in best)))
    amounts_of_best = (
        f"a difference of {row.required:g} or more" if row.required else "a difference of any size"
        for row in best
    )
    needed = listed(list(dict.fromkeys(amounts_of_best)))
    least = ", less than other measures" if len(compared) > len(best) else ""
    if least and not one_scale:
        least += " (as a share of the highest score)"
    text = (
        f"For a reliable comparison on {size}, {names} {'need' if best[1:] else 'needs'} {needed}"
        f"{least}: other questions reverse such a difference between two runs in at most "
        f"{percent(1 - level)} % of cases, and {share} of the comparisons reach it"
    )
    others = [row for row in known if row not in best]
    if others:
        text += "; " + listed([f"{row.measure} needs {row.required:g}" for row in others])
    apart = [row.measure for row, amount in zip(known, amounts, strict=True) if amount is None]
    if apart:
        text += f" ({listed(apart)} cannot be compared: no score is above 0)"
    return text + "."


def _shares_of_range(known: Sequence[Sensitivity], result: MetaResult) -> list[str]:
    """A measure with a wider range needs larger differences for no other reason."""
    spans = result.spans
    if result.given_scores or len({spans[row.measure] for row in known}) < 2:
        return []
    wide = [f"{row.measure} {(row.required or 0) / spans[row.measure]:.3g}" for row in known]
    return [
        "The ranges of the measures differ. Required difference as a share of the measure's range: "
        f"{', '.join(wide)}."
    ]
