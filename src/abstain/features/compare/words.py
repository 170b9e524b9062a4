"""What is said below a comparison of how it was made: tests, intervals, plans, notes."""

from __future__ import annotations

from collections import Counter

from abstain.errors import plural
from abstain.features.compare import result as kinds
from abstain.features.compare.result import CompareResult, p_text, units_text
from abstain.report.view import first_few, sentence
from abstain.stats.intervals import DRAWS, METHODS, RANDOM

SEEN = 60
"""What one topic in 20 decides is seen in 95 % of samples of 60."""
OF_SCORES = METHODS | {
    "delta": "Student's t",
    "hall": "Student's t, widened where scores are skewed",
}


def independent(c: CompareResult) -> tuple[int, str]:
    """How many independent units there are, and what one is called."""
    return (c.questions, c.unit) if c.clusters is None else (c.clusters, "cluster")


def plain_words(c: CompareResult) -> list[str]:
    """What the plain t-test would say where the more careful one says something else."""
    other = [(p, p.plain_p) for p in c.pairs if p.plain_p is not None]
    texts = [
        f"{pair.run} and {pair.against} {'differ' if p <= c.alpha else 'do not differ'} "
        + f"(p = {p_text(p)})".replace("= <", "< ")
        for pair, p in other
    ]
    what = "By the plain paired t-test (student) instead"
    return [f"{what}, {first_few(texts)}."] if other else []


def is_random(c: CompareResult) -> bool:
    """Whether the p-values depend on random draws."""
    exact = all(p.exact for p in c.pairs if p.p is not None)
    return c.test in ("randomisation", "bootstrap") and not exact


def plan_words(c: CompareResult) -> list[str]:
    p, sentences = c.plan, []
    if p is None:
        return []
    if p.visible is not None:
        if c.widest is not None and p.visible > c.widest:
            return ["This test set is too small to show any difference reliably."]
        span = "" if p.visible_range is None else " ({:.3f} to {:.3f})".format(*p.visible_range)
        one = "" if len(c.pairs) == 1 else ", median pair, not corrected"
        power = f"power {100 * p.power_asked:g} %{one}"
        sentences.append(
            f"This test set could detect a difference of {p.visible:.3g}{span} ({power})."
        )
    if p.detect is not None and p.power is not None and p.needed is not None:
        span = "" if p.needed_range is None else " ({:,} to {:,})".format(*p.needed_range)
        has = f"a power of {100 * p.power:.0f} % to find a difference of {p.detect:g}"
        needs = f"a power of {100 * p.power_asked:g} % needs {units_text(p.needed, c.unit)}{span}"
        sentences.append(f"This test set has {has}; {needs}.")
    return sentences


def method_words(c: CompareResult) -> list[str]:
    drawn = f"{c.resamples:,} resamples, seed {c.seed}"
    sentences: list[str] = []
    seen: list[str] = []
    if (method := c.interval_method) is not None:
        by = (OF_SCORES if c.of_scores else METHODS).get(method, method)
        draws = f"{DRAWS:,} draws, seed {c.seed}" if method == "jeffreys" else drawn
        by += f" ({method}; {draws})" if method in RANDOM else f" ({method})"
        if c.interval_method_of_differences:
            by += f"; of differences: {c.interval_method_of_differences}"
        sentences.append(f"Intervals: {100 * c.level:g} %, {by}.")
    if any(p.p is not None for p in c.pairs):
        by = kinds.test_text(c)
        sentences.append(f"Test: {by}{f'; {drawn}' if is_random(c) else ''}.")
        many, unit = independent(c)
        if c.of_scores and c.test in ("t", "student", "bootstrap") and many < SEEN:
            few = units_text(SEEN, unit)
            seen = [f"Fewer than {few} may not show a large difference on 1 in 20."]
    return [*filter(None, [" ".join(sentences)]), *seen]


def note_words(c: CompareResult) -> list[str]:
    odd = [row.no_interval.get(c.measure, "") for row in c.rows]
    odd += [pair.no_interval for pair in c.pairs]
    counted = Counter(filter(None, odd)).most_common(3) if c.interval_method is not None else []
    texts = [f"{plural(n, 'interval')}: {why}" for why, n in counted]
    if unstated := sum(row.unstated for row in c.rows):
        texts.append(f"{plural(unstated, 'answer')} without a confidence")
    if c.biased:
        texts.append(f"{c.measure} is biased upwards, more so with fewer answers: no interval")
    if lost := max(pair.undefined_swaps for pair in c.pairs):
        texts.append(
            f"{c.measure} is undefined in up to {lost:,} of {c.swaps or 0:,} swaps, which count as "
            "at least as extreme as the observed difference"
        )
    if held := sum(pair.by_interval for pair in c.pairs):
        texts.append(f"{plural(held, 'pair')}: p is that of the interval, not of {c.test} alone")
    names = [row.run for row in c.rows]
    return [sentence(note, names) for note in (*texts, *c.notes)]
