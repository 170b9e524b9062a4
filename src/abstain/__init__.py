"""Score systems that may decline to answer.

>>> import abstain as ab
>>> ab.measure("c@1")(ab.Counts(right=138, wrong=87, unanswered_empty=59))
0.5868627256496727
"""

from typing import Any as _Any

__version__ = "0.1.0"

_CORE = {
    "abstain.errors": ("AbstainError", "InputError", "UnknownNameError", "UsageError"),
    "abstain.measures": ("Measure", "list_measures", "measure"),
    "abstain.outcomes": (
        *("Counts", "CountsArray", "Decisions", "DecisionsArray", "Outcome", "Policy"),
        *("Undefined", "Why"),
    ),
    "abstain.rankings.rankings": ("Rankings",),
    "abstain.rankings.read": ("read_rankings",),
    "abstain.rankings.score_tables": ("read_scores",),
    "abstain.rankings.scores": ("ScoreMatrix",),
    "abstain.report.result": ("Result", "load"),
    "abstain.runs.evaluation": ("Evaluation",),
    "abstain.reading": ("Reading",),
    "abstain.runs": ("read", "read_counts", "read_judged"),
}
"""Where the public names of the core are defined; those of features stand in `registry`."""


def _homes() -> dict[str, str]:
    """Every public name and the `module:name` that defines it; shortcuts have none."""
    from abstain.registry import FUNCTIONS, RESULTS

    homes = {name: f"{module}:{name}" for module, names in _CORE.items() for name in names}
    results = [result for result, _ in RESULTS.values()]
    return homes | FUNCTIONS | {path.partition(":")[2]: path for path in results}


def __getattr__(name: str) -> _Any:
    """Load a public name only when somebody asks for it: `import abstain` is instant."""
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'abstain' has no attribute '{name}'")
    from abstain.registry import SHORTCUTS, added, part, shortcut

    if name == "__all__":
        return ["__version__", *sorted({*_homes(), *SHORTCUTS})]
    homes = _homes()
    if name in SHORTCUTS or (name not in homes and name in added().shortcuts):
        return shortcut(name)
    path = homes.get(name) or added().functions.get(name)
    if path is None:
        raise AttributeError(f"module 'abstain' has no attribute '{name}'")
    return part(path)


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))
