"""How a comparison was made, in words: what it could find, what is unknown, intervals, tests."""

from __future__ import annotations

from collections import Counter

from abstain.analyses.compare.result import CompareResult
from abstain.errors import plural
from abstain.report.compare_scores import of_scores
from abstain.report.compare_words import units
from abstain.report.shared import known_measure
from abstain.stats.intervals import DEFAULT, DRAWS, METHODS, OF_ONE_PROPORTION, RANDOM
from abstain.stats.planning import Plan

MOST_ODD = 3
SHORT = 0.0005
TESTS = {
    "randomisation": "paired randomisation",
    "bootstrap": "paired bootstrap (p: the smaller share of resamples on one side of 0, doubled)",
    "mcnemar": "McNemar's exact test of right against not right",
    "t": "paired t-test, corrected for skewness (Hall 1992)",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "exact sign test, ties left out",
}
OF_DIFFERENCES = {
    "logit": "the influence of each answer on the logit scale",
    "mover": "the two intervals combined",
}
OF_SCORES = {
    "delta": "Student's t",
    "hall": "Student's t, widened where scores are skewed",
}
DRAWN = {
    "random": ", assumed to be drawn at random",
    "truth": ", assumed to be drawn by true outcome (a fixed number of each)",
    "verdict": ", drawn by the judge's verdict (a fixed number of each)",
}
BY_TRIALS = ("randomisation", "bootstrap")
"""Tests by random trials, where they are not exact."""
RULES_ERR = (
    "the rules that find refusals make errors: `abstain refusals --check` measures how many; give "
    "the table that it writes to `abstain compare --judge-error`, and the corrected scores take "
    "these errors into account"
)


def bounds(c: CompareResult) -> list[str]:
    """What unknown responses could have done to scores."""
    unknown = [row for row in c.rows if row.unknown and row.bounds]
    if not unknown:
        return []
    total = sum(row.unknown for row in unknown)
    said = [
        f"{plural(total, 'response is', 'responses are')} unknown (unparseable, failed or missing)."
        f" The columns worst and best are the lowest and the highest possible score over all "
        f"{plural(c.questions_in_all, 'question')}, for any outcome of those responses"
        + (
            "."
            if all(row.all_ways for row in unknown)
            else " (found by a search, not by trying every outcome)."
        )
    ]
    if len(c.rows) == 2 and all(row.bounds for row in c.rows):
        first, second = c.rows
        above, below = (first, second) if c.higher_is_better else (second, first)
        low, high = above.bounds[c.measure][0], below.bounds[c.measure][1]
        if low is not None and high is not None and low > high:
            said.append(
                f"{first.run} stays ahead of {second.run} whatever the unknown responses were."
            )
        else:
            said.append("The unknown responses could reverse the order of the two runs.")
    return said


def corrected(c: CompareResult) -> list[str]:
    """What was corrected of a judge's errors."""
    if not any(row.corrected for row in c.rows):
        return []
    said = [
        "The corrected scores remove the judge's errors, using its error rates on a sample of "
        f"{plural(c.judge_sample, 'checked response')}{DRAWN.get(c.judge_drawn, '')}; their "
        "intervals include the uncertainty of those rates."
    ]
    if c.never_checked:
        which = "judged" if c.judge_drawn == "verdict" else "truly"
        said.append(
            f"No response that is {which} {' or '.join(c.never_checked)} was checked: the "
            "judge is assumed to be right there."
        )
    return said


def plan(c: CompareResult) -> list[str]:
    """What this test set could find, and what it takes to find a difference."""
    p = c.plan
    if p is None:
        return []
    if p.visible is not None and c.widest is not None and p.visible > c.widest:
        return ["This test set is too small to show any difference reliably."]
    one = len(c.pairs) == 1
    error = "the standard error of this pair" if one else "the median standard error of the pairs"
    said = []
    if p.visible is not None:
        size = f"{p.visible:.3f}" if p.visible >= SHORT else "less than 0.001"
        if p.visible_range is not None:
            low, high = p.visible_range
            why = "because the standard error is only an estimate from the clusters"
            size += f" ({low:.3f} to {high:.3f}, {why})"
        said.append(
            f"This test set could detect a difference of {size} (power {100 * p.power_asked:g} %, "
            f"with {error}, one comparison)."
        )
    if p.detect is not None and p.power is not None and p.needed is not None:
        said.append(
            f"This test set has a power of {100 * p.power:.0f} % to find a difference of "
            f"{p.detect:g}; a power of {100 * p.power_asked:g} % needs "
            f"{units(p.needed, c.unit)}{_between(p)}."
        )
    return said


def _between(p: Plan) -> str:
    return "" if p.needed_range is None else " ({:,} to {:,})".format(*p.needed_range)


def how(c: CompareResult) -> list[str]:
    """How intervals and p-values were made, where there are some."""
    said = [_intervals(c, c.interval_method)] if c.interval_method is not None else []
    said += [_test(c)] if c.is_tested else []
    return [" ".join(said), *of_scores(c)] if said else []


def _intervals(c: CompareResult, method: str) -> str:
    by = (OF_SCORES if c.of_scores else METHODS).get(method) or METHODS.get(method, method)
    text = f"Intervals: {100 * c.level:g} %, {by} ({method}"
    if method in RANDOM:
        drawn = f"{DRAWS:,} draws" if method == "jeffreys" else f"{c.trials:,} trials"
        text += f"; {drawn}, seed {c.seed}"
    text += ")"
    if method in OF_ONE_PROPORTION:
        return f"{text}; for differences: {DEFAULT}."
    of_differences = c.interval_method_of_differences
    if of_differences is not None:
        said = OF_DIFFERENCES.get(of_differences, of_differences)
        return f"{text}; for differences: {said} ({of_differences})."
    return f"{text}."


def _test(c: CompareResult) -> str:
    trials = f"{c.trials:,} trials, seed {c.seed}"
    text = f"Test: {TESTS.get(c.test, c.test)}"
    if c.studentised and c.test == "randomisation":
        item = known_measure(c.measure)
        given = item is not None and item.definition.proportion is not None
        if given and c.clusters is None:
            text = (
                "Test: random draws in which each run answers the same questions as in the data, "
                f"and both runs have the same true {c.measure}"
            )
        else:
            text += " of the difference divided by its standard error"
    tested = [p for p in c.pairs if p.p is not None]
    drawn = [p for p in tested if not p.exact] if c.test in BY_TRIALS else []
    exact = sum(p.exact for p in tested)
    if exact and c.test not in ("mcnemar", "sign"):
        text += ", exact" if exact == len(tested) else f", exact for {plural(exact, 'pair')}"
    return text + (f"; {trials}." if drawn else ".")


def odd_intervals(c: CompareResult) -> list[str]:
    """What is to be known of intervals that are there, and of some that are not."""
    if c.interval_method is None:
        return []
    odd = [why for row in c.rows for why in row.no_interval.values()]
    odd += [pair.no_interval for pair in c.pairs if pair.no_interval]
    times = list(Counter(odd).items())[:MOST_ODD]
    return [f"{plural(n, 'interval')}: {why}." for why, n in times]


def notes(c: CompareResult) -> list[str]:
    """What a reader should know of answers without a confidence, of the unknown, of reading."""
    item = known_measure(c.measure)
    left_out = item is not None and item.definition.uses == "stated"
    treated = "left out" if left_out else "taken as the least sure"
    said = [
        f"run '{row.run}': {plural(row.unstated, 'answer')} without a confidence, {treated}"
        for row in c.rows
        if row.unstated
    ]
    unknown = sum(row.unknown for row in c.rows if not row.bounds)
    if unknown:
        said.append(
            f"{plural(unknown, 'response is', 'responses are')} unknown (unparseable, failed "
            "or missing); for measures of confidence their possible effect on the score is not "
            "computed"
        )
    if c.biased:
        said.append(
            f"{c.measure if item is None else item.name} is biased upwards, and more so the fewer "
            "answers a run has. The null hypothesis is therefore that the two runs do not differ "
            "in anything, and there is no interval"
        )
    lost = [pair.undefined_swaps for pair in c.pairs if pair.undefined_swaps]
    if lost:
        most = f"{'up to ' if len(lost) > 1 else ''}{max(lost):,}"
        said.append(
            f"{plural(len(lost), 'pair')}: {c.measure} is undefined in {most} of the "
            f"{c.swaps or 0:,} swaps of {'each' if len(lost) > 1 else 'the'} pair; each of these "
            "swaps is counted as at least as extreme as the observed difference"
        )
    held = sum(pair.by_interval for pair in c.pairs)
    if held:
        said.append(
            f"{plural(held, 'pair')}: p is computed from the interval; {TESTS.get(c.test, c.test)} "
            "alone would find a difference, but it finds differences too often where few questions "
            "are answered, few questions differ or a rare outcome weighs much"
        )
    said += c.notes
    return [*said, RULES_ERR] if c.reading is not None and c.reading.detect_refusals else said


def rounded_away(c: CompareResult, digits: int) -> list[str]:
    """That so few decimals show as 0 all differences, or some that were found."""
    there = [(p.difference, p.differs) for p in c.pairs if p.difference]
    gone = [(value, differs) for value, differs in there if round(value, digits) == 0]
    if not gone or (len(gone) < len(there) and not any(differs for _, differs in gone)):
        return []
    which = plural(len(gone), "difference is", "differences are")
    return [f"{which} shown as 0 with {plural(digits, 'digit')}."]
