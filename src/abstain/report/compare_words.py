"""A comparison in words: which differences are real, where they come from, how it was found."""

from __future__ import annotations

import math

import numpy as np

from abstain.analyses.compare.pairs import least_units
from abstain.analyses.compare.result import MOST_TRIALS, TESTS, Comparison
from abstain.analyses.compare.transitions import Origin
from abstain.errors import plural
from abstain.measures import Proportion, measure
from abstain.outcomes import Undefined
from abstain.report.scores import policy_sentence, sentence
from abstain.report.undefined import first_few, undefined_sentences
from abstain.stats import intervals
from abstain.stats.intervals import METHODS, OF_ONE_PROPORTION, RANDOM
from abstain.stats.multiplicity import CORRECTIONS
from abstain.stats.swaps import EXACT_UNITS

MOST_QUESTIONS = 5
MOST_ODD = 3
RIGHT = Proportion("R")
UNTESTED = "Where a score is undefined there is no difference to test."


def sentences(c: Comparison) -> list[str]:
    """What follows, in words."""
    said = [_what(c)]
    said += _undefined(c)
    said += verdict(c)
    said += _origin(c)
    said += _bounds(c)
    said += _corrected(c)
    said += _plan(c)
    said += how(c)
    said += _odd_intervals(c)
    said += [sentence(note, [row.run for row in c.rows]) for note in c.notes]
    if c.policy is not None:
        said.append(policy_sentence(c.policy, c.touched))
    return said


def verdict(c: Comparison) -> list[str]:
    """Which differences are real."""
    of_pairs = _two if len(c.rows) == 2 else _many
    return [*(_reference if c.settings.reference else of_pairs)(c), *_resolution(c)]


def _resolution(c: Comparison) -> list[str]:
    """What no test could have found: so few clusters, questions or trials have no smaller p."""
    tested = sum(not math.isnan(p.adjusted) for p in c.pairs)
    many = c.questions if c.clusters is None else c.clusters
    if not tested or many < 2:
        return []
    floor, source, by_trials = _smallest_p(c, many)
    enough_trials = 10 ** math.ceil(math.log10(2 * tested / c.alpha) - 1e-9)
    trials = f"{enough_trials:,} trials"
    if enough_trials > MOST_TRIALS:
        trials = "randomisation tests" if c.settings.test == "bootstrap" else "a lower level"
    times = tested if c.settings.correction == "holm" and not c.settings.reference else 1
    level = f"at the {100 * c.alpha:g} % level"
    if floor > c.alpha:
        enough = f"{least_units(c.alpha)} {source.split()[-1]}"
        cure = f"take {trials}" if by_trials else f"that takes {enough} or more"
        return [
            f"With {source} no p is below {_short(floor)}: no difference shows {level}; {cure}."
        ]
    reach = floor * times
    if times == 1 or 10 * reach <= c.alpha or (reach <= c.alpha and c.clusters is None):
        return []
    text = (
        f"With {source} no p is below {_short(floor)}, which Holm's correction for {tested:,} "
        f"pairs makes {_short(min(1.0, reach))}: "
    )
    text += (
        f"no pair can be told apart {level}"
        if reach > c.alpha
        else "only runs that are ahead in nearly every cluster can be told apart"
    )
    last = trials if by_trials else "fewer runs"
    return [f"{text}. The correction bh, a comparison with one run or {last} ask for less."]


def _smallest_p(c: Comparison, many: int) -> tuple[float, str, bool]:
    """The smallest p that there can be, where it comes from, and whether trials are what limits."""
    s = c.settings
    drawn = s.reference is not None and many > EXACT_UNITS
    drawn |= s.test == "randomisation" and not all(p.exact for p in c.pairs)
    trial = (2 if s.test == "bootstrap" else 1) / (s.trials + 1)
    signs = 2.0 ** (1 - min(many, 1000))
    if s.test == "bootstrap" or (drawn and trial > signs):
        return trial, f"{s.trials:,} trials", True
    return signs, units(many, c.unit if c.clusters is None else "cluster"), False


def _short(p: float) -> str:
    """A p-value of any size in few digits, in three where that is all of it.

    >>> _short(2.0**-15), _short(0.25), _short(0.125)
    ('0.00003', '0.25', '0.125')
    """
    if float(f"{p:.3g}") == p:
        return np.format_float_positional(p, trim="-")
    return np.format_float_positional(
        p, precision=1 if p < 0.001 else 2, fractional=False, trim="-"
    )


def _what(c: Comparison) -> str:
    text = f"{plural(len(c.rows), 'run')}, paired by {c.unit} on "
    if c.questions == c.in_all:
        text += units(c.questions, c.unit)
    else:
        text += (
            f"the {c.questions:,} of {units(c.in_all, c.unit)} that all of them have "
            f"({first_few(f'{run} lacks {gone:,}' for run, gone in c.absent.items())})"
        )
    if c.clusters is not None:
        text += f" in {plural(c.clusters, 'cluster')} ({c.settings.cluster})"
    many, unit = (c.questions, c.unit) if c.clusters is None else (c.clusters, "cluster")
    if many < 2:
        text += f": one {unit} shows no spread, so there is no interval"
        text += " and p is 1" if c.is_tested else " and no test"
    return text + "."


def units(count: int, unit: str) -> str:
    """A count of questions, topics or queries."""
    return plural(count, unit, "queries" if unit == "query" else None)


def _undefined(c: Comparison) -> list[str]:
    name = str(c.measure)
    lacking = ((row.run, row.score) for row in c.rows)
    return undefined_sentences(
        (run, {name: score.reason}) for run, score in lacking if isinstance(score, Undefined)
    )


def _two(c: Comparison) -> list[str]:
    (pair,) = c.pairs
    if math.isnan(pair.difference):
        return [UNTESTED]
    if c.origin is not None and np.trace(c.origin.transitions) == c.questions and not pair.p < 1:
        alike = f"{pair.run} and {pair.against} have the same outcome on every question"
        return [f"{alike}: there is no difference to be seen."]
    size = f"{abs(pair.difference):.4f}"
    test = f"p = {p_text(pair.p)}".replace("= <", "< ")
    if pair.difference == 0:
        return [f"{pair.run} and {pair.against} have the same {c.measure} ({test})."]
    ahead = "ahead of" if (pair.difference > 0) == c.higher_is_better else "behind"
    text = f"{pair.run} is {ahead} {pair.against} by {size}"
    text += "" if c.higher_is_better else ", lower being better"
    if _of_rightness(c):
        found = "a difference" if c.differs(pair) else "no difference"
        return [
            f"{text}. McNemar's test does not look at {c.measure} but at who is right: {found} "
            f"there at the {100 * c.alpha:g} % level ({test})."
        ]
    text += f" ({test}): "
    if c.differs(pair):
        return [text + f"a difference at the {100 * c.alpha:g} % level."]
    return [text + f"not a difference at the {100 * c.alpha:g} % level, chance could have made it."]


def _of_rightness(c: Comparison) -> bool:
    """Whether p is of right against not right while the scores are of something else."""
    return c.settings.test == "mcnemar" and measure(c.measure).definition.proportion != RIGHT


def _many(c: Comparison) -> list[str]:
    tested = [p for p in c.pairs if not math.isnan(p.adjusted)]
    if not tested:
        return [UNTESTED]
    found = sum(c.differs(p) for p in tested)
    said = [
        f"Of {plural(len(tested), 'pair')}, {plural(found, 'differs', 'differ')} at the "
        f"{100 * c.alpha:g} % level ({CORRECTIONS[c.settings.correction]})."
    ]
    if _of_rightness(c):
        said.append(f"McNemar's test does not look at {c.measure} but at who is right.")
    separated = c.separated()
    if separated:
        runs = first_few(separated, most=5)
        verb = "is" if len(separated) == 1 else "are"
        said.append(f"{runs} {verb} separated from all others.")
    else:
        said.append("No run is separated from all others.")
    near = [p for p in c.neighbours() if not math.isnan(p.adjusted)]
    alike = sum(not c.differs(p) for p in near)
    if near:
        most = "most neighbours" if 2 * alike > len(near) else "some neighbours"
        head = "All neighbours differ" if not alike else f"But {most} are not told apart"
        if alike and not separated:
            head = head.removeprefix("But ").capitalize()
        said.append(
            f"{head}: {alike} of {plural(len(near), 'pair')} next to each other in the ranking "
            "could have come by chance."
        )
    if c.grouped:
        said.append("Runs that share a letter (group) cannot be told apart.")
    elif sum(not isinstance(row.score, Undefined) for row in c.rows) > 2:
        said.append("There are too many groups for letters.")
    same = [p for p in c.pairs if p.error == 0 and p.difference == 0]
    if same:
        pairs = first_few(f"{p.run} and {p.against}" for p in same)
        said.append(f"Alike throughout, as far as {c.measure} can tell: {pairs}.")
    return said


def _reference(c: Comparison) -> list[str]:
    better = [p.run for p in c.pairs if c.differs(p) and p.difference > 0]
    worse = [p.run for p in c.pairs if c.differs(p) and p.difference < 0]
    tested = sum(not math.isnan(p.adjusted) for p in c.pairs)
    if not tested:
        return [UNTESTED]
    rest = tested - len(better) - len(worse)
    said = []
    for runs, word in ((better, "above"), (worse, "below")):
        if runs:
            verb = "is" if len(runs) == 1 else "are"
            lower = "" if c.higher_is_better else ", lower being better"
            said.append(f"{first_few(runs, most=5)} {verb} {word} {c.settings.reference}{lower}.")
    who = f"{plural(rest, 'run')} cannot" if rest else "There is no run that cannot"
    said.append(
        f"{who} be told apart from {c.settings.reference} "
        f"(max-T over {plural(tested, 'comparison')}, {100 * c.alpha:g} %)."
    )
    return said


def _origin(c: Comparison) -> list[str]:
    o = c.origin
    if o is None or math.isnan(o.knowing) or not np.abs(o.contributions).any():
        return []
    pair = c.pairs[0]
    text = (
        f"Of the difference of {_signed(pair.difference)}, {_signed(o.knowing)} is knowing more "
        f"or less and {_signed(o.abstaining)} is when to abstain"
    )
    if o.without_candidate:
        moves = plural(o.without_candidate, "move")
        verb = "counts" if o.without_candidate == 1 else "count"
        text += f" ({moves} from or to a blank without a candidate {verb} as abstaining)"
    said = [text + "."]
    moved = np.argsort(-np.abs(o.contributions), kind="stable")[:MOST_QUESTIONS]
    alike = np.abs(np.abs(o.contributions) - np.abs(o.contributions[moved[0]])) < 1e-12
    if alike.sum() <= MOST_QUESTIONS:
        listed = [
            f"{c.question_ids[i]} ({_signed(float(o.contributions[i]))})"
            for i in moved
            if abs(o.contributions[i]) > 0
        ]
        said.append(f"The questions that carry it: {', '.join(listed)}.")
    said += [_reversal(o, attribute, pair.difference) for attribute in o.reversals]
    return said


def _reversal(o: Origin, attribute: str, difference: float) -> str:
    own = [s for s in o.slices if s.attribute == attribute]
    parts = [s for s in own if abs(s.difference) > 1e-12]
    listed = first_few((f"{s.name} {_signed(s.difference)}" for s in parts), most=4)
    even = [s.name for s in own if abs(s.difference) <= 1e-12]
    undefined = [s.name for s in own if math.isnan(s.difference)]
    every = "every part that shows a difference" if even or undefined else "every part"
    listed += f"; none in {first_few(even)}" if even else ""
    listed += f"; undefined in {first_few(undefined)}" if undefined else ""
    return (
        f"Simpson's reversal by {attribute}: {_signed(difference)} over all questions, but the "
        f"other way in {every} ({listed})."
    )


def _signed(value: float) -> str:
    return f"{round(value, 4) + 0.0:+.4f}".replace("-", "−")


def _bounds(c: Comparison) -> list[str]:
    unknown = [row for row in c.rows if row.unknown and row.bounds is not None]
    if not unknown:
        return []
    total = sum(row.unknown for row in unknown)
    said = [
        f"{plural(total, 'response is', 'responses are')} unknown (unparseable, failed or missing):"
        f" worst and best are the scores over all {plural(c.in_all, 'question')} and all ways they "
        "could have gone"
        + ("." if all(row.all_ways for row in unknown) else ", as far as an even sample shows.")
    ]
    if len(c.rows) == 2 and all(row.bounds is not None for row in c.rows):
        first, second = c.rows
        assert first.bounds is not None
        assert second.bounds is not None
        apart = first.bounds[0] - second.bounds[1]
        if not c.higher_is_better:
            apart = second.bounds[0] - first.bounds[1]
        if apart > 0:
            said.append(f"{first.run} stays ahead of {second.run} whatever they were.")
        else:
            said.append("They could turn the order of the two runs.")
    return said


def _corrected(c: Comparison) -> list[str]:
    if not any(row.corrected is not None for row in c.rows):
        return []
    said = [
        "The corrected scores undo the judge's errors by its rates on a sample of "
        f"{plural(c.judge_sample, 'checked response')}; their intervals include the uncertainty of "
        "those rates."
    ]
    if c.never_checked:
        said.append(
            f"No response that is truly {' or '.join(c.never_checked)} was checked: there the "
            "judge is taken at its word."
        )
    return said


def _plan(c: Comparison) -> list[str]:
    if c.plan is None:
        return []
    p = c.plan
    if p.visible is not None and c.widest is not None and p.visible > c.widest:
        return ["This test set is too small to show any difference reliably."]
    whose = "at the disagreement seen" if len(c.pairs) == 1 else "at the median disagreement"
    said = []
    if p.visible is not None:
        size = f"{p.visible:.3f}" if p.visible >= 0.0005 else "less than 0.001"
        said.append(
            f"This test set shows a difference of {size} with a power of "
            f"{100 * p.power_asked:g} % ({whose}, one comparison)."
        )
    if p.detect is not None:
        assert p.power is not None
        assert p.needed is not None
        said.append(
            f"A difference of {p.detect:g} would be found with a power of {100 * p.power:.0f} %; "
            f"{100 * p.power_asked:g} % takes {units(p.needed, c.unit)}."
        )
    return said


def how(c: Comparison) -> list[str]:
    """How intervals and p-values were made, where there are some."""
    said = [_intervals(c)] if c.has_intervals else []
    said += [_test(c)] if c.is_tested else []
    return [" ".join(said)] if said else []


def _intervals(c: Comparison) -> str:
    s = c.settings
    text = f"Intervals: {100 * s.level:g} %, {METHODS[s.method]} ({_by(c)})"
    if s.method in OF_ONE_PROPORTION:
        return f"{text}; of differences: logit."
    if c.difference_method not in (None, s.method):
        return f"{text}; of differences: the influence of each answer on the logit scale (logit)."
    return f"{text}."


def _test(c: Comparison) -> str:
    s = c.settings
    trials = f"{s.trials:,} trials, seed {s.seed}"
    text = f"Test: {TESTS[s.test]}"
    if c.studentised and s.test == "randomisation":
        text += " of the difference over its standard error"
    drawn = [p for p in c.pairs if not p.exact] if s.test != "wilcoxon" else []
    exact = sum(p.exact for p in c.pairs)
    if exact and s.test != "mcnemar":
        text += ", exact" if exact == len(c.pairs) else f", exact for {plural(exact, 'pair')}"
    swapped = c.questions if c.clusters is None else c.clusters
    text += f"; {trials}" if drawn else ""
    if s.reference and (s.test != "randomisation" or (swapped > EXACT_UNITS and not drawn)):
        text += "; max-T by randomisation"
        text += f", {trials}" if swapped > EXACT_UNITS else ""
    return text + "."


def _by(c: Comparison) -> str:
    """A method of intervals, and how often it drew at random."""
    s = c.settings
    if s.method not in RANDOM:
        return s.method
    drawn = f"{intervals.DRAWS:,} draws" if s.method == "jeffreys" else f"{s.trials:,} trials"
    return f"{s.method}; {drawn}, seed {s.seed}"


def _odd_intervals(c: Comparison) -> list[str]:
    """What is to be known of intervals that are there, and of some that are not."""
    scored = [(row.score, row.interval) for row in c.rows]
    scored += [(pair.difference, pair.interval) for pair in c.pairs]
    odd = [span.why_not for value, span in scored if span.why_not and not math.isnan(value)]
    if not c.has_intervals:
        return []
    times = {why: odd.count(why) for why in dict.fromkeys(odd)}
    return [f"{plural(n, 'interval')}: {why}." for why, n in list(times.items())[:MOST_ODD]]


def rounded_away(c: Comparison, digits: int) -> list[str]:
    """That so few decimals show as 0 all differences, or some that were found."""
    there = [p for p in c.pairs if abs(p.difference) > 0]
    gone = [p for p in there if round(p.difference, digits) == 0]
    if not gone or (len(gone) < len(there) and not any(c.differs(p) for p in gone)):
        return []
    which = plural(len(gone), "difference is", "differences are")
    return [f"{which} shown as 0 with {plural(digits, 'digit')}."]


def p_text(p: float) -> str:
    """A p-value as people read it.

    >>> p_text(0.04211), p_text(1e-9)
    ('0.0421', '<0.0001')
    """
    if math.isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"
