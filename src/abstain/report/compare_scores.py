"""A comparison of scores by topic in words: what a test asks, whether its assumptions hold."""

from __future__ import annotations

from abstain.analyses.compare.result import CompareResult, Effect
from abstain.errors import plural
from abstain.report.compare_words import units

NULLS = {
    "t": "the mean of the differences is 0",
    "randomisation": "on every {unit} the two runs could be exchanged",
    "bootstrap": "the mean of the differences is 0",
    "wilcoxon": "the differences are symmetric about 0 (not a test of the means)",
    "sign": "both runs are equally likely to be ahead on a {unit} (not a test of the means)",
}
"""What each test would refute."""
FEW = 10
"""With fewer topics than this nobody can see whether differences are near to normal."""
COCHRAN = 25
"""A mean is near enough to normal with more than 25 times the squared skewness (Cochran 1977)."""
DISTINCT = 5
"""With fewer different values than this differences are discrete."""


def of_scores(c: CompareResult) -> list[str]:
    """The null hypothesis, the effect sizes, and what speaks against Student's t."""
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
    """What speaks against Student's t: few topics, skew, differences that are discrete."""
    effects = [pair.effect for pair in c.pairs if pair.effect is not None and pair.p is not None]
    if c.test != "t" or not effects:
        return []
    many = c.questions if c.clusters is None else c.clusters
    unit = c.unit if c.clusters is None else "cluster"
    against = []
    if many < FEW:
        against.append(f"{units(many, unit)} are too few to see whether this is true")
    skewed = [own for own in effects if COCHRAN * (own.skewness or 0) ** 2 > many]
    if skewed:
        most = max(abs(own.skewness or 0) for own in skewed)
        needed = f"{COCHRAN * most**2:,.0f}"
        against.append(
            f"{_which(skewed, effects)} skewed (skewness {'up to ' * (len(skewed) > 1)}{most:.1f}: "
            f"Cochran's rule asks for {needed} {units(2, unit).removeprefix('2 ')})"
        )
    tied = [own for own in effects if 2 * own.ties > c.questions or own.distinct < DISTINCT]
    if tied:
        against.append(
            f"{_which(tied, effects)} mostly ties or have fewer than {DISTINCT} distinct values"
        )
    if not against:
        return [
            "The t-test assumes that means of differences are approximately normal; nothing here "
            f"contradicts this ({units(many, unit)}, skewness up to "
            f"{max(abs(own.skewness or 0) for own in effects):.1f})."
        ]
    return [
        "The t-test assumes that means of differences are approximately normal, but "
        f"{', and '.join(against)}: the randomisation test assumes less."
    ]


def _which(some: list[Effect], every: list[Effect]) -> str:
    if len(every) == 1:
        return "the differences are"
    return f"in {len(some):,} of {plural(len(every), 'pair')} the differences are"
