"""What is said below a comparison: verdicts, where differences come from, how it was made."""

from collections import Counter
from collections.abc import Callable
from itertools import chain

from abstain.errors import plural
from abstain.features.compare.result import CompareResult, Pair, units_text
from abstain.report import view
from abstain.stats.hypotheses import CORRECTIONS
from abstain.stats.intervals import DRAWS, METHODS, RANDOM
from abstain.stats.planning import least_units

TESTS = {
    "randomisation": "paired randomisation",
    "bootstrap": "paired bootstrap",
    "mcnemar": "McNemar's exact test of right against not right",
    "t": "paired t-test, corrected for skewness (Hall 1992)",
    "student": "paired t-test (Student's)",
    "wilcoxon": "Wilcoxon's signed-rank test (of symmetric differences, not of means)",
    "sign": "exact sign test (of being ahead, not of means)",
}
MOST_QUESTIONS = 5
SAME = 1e-12
FEW_PAIRS = 3
SEEN = 60
"""What one topic in 20 decides is seen in 95 % of samples of 60."""
OF_SCORES = METHODS | {
    "delta": "Student's t",
    "hall": "Student's t, widened where scores are skewed",
}
OF_DECISIONS = {
    "knowing": "comes from right instead of wrong answers",
    "answering": "from answering or declining what can be answered",
    "refusing": "from what was done where no answer was due",
}


def sentences(c: CompareResult) -> list[str]:
    says = (compared, verdict, judge_words, plain_words, origin_words, unknown_words)
    every = (of_each(c, say) for say in (*says, plan_words, method_words, note_words))
    return [*chain.from_iterable(every), *view.policy_words(c.policy, c.touched)]


def heading(c: CompareResult, part: CompareResult) -> str:
    differ = len({each.questions for each in c.parts}) > 1
    return part.measure.removeprefix("mean ") + (f" ({part.questions:,})" if differ else "")


def of_each(c: CompareResult, say: Callable[[CompareResult], list[str]]) -> list[str]:
    whose: dict[str, list[str]] = {}
    for part in c.parts:
        for text in say(part):
            whose.setdefault(text, []).append(heading(c, part))
    every = len(c.parts)
    return [
        text if len(names) == every else f"{view.listed(names)}: {text}"
        for text, names in whose.items()
    ]


def compared(c: CompareResult) -> list[str]:
    on = units_text(c.questions_in_all, c.unit)
    if c.questions < c.questions_in_all:
        why = [f"{run} lacks {gone:,}" for run, gone in c.absent.items()]
        name = c.measure.removeprefix("mean ")
        undefined = [f"{name} is undefined for {run} on {n:,}" for run, n in c.undefined_on.items()]
        everywhere = len(undefined) == len(c.rows) and len(set(c.undefined_on.values())) == 1
        alike = [f"{name} is undefined on {n:,}" for n in set(c.undefined_on.values())]
        why += alike if everywhere else undefined
        on = f"the {c.questions:,} of {on} that all of them have ({view.first_few(why)})"
    if c.clusters is not None:
        on += f" in {plural(c.clusters, 'cluster')} ({c.cluster})"
    text = f"{plural(len(c.rows), 'run')}, paired by {c.unit} on {on}."
    return [text, *view.undefined_sentences((row.run, row.undefined) for row in c.rows)]


def _independent(c: CompareResult) -> tuple[int, str]:
    return (c.questions, c.unit) if c.clusters is None else (c.clusters, "cluster")


def _at_level(c: CompareResult) -> str:
    return f"at the {100 * c.alpha:g} % level"


def verdict(c: CompareResult) -> list[str]:
    tested = [p for p in c.pairs if p.differs is not None]
    sentences = []
    if untested := [p.no_test for p in c.pairs if p.no_test]:
        count = plural(len(untested), "pair has", "pairs have")
        sentences.append(f"{count} no verdict: {view.first_few(untested)}.")
    if not tested:
        return sentences or ["Where a score is undefined there is no difference to test."]
    alone = c.against is None and len(c.rows) == 2
    return [*([_two(c)] if alone else _several(c, tested)), *sentences, *_floor(c, len(tested))]


def _two(c: CompareResult) -> str:
    (pair,) = c.pairs
    corrected = "corrected " * (pair.p_adjusted != pair.p)
    p = f"{corrected}p = {view.p_text(pair.p_adjusted)}".replace("= <", "< ")
    difference = pair.difference or 0.0
    if difference == 0:
        return f"{pair.run} and {pair.against} have the same {c.measure} ({p})."
    ahead = "ahead of" if (difference > 0) == c.higher_is_better else "behind"
    kind = f"{'' if pair.differs else 'not '}a significant difference"
    kind += " in right answers" if c.test == "mcnemar" else ""
    by = f"{abs(difference):.4f} ({p})"
    return f"{pair.run} is {ahead} {pair.against} by {by}: {kind} {_at_level(c)}."


def _several(c: CompareResult, tested: list[Pair]) -> list[str]:
    differ = [p for p in tested if p.differs]
    sentences = [
        f"Of {plural(len(tested), 'pair')}, {plural(len(differ), 'differs', 'differ')} "
        f"{_at_level(c)} ({corrected_text(c)})."
    ]
    groups = {"Separated from all others": c.separated()}
    if c.against:
        above = [p.run for p in differ if (p.difference or 0) > 0]
        below = [p.run for p in differ if (p.difference or 0) < 0]
        groups = {f"Above {c.against}": above, f"Below {c.against}": below}
    sentences += [
        f"{what}: {view.first_few(runs, most=5)}." for what, runs in groups.items() if runs
    ]
    if c.grouped:
        sentences.append("Runs that share a letter (group) cannot be told apart.")
    return sentences


def _floor(c: CompareResult, tested: int) -> list[str]:
    many, unit = _independent(c)
    times = tested * (c.together if c.family == "all" else 1)
    times = times if c.correction in ("holm", "bonferroni") else 1
    floor, source = 2.0 ** (1 - min(many, 1000)), units_text(many, unit)
    cure = f"at least {units_text(least_units(c.alpha / times), unit)} are needed"
    by_resamples = (2 if c.test == "bootstrap" else 1) / (c.resamples + 1)
    if _is_random(c) and by_resamples > floor:
        floor, source, cure = by_resamples, f"{c.resamples:,} resamples", "use more resamples"
    if c.test in ("t", "student") or floor * times <= (c.alpha if times == 1 else c.alpha / 2):
        return []
    after = f" ({min(1.0, floor * times):.3g} after {c.correction.title()}'s correction)"
    after *= times > 1
    none = f": no difference can be significant {_at_level(c)}; {cure}"
    return [f"With {source} no p is below {floor:.3g}{after}{none * (floor * times > c.alpha)}."]


def _is_random(c: CompareResult) -> bool:
    exact = all(p.exact for p in c.pairs if p.p is not None)
    return c.test in ("randomisation", "bootstrap") and not exact


def distinct_from(c: CompareResult, run: str) -> str:
    verdicts = [p.differs for p in c.pairs if run in (p.run, p.against) and p.differs is not None]
    if not verdicts:
        return ""
    return f", told apart from {sum(verdicts)} of {plural(len(verdicts), 'other')} {_at_level(c)}"


def plain_words(c: CompareResult) -> list[str]:
    texts = [
        f"{pair.run} and {pair.against} {'differ' if p <= c.alpha else 'do not differ'} "
        + f"(p = {view.p_text(p)})".replace("= <", "< ")
        for pair in c.pairs
        if (p := pair.plain_p) is not None
    ]
    return (
        [f"By the plain paired t-test (student) instead, {view.first_few(texts)}."] if texts else []
    )


def origin_words(c: CompareResult) -> list[str]:
    o, difference = c.origin, signed(c.pairs[0].difference)
    if o is None or not o.contributions:
        return []
    knowing = f"{signed(o.knowing)} comes from knowing more or fewer answers"
    abstaining = f"{signed(o.abstaining)} from the choice of when to abstain"
    sentences = [f"Of the difference of {difference}, {knowing} and {abstaining}."]
    if o.decisions:
        parts = [f"{signed(o.decisions[name])} {words}" for name, words in OF_DECISIONS.items()]
        sentences = [f"Of the difference of {difference}, {view.listed(parts)}."]
    elif o.knowing is None:
        blanks = plural(o.without_candidate, "blank has", "blanks have")
        sentences = [f"{blanks} no candidate (column candidate) to tell knowing from abstaining."]
    first = list(o.contributions.items())[: MOST_QUESTIONS + 1]
    if len(first) <= MOST_QUESTIONS or abs(first[0][1]) - abs(first[-1][1]) > SAME:
        names = ", ".join(f"{name} ({signed(value)})" for name, value in first[:MOST_QUESTIONS])
        sentences.append(f"The questions that contribute most: {names}.")
    return sentences + [
        f"Simpson's reversal by {attribute}: the other way in every slice that shows a difference."
        for attribute in o.reversals
    ]


def signed(value: float | None) -> str:
    return f"{round(value or 0.0, 4) + 0.0:+.4f}".replace("-", "−")


def unknown_words(c: CompareResult) -> list[str]:
    total = sum(row.unknown for row in c.rows)
    responses = plural(total, "response is", "responses are")
    text = f"{responses} unknown (unparseable, failed or missing)"
    if not total or not all(row.bounds for row in c.rows):
        return [f"{text}."] if total else []
    return [f"{text}: worst and best bound the score over all their outcomes."]


def judge_words(c: CompareResult) -> list[str]:
    if not c.judge_sample:
        return []
    checked = plural(c.judge_sample, "checked response")
    drawn = "at random" if c.judge_drawn == "random" else f"by {c.judge_drawn}"
    text = f"Corrected scores remove the judge's errors, estimated from {checked} (drawn {drawn})."
    if c.never_checked:
        text += f" Never checked, so taken as right: {', '.join(c.never_checked)}."
    sentences = [f"{text} Differences and their p are as the judge graded, not corrected."]
    judged = {(pair.run, pair.against): pair.difference or 0.0 for pair in c.pairs}
    turned = [o for o in c.corrected if (o.difference or 0.0) * judged[o.run, o.against] < 0]
    for one in (c.corrected if len(c.corrected) <= FEW_PAIRS else turned)[:FEW_PAIRS]:
        low, high = map(view.score_text, one.interval)
        ahead = one.run if judged[one.run, one.against] > 0 else one.against
        sentences.append(
            f"Corrected, {one.run} − {one.against} is {view.score_text(one.difference)} "
            f"({100 * c.level:g} % interval {low} to {high})"
            f"{f'; the judge puts {ahead} ahead' if one in turned else ''}."
        )
    return sentences


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
        by = test_text(c)
        sentences.append(f"Test: {by}{f'; {drawn}' if _is_random(c) else ''}.")
        many, unit = _independent(c)
        if c.of_scores and c.test in ("t", "student", "bootstrap") and many < SEEN:
            few = units_text(SEEN, unit)
            seen = [f"Fewer than {few} may not show a large difference on 1 in 20."]
    return [*filter(None, [" ".join(sentences)]), *seen]


def test_text(c: CompareResult) -> str:
    test = TESTS.get(c.test, c.test)
    if c.test == "randomisation":
        test += " (not of means alone)" if c.of_scores else ""
        test += " of the studentised difference" if c.studentised else ""
    exact = c.test in ("randomisation", "wilcoxon") and all(p.exact for p in c.pairs if p.p)
    return test + (", exact" if exact else "")


def corrected_text(c: CompareResult) -> str:
    over = {"all": " over all measures", "measure": " for each measure alone"}[c.family]
    text = CORRECTIONS.get(c.correction, c.correction)
    return text + (over if c.together > 1 and c.correction != "none" else "")


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
    return [view.sentence(note, names) for note in (*texts, *c.notes)]
