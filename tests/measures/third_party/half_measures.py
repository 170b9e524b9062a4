"""A measure of another package: as c@1, but a blank earns half the accuracy shown."""

from abstain.measures import Numeric, credit


@credit("half-c@1", formula="c·(1 + u/2)", source="a worked example")
def half_c_at_1(c: Numeric, w: Numeric, u: Numeric) -> Numeric:
    """Accuracy, with each blank credited at half the accuracy shown."""
    return c * (1 + u / 2)
