"""A comparison of scores by topic in words: what a test asks, and what it cannot know."""

from __future__ import annotations

from abstain.analyses.compare.result import CompareResult
from abstain.analyses.compare.scores import OF_MEANS
from abstain.report.compare_words import units

NULLS = {
    "t": "the mean of the differences is 0",
    "randomisation": (
        "on every {unit} the two runs could be exchanged (not a test of the means alone)"
    ),
    "bootstrap": "the mean of the differences is 0",
    "wilcoxon": "the differences are symmetric about 0 (not a test of the means)",
    "sign": "both runs are equally likely to be ahead on a {unit} (not a test of the means)",
}
"""What each test would refute."""
RARE, SEEN = 20, 60
"""What one topic in 20 decides is seen in 95 % of samples of 60."""


def of_scores(c: CompareResult) -> list[str]:
    """The null hypothesis, the effect sizes, and what a test of the means cannot know."""
    if not c.of_scores:
        return []
    said = []
    if c.is_tested and c.test in NULLS:
        said.append(f"Null hypothesis: {NULLS[c.test].format(unit=c.unit)}.")
    said.append(
        f"d is the mean difference over the standard deviation of the differences by {c.unit}, "
        f"W/T/L the {units(2, c.unit).removeprefix('2 ')} won, tied and lost."
    )
    return [" ".join(said), *_assumptions(c)]


def _assumptions(c: CompareResult) -> list[str]:
    """What a test of the means takes into account, and what it cannot know."""
    tested = [pair.effect for pair in c.pairs if pair.effect is not None and pair.p is not None]
    skewed = [abs(own.skewness) for own in tested if own.skewness is not None]
    if c.test not in OF_MEANS or not skewed:
        return []
    up_to = "up to " if len(skewed) > 1 else ""
    said = f"p takes the skewness of the differences into account ({up_to}{max(skewed):.1f})."
    many = c.questions if c.clusters is None else c.clusters
    if many < SEEN:
        unit = c.unit if c.clusters is None else "cluster"
        said += (
            f" {units(many, unit)} may not show a rare large difference: if 1 {unit} in {RARE} has "
            f"one, it takes {units(SEEN, unit)} to see at least one such {unit} with a chance of "
            "95 %."
        )
    return [said]
