"""Arguments that make no sense are refused in one line from Python too; errors travel."""

from __future__ import annotations

import pickle

import polars as pl
import pytest

import abstain as ab

GOLD = pl.DataFrame({"question": ["q1", "q2"], "correct": ["A", "B"], "topic": ["x", "y"]})
RUN = pl.DataFrame({"question": ["q1", "q2"], "answer": ["A", ""], "confidence": [0.5, 0.6]})
RUNS = {"a": RUN, "b": RUN.with_columns(answer=pl.lit("A"))}

WRONG = {
    "ab.measure(3)": "'3' is not a measure's name",
    "ab.load({})": "a saved result is named by its path",
    "ab.read(GOLD, 3)": "expected a path or a dataframe",
    "ab.read(GOLD, RUN, columns=['x'])": "columns is a mapping of texts",
    "ab.read(GOLD, RUN, detect_refusals=True)": "detect_refusals is a text or a list of texts",
    "ab.read(GOLD, RUN, policy=3)": "a policy maps kinds of blanks to effects",
    "ab.read(GOLD, RUN, cluster=3)": "cluster is a text",
    "ab.score(GOLD, RUN, colunms={})": r"no argument 'colunms' \(nearest: columns",
    "runs.compare(['c@1'])": "is not a measure's name",
    "runs.compare(trials='x')": "trials is a whole number",
    "runs.compare(level='a')": "level is a number",
    "runs.compare(level=2)": "a level lies between 0 and 1",
    "runs.compare(seed=-1)": r"the seed must be 0 or more \(got -1\)",
    "runs.compare(against=3)": "against is a text",
    "runs.score(3)": "'3' is not a measure's name",
    "runs.score(['c@1', 4])": "'4' is not a measure's name",
    "runs.score(by=3)": "by is a list of texts or a text",
    "runs.score(bye='topic')": r"no argument 'bye' \(nearest: by",
    "runs.score(interval=3)": "'3'; there are",
    "runs.score(seed=-1)": "the seed must be 0 or more",
    "runs.tune(by=['topic'])": "by is a text",
    "runs.tune(tune_on='topic=x')": "tune_on is a mapping of texts",
    "runs.tune(folds='x')": "folds is a whole number",
    "runs.campaign(by=3)": "by is a list of texts",
    "runs.campaign(pass_mark='x')": "pass_mark is a number",
    "runs.only(runs=3)": "runs is a list of texts or a text",
    "lists.only(runs=3)": "runs is a list of texts or a text",
    "lists.only(queries=3)": "queries is a list of texts or a text",
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


def test_errors_measures_and_policies_go_to_another_process_and_back() -> None:
    error = ab.UnknownNameError("run", "lst", ["last"])
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.nearest) == (type(error), str(error), ["last"])
    assert pickle.loads(pickle.dumps(ab.measure("S(t=0.5)"))) == ab.measure("S(t=0.5)")
    policy = ab.Policy.parse(["error=wrong"])
    assert pickle.loads(pickle.dumps(policy)) == policy
