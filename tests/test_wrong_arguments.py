"""Arguments that make no sense are refused in one line from Python too; errors travel."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

import abstain as ab
from abstain.errors import Place, option
from abstain.measures import definitions

GOLD = pl.DataFrame({"question": ["q1", "q2"], "correct": ["A", "B"], "topic": ["x", "y"]})
RUN = pl.DataFrame({"question": ["q1", "q2"], "answer": ["A", ""], "confidence": [0.5, 0.6]})
RUNS = {"a": RUN, "b": RUN.with_columns(answer=pl.lit("A"))}

WRONG = {
    "ab.measure(3)": "'3' is not a measure's name",
    "ab.read(GOLD, 3)": "expected a path or a dataframe",
    "ab.read(GOLD, RUN, policy=3)": "a policy maps kinds of blanks to effects",
    "runs.compare(level=2)": "a level lies between 0 and 1",
    "runs.score('c@2')": "nearest",
    "runs.only(runs='c')": "there is no run 'c'",
    "runs.with_policy(3)": "a policy maps",
}


@pytest.mark.parametrize("call", WRONG)
def test_what_makes_no_sense_is_refused_in_one_line(call: str) -> None:
    runs = ab.read(GOLD, RUNS)
    lists = ab.read_rankings({"q": {"d": 1}}, {"q": {"d": 1.0}})
    known = {"ab": ab, "GOLD": GOLD, "RUN": RUN, "runs": runs, "lists": lists}
    with pytest.raises(ab.AbstainError, match=WRONG[call]) as caught:
        eval(call, known)
    assert "\n" not in str(caught.value)


def there_and_back(own: Any) -> Any:
    """As another process gets it."""
    return pickle.loads(pickle.dumps(own))


def kinds_of_errors(
    kind: type[ab.AbstainError] = ab.AbstainError,
) -> Iterator[type[ab.AbstainError]]:
    yield kind
    for own in kind.__subclasses__():
        yield from kinds_of_errors(own)


def test_every_error_goes_to_another_process_and_back() -> None:
    for module in pkgutil.walk_packages(ab.__path__, "abstain."):
        if ".integrations" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds = set(kinds_of_errors())
    assert {ab.InputError, ab.UsageError, ab.UnknownNameError} < kinds
    for kind in kinds:
        error: Any = kind.__new__(kind)
        ab.AbstainError.__init__(error, f"say {option('level', 0.9)}", Place("a.csv", 3))
        error.more = ["kept"]
        again: Any = there_and_back(error)
        assert type(again) is kind
        assert (str(again), vars(again)) == (str(error), vars(error))
        assert again.on_command_line() == "a.csv:3: say --level 0.9"
    unknown = there_and_back(ab.UnknownNameError("run", "lst", ["last"]))
    assert (str(unknown), unknown.nearest) == ("there is no run 'lst' (nearest: last)", ["last"])


@pytest.mark.parametrize("name", sorted({own.name for own in definitions().values()}))
def test_every_measure_goes_to_another_process_and_back(name: str) -> None:
    example = definitions()[name].example_text
    measure = ab.measure(f"{name}({example})" if example else name)
    again = there_and_back(measure)
    assert (again, str(again), hash(again)) == (measure, str(measure), hash(measure))
    assert again.definition is measure.definition


def test_policies_readings_counts_and_functions_go_to_another_process_and_back() -> None:
    policy = ab.Policy.of(["error=wrong"])
    assert there_and_back(policy) == policy
    reading = ab.Reading.of(policy=policy, match="text", columns={"question": "id"})
    assert there_and_back(reading) == reading
    counts = ab.Counts(right=3, wrong=1, unanswered_empty=2)
    assert there_and_back(counts) == counts
    assert (there_and_back(ab.CountsArray.of([counts])).table == [3, 1, 0, 0, 2, 0]).all()
    for name in ab.__all__:
        if inspect.isfunction(own := getattr(ab, name)):
            assert there_and_back(own) is own
