"""A campaign in sentences, each computed from its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from abstain.analyses.campaign.overview import ROLE, Overview
from abstain.errors import plural, some_of
from abstain.measures import measure
from abstain.outcomes import Counts
from abstain.report.campaign.headings import gloss
from abstain.report.campaign.tables import tests_passed
from abstain.report.compare_method import how
from abstain.report.compare_words import joined_by, told_apart, verdict
from abstain.report.words import listed
from abstain.stats.standings import above, following, over_runs, same


def sentences(c: Overview) -> Iterator[str]:
    """What a reader should know first, in the order of an overview."""
    yield _what_was_run(c)
    yield _best(c)
    yield from _set_apart(c)
    yield from _separated(c)
    yield from _spread(c)
    yield from _references(c)
    yield from _reading(c)
    yield from _parts(c)
    if not c.result.blind:
        yield from _questions(c)
    yield from _blanks(c)
    yield from _pairs(c)


def _what_was_run(c: Overview) -> str:
    text = plural(len(c.runs), "run")
    if "team" in c.runs_info.columns and (teams := c.runs_info["team"].drop_nulls().n_unique()):
        text += f" of {plural(teams, 'team')}"
    text += f" responded to {plural(c.questions.height, 'question')}"
    if c.result.test_by:
        text += f" in {plural(len(c.slices[c.result.test_by].names), 'reading test')}"
    if c.result.topic_by:
        text += f" on {plural(len(c.slices[c.result.topic_by].names), 'topic')}"
    return text + "."


def _best(c: Overview) -> str:
    i = c.order[0]
    k = c.overall[i]
    if np.isnan(c.scores[i]):
        return f"No run has a {c.measure}: {c.measure.why_undefined(k)}."
    text = (
        f"The best run is {c.runs[i]} with a {c.measure} of {c.scores[i]:.2f} ({k.right:,} right, "
        f"{k.wrong:,} wrong, {k.unanswered:,} blank)"
    )
    level = [j for j in c.order[1:] if same(c.scores[[j]], c.scores[i]).all()]
    if level:
        names = c.runs[level[0]] if len(level) == 1 else f"{len(level)} others"
        text = text.replace("The best run is", "At the top is", 1) + f", level with {names}"
    if len(c.runs) == 1:
        text = text.replace("The best run is", "The only run is", 1)
    if len(c.runs) > 1:
        told = c.result.comparison and told_apart(c.result.comparison, c.runs[i])
        untested = ", but this was not tested for significance"
        text += f", {joined_by(told)} {told}" if told else untested
    rest = c.order[1 + len(level) :]
    if rest and not np.isnan(c.scores[rest[0]]):
        tied = [c.runs[j] for j in rest if same(c.scores[[j]], c.scores[rest[0]]).all()]
        text += f"; {following(tied)} with {c.scores[rest[0]]:.2f}"
    return text + "."


def _set_apart(c: Overview) -> Iterator[str]:
    """Runs that are not ranked, withdrawn or left out."""
    found = c.result.unranked
    for status in dict.fromkeys(own.status for own in found):
        names = [own.name for own in found if own.status == status]
        yield (
            f"{plural(len(names), f'{status} run is', f'{status} runs are')} scored without a rank "
            f"and left out of every average: {_ended(names)}"
        )
    if c.result.withdrawn:
        gone = plural(len(c.result.withdrawn), "run was", "runs were")
        yield f"{gone} withdrawn and not scored: {_ended(c.result.withdrawn)}"
    if c.result.skipped:
        gone = plural(len(c.result.skipped), "run was", "runs were")
        yield (
            f"{gone} left out for {plural(len(c.result.problems), 'problem')}: "
            f"{_ended(c.result.skipped)}"
        )
    for own in c.result.warnings:
        yield f"{own.message[:1].upper()}{own.message[1:]}."


def _ended(names: Sequence[str]) -> str:
    """Some names at the end of a sentence."""
    some = some_of(names)
    return some if some.endswith("…") else f"{some}."


def _separated(c: Overview) -> Iterator[str]:
    if c.result.comparison is not None:
        yield from verdict(c.result.comparison)
        yield from how(c.result.comparison)
    elif len(c.runs) > 1 and not c.result.blind:
        yield "Which runs can be told apart was not tested: `abstain compare --against` tests it."


def _spread(c: Overview) -> Iterator[str]:
    s = over_runs(c.scores)
    lacking = [i for i in c.order if np.isnan(c.scores[i])]
    if len(lacking) == len(c.runs):
        return
    whom = "all runs"
    if lacking:
        whom = f"the {plural(len(c.runs) - len(lacking), 'run')} that {c.measure} is defined for"
        reasons = dict.fromkeys(str(c.measure.why_undefined(c.overall[i])) for i in lacking)
        yield (
            f"{c.measure} is undefined for {plural(len(lacking), 'run')} "
            f"({', '.join(c.runs[i] for i in lacking[:3])}{', …' if lacking[3:] else ''}): "
            f"{', '.join(reasons)}."
        )
    text = f"Over {whom} the mean {c.measure} is {s['mean']:.2f}, the median {s['median']:.2f}"
    if len(c.runs) - len(lacking) > 1:
        text += f", the standard deviation {s['standard deviation']:.2f}"
    yield text + "."


def _references(c: Overview) -> Iterator[str]:
    names = ("random (expected)", "none of the above")
    for name in [n for n in names if n in c.baselines]:
        value = c.measure(c.baselines[name][0])
        if np.isnan(value):
            continue
        beat = int(above(c.scores, value).sum())
        what = "Answering at random" if name.startswith("random") else f"Always answering “{name}”"
        yield f"{what} would give {value:.2f}: {beat} of {plural(len(c.runs), 'run')} beat it."


def _reading(c: Overview) -> Iterator[str]:
    if c.result.test_by is None:
        return
    passed = [own for own in tests_passed(c) if own is not None]
    if len(passed) < len(c.runs):
        return  # a blind phase hides some
    tests = len(c.slices[c.result.test_by].names)
    best = max(passed)
    text = f"A test is passed with a {c.measure} of {c.result.pass_mark:g}: "
    if best == 0:
        yield text + f"no run passed any of the {plural(tests, 'test')}."
        return
    runs = [c.runs[i] for i in c.order if passed[i] == best]
    whom = runs if len(runs) <= 3 else [*runs[:2], f"{len(runs) - 2} others"]
    none = passed.count(0)
    lost = f"{plural(none, 'run')} passed none" if none else "every run passed some"
    yield (
        f"{text}{lost} of the {plural(tests, 'test')}, and {listed(whom)} passed the most ({best})."
    )


def _parts(c: Overview) -> Iterator[str]:
    for attribute, s in c.slices.items():
        if attribute == c.result.test_by or len(s.names) < 2:
            continue
        means = over_runs(c.slice_scores[attribute])["mean"]
        if np.isnan(means).all():
            continue
        high, low = int(np.nanargmax(means)), int(np.nanargmin(means))
        if means[high] == means[low]:
            continue
        yield (
            f"By {attribute}{gloss(attribute, s.names)}, the mean {c.measure} is highest for "
            f"{s.names[high]} ({means[high]:.2f}) and lowest for {s.names[low]} ({means[low]:.2f})."
        )


def _questions(c: Overview) -> Iterator[str]:
    right, _, _ = c.tried
    size = len(right)
    nobody, everybody = int((right == 0).sum()), int((right == len(c.runs)).sum())
    lost = f"{plural(nobody, 'question was', 'questions were')} right in no run "
    lost += f"({100 * nobody / size:.1f} %)"
    yield (
        f"{lost if nobody else 'Every question was right in some run'}, {everybody or 'none'} "
        f"in every run; the median question was right "
        f"in {np.median(right):g} of {plural(len(c.runs), 'run')}."
    )


def _blanks(c: Overview) -> Iterator[str]:
    total = Counts(*(float(x) for x in c.overall.table.sum(axis=0)))
    if not total.unanswered:
        yield "No run left a question blank."
        return
    silent = int((c.overall.unanswered > 0).sum())
    text = (
        f"{plural(silent, 'run')} left questions blank, "
        f"{plural(int(total.unanswered), 'response')} in all "
        f"({100 * total.unanswered / total.n:.1f} %)"
    )
    candidates = total.unanswered_right + total.unanswered_wrong
    if candidates:
        share = 100 * total.unanswered_wrong / candidates
        text += (
            f"; of the {candidates:,.0f} that came with a candidate, {share:.1f} % were rightly "
            "held back"
        )
    yield text + "."
    gain = measure("c@1")(c.overall) - measure("accuracy")(c.overall)
    i = int(np.argmax(np.nan_to_num(gain)))
    if not gain[i] > 0:
        return
    yield (
        f"{c.runs[i]} gained the most from leaving blanks: its c@1 is {gain[i]:.3f} above its "
        "accuracy."
    )


def _pairs(c: Overview) -> Iterator[str]:
    if c.pairs is None:
        return
    t = c.pairs.counts(c.pairs.everything)
    change = "" if t.change is None else f" ({t.change:+.0f} %)"
    yield (
        f"In {plural(t.pairs, 'pair')} of a main and an auxiliary question, the main question "
        f"was answered right {t.main_right:,} times and the auxiliary one {t.auxiliary_right:,} "
        f"times{change}; in {plural(t.better, 'pair')}, more runs got the auxiliary question "
        "right than the main one."
    )
    more = c.pairs.auxiliary_right - c.pairs.main_right
    mean, which = abs(more.mean()), "fewer" if more.mean() < 0 else "more"
    yield (
        f"On average, {mean:.2f} {which} runs get the auxiliary question right than its main "
        f"question ({100 * mean / len(c.runs):.2f} % of the {plural(len(c.runs), 'run')})."
    )
    yield from _increase(c)


def _increase(c: Overview) -> Iterator[str]:
    """The mean score on auxiliary questions against that on main ones."""
    if ROLE not in c.slices or not {"main", "auxiliary"} <= {*c.slices[ROLE].names}:
        return
    means = dict(zip(c.slices[ROLE].names, over_runs(c.slice_scores[ROLE])["mean"], strict=True))
    change = means["auxiliary"] - means["main"]
    if not np.isnan(change):
        yield (
            f"Over all runs the mean {c.measure} is {means['main']:.2f} on main questions and "
            f"{means['auxiliary']:.2f} on auxiliary ones, a change of {change:+.2f}."
        )
