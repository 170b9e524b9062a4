"""Advice on measures: which needs least here, and how many questions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from abstain.analyses.meta.parts import MANY
from abstain.analyses.meta.result import MetaResult, Need, Sensitivity
from abstain.errors import plural
from abstain.report.meta_words import percent


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
            said.append(f"{row.measure} requires no difference that could be told: {row.reason}.")
    needs: dict[float, list[Need]] = {}
    for need in result.questions_needed:
        needs.setdefault(need.difference, []).append(need)
    said += [_needed(*item) for item in needs.items()]
    sizes = [point.questions for point in result.required_by_questions]
    tried = max([*sizes, *(row.size for row in rows)], default=0)
    if any(need.questions > tried for need in result.questions_needed):
        said.append(
            f"Beyond the {tried:,} that were tried, the required difference is taken to fall with "
            "the root of the number of questions."
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
    return f"A difference of {difference:g} would need {about}{_listed(told)}."


def _least(known: Sequence[Sensitivity], level: float) -> str:
    """Which measure needs least; on different scales as a share of the highest score.

    Where the highest score is not above 0 there is no share, and nothing to compare.
    """
    one_scale = len({row.width for row in known}) == 1
    amounts = [(row.required if one_scale else row.relative) for row in known]
    compared = [a for a in amounts if a is not None]
    if not compared:
        told = _listed([f"{row.measure} needs {row.required:g}" for row in known])
        return f"On {plural(known[0].size, 'question')} {told}, on scales that cannot be compared."
    best = [
        row
        for row, amount in zip(known, amounts, strict=True)
        if amount is not None and math.isclose(amount, min(compared), rel_tol=1e-9)
    ]
    names = _listed([row.measure for row in best])
    needs = "needs" if len(best) == 1 else "need"
    size = plural(best[0].size, "question")
    share = _listed(list(dict.fromkeys(f"{100 * (row.sensitivity or 0):.0f} %" for row in best)))
    needed = _listed(list(dict.fromkeys(_amount(row) for row in best)))
    which = "the smallest difference" if len(compared) > 1 else "this difference"
    text = (
        f"On {size} {names} {needs} {which}"
        f"{'' if one_scale or len(compared) < 2 else ', as a share of the highest score'}: "
        f"{needed} between two runs is "
        f"reversed on other questions at most {percent(1 - level)} times in 100, and "
        f"{share} of the comparisons reach it"
    )
    others = [row for row in known if row not in best]
    if others:
        text += "; " + _listed([f"{row.measure} needs {row.required:g}" for row in others])
    apart = [row.measure for row, amount in zip(known, amounts, strict=True) if amount is None]
    if apart:
        text += f" ({_listed(apart)} cannot be compared: no score is above 0)"
    return text + "."


def _amount(row: Sensitivity) -> str:
    return f"{row.required:g} or more" if row.required else "any difference"


def _shares_of_range(known: Sequence[Sensitivity], result: MetaResult) -> list[str]:
    """A measure with a wider range needs larger differences for no other reason."""
    spans = result.spans
    if result.given_scores or len({spans[row.measure] for row in known}) < 2:
        return []
    wide = [f"{row.measure} {(row.required or 0) / spans[row.measure]:.3g}" for row in known]
    return [f"Their ranges differ; as a share of its range each needs: {', '.join(wide)}."]


def _listed(items: Sequence[str]) -> str:
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + " and " + items[-1]
