"""Where rankings should stop."""

from typing import Literal, TypeAlias, get_args

RuleName: TypeAlias = Literal[
    "auto", "k", "threshold", "share", "gap", "surprise", "distribution", "probability", "expected"
]
RULES: tuple[RuleName, ...] = get_args(RuleName)
