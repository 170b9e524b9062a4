"""Declarations at their edges: bounds that meet, texts that are derived, places, empty pools."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.errors import UsageError
from abstain.features.compare import judge_errors as bounds
from abstain.features.tune import choose
from abstain.features.tune.choose import SIGNIFICANT, Clustered, KeepClusters, KeepRisk
from abstain.io.tables import ROW, Table
from abstain.measures import trec_eval
from abstain.measures.answers import Resamples
from abstain.outcomes import MOST, Counts
from abstain.runs.log_tasks import as_one_table
from abstain.runs.sources import answers_of
from abstain.stats import randomisation
from abstain.stats.hypotheses import adjust, signed_gaps
from abstain.stats.randomisation import few_states, likely_heads, swappable
from tests.snapshots import refuses


def test_trec_evals_names_have_places_without_a_gap() -> None:
    places = [own.place for own, _ in trec_eval.by_trec_name().values()]
    places += [place for place, _ in trec_eval.TEXTS.values()]
    assert sorted(places) == list(range(len(places)))


@pytest.mark.parametrize("t", ["1", "1.5", "2", "-0.1"])
def test_a_chance_that_makes_answering_pay_is_below_1(t: str) -> None:
    with pytest.raises(UsageError, match="S"):
        ab.measure(f"S(t={t})")
    ab.measure("S(t=0.999)")


def test_differences_that_only_rounding_tells_apart_are_ties() -> None:
    found = signed_gaps(np.array([1.0, 0.5, 0.5 + 3e-10, 0.5 + 3e-9, 4e-10, np.nan]))
    assert found[1] == found[2] != found[3]
    assert found[4] == 0
    assert len(found) == 5


def test_what_was_left_blank_is_no_answer_though_a_candidate_is_right() -> None:
    codes = np.array([0, 1, 2, 3], np.uint8)
    found = answers_of(codes, np.array([0.4, 0.3, 0.2, 0.1]))
    assert found.right.tolist() == [True, False, True, False]
    assert found.submitted is not None
    assert found.submitted.tolist() == [True, True, False, False]


def test_as_many_states_as_are_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.array([[4, 3, 2], [5, 4, 1], [2, 2, 3]])
    swaps = swappable(table)
    states = len(likely_heads(swaps[0] + swaps[1])) * len(likely_heads(swaps[1] + swaps[2]))
    for most, few in ((states, True), (states - 1, False)):
        monkeypatch.setattr(randomisation, "EXACT_STATES", most)
        assert few_states(ab.measure("c@1"), table) is few


def test_a_chance_of_just_five_percent_refutes_a_risk(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = KeepRisk(alpha=0.1, delta=0.1)
    for chance, refuted in ((SIGNIFICANT, True), (SIGNIFICANT + 1e-9, False)):
        monkeypatch.setattr(KeepRisk, "chance", lambda *_, own=chance: own)
        assert rule.refuted(3, 10) is refuted


def test_clusters_speak_against_a_risk_at_five_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Clustered.of(np.array([0.9, 0.8]), np.array([True, False]), np.array([0, 1]))
    for chance, against in ((SIGNIFICANT, True), (SIGNIFICANT + 1e-9, False)):
        monkeypatch.setattr(choose, "chance_of_at_most", lambda *_, c=chance: np.array([c]))
        assert KeepClusters(alpha=0.1, delta=0.1).spoken_against(own, 0.5) is against


def test_a_correlation_is_never_above_1() -> None:
    draw = np.random.default_rng(2)
    for _ in range(20):
        cluster = np.repeat(np.arange(6), 3)
        wrong = draw.random(6)[cluster] < 0.5
        own = Clustered.of(np.linspace(0.9, 0.1, 18), wrong, cluster)
        assert (own.correlation(np.arange(1, 19)) <= 1).all()


@pytest.mark.parametrize("number", [2**53, 2**53 + 2])
def test_the_largest_count(number: int) -> None:
    assert MOST == 2**53
    rows = pl.DataFrame({"run": ["a"], "right": [number], "wrong": [0], "unanswered": [0]})
    if number <= MOST:
        assert ab.read_counts(rows).runs == ("a",)
    else:
        with pytest.raises(ab.InputError, match="to 2"):
            ab.read_counts(rows)


def test_kinds_of_blanks_add_up_to_the_blanks() -> None:
    kinds = {"unanswered_right": 2, "unanswered_wrong": 1, "unanswered_empty": 4}
    assert Counts.from_dict({"right": 1, "unanswered": 7, **kinds}).unanswered == 7
    with refuses(UsageError, "8", "7"):
        Counts.from_dict({"right": 1, "unanswered": 8, **kinds})


def test_groups_of_equally_sure_answers_begin_once() -> None:
    right, sure = np.array([True, False, True]), np.array([0.9, 0.9, 0.5])
    own = Resamples(right, sure, np.array([3]), numbers=np.ones((3, 1), np.int64))
    assert own.starts.tolist() == [0, 2]


def test_ways_are_left_out_only_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_WAYS", 50)
    for total in range(1, 60):
        _, step = bounds.ways_of_sharing(total, 3)
        assert math.comb(total // step + 3, 2) <= 50
        assert step == 1 or math.comb(total // (step - 1) + 3, 2) > 50


@pytest.mark.parametrize(
    ("name", "highest"), [("RBP-total(p=0.8)", 5.0), ("RBP-total(p=0.75)", 4.0)]
)
def test_bounds_that_a_parameter_sets(name: str, highest: float) -> None:
    assert ab.measure(name).bounds[1] == pytest.approx(highest)


def test_corrected_chances_are_at_most_the_largest() -> None:
    assert adjust(np.array([0.9, 1.0, 0.5]), "bh").tolist() == [1.0, 1.0, 1.0]


def test_questions_without_a_name_are_numbered_from_1() -> None:
    found = ab.read_judged(pl.DataFrame({"grade": ["right", "wrong", "right"]})).outcomes()
    assert found["question"].to_list() == ["000000001", "000000002", "000000003"]
    assert found["outcome"].to_list() == ["right", "wrong", "right"]


def test_a_text_is_read_as_an_answer_only_where_refusals_are_looked_for() -> None:
    said = {"id": ["1", "2"], "is_correct": [True, False], "output": ["x", "I don't know."]}
    rows = pl.DataFrame(said)
    plain, looked = ab.read_judged(rows), ab.read_judged(rows, detect_refusals="en")
    assert not any("output" in note for note in plain.score().notes)
    assert looked.score().rows[0].counts.unanswered == 1


def test_grades_count_a_million_times_as_much_as_ranks_at_most() -> None:
    assert ab.measure("Q(beta=1000000)").arguments["beta"] == 1e6
    with pytest.raises(UsageError, match="beta"):
        ab.measure("Q(beta=1000000.5)")


@pytest.mark.parametrize("right", [0, 1])
def test_one_right_answer_is_enough_to_find(right: int) -> None:
    found = ab.measure("over-abstention")(Counts(right, 2, unanswered_wrong=1))
    assert found == 0 if right else math.isnan(found)


def test_frames_are_told_apart_by_their_place() -> None:
    gold = pl.DataFrame({"question": ["q1"], "correct": ["a"]})
    good, bad = (pl.DataFrame({"question": [q], "answer": ["a"]}) for q in ("q1", "x"))
    with pytest.raises(ab.InputError, match=r"^run 2"):
        ab.read(gold, [good, bad]).score()


def test_joined_logs_keep_what_is_said_of_all_of_them() -> None:
    facts = (("task", "task", "A"), ("dataset", "dataset", "d"), ("settings", "shots", "5"))
    frame = pl.DataFrame({ROW: [0], "question": ["q1"]}, schema_overrides={ROW: pl.UInt32})
    logs = [Table(name, "log", ("question",), frame.lazy(), facts=facts) for name in "ab"]
    assert as_one_table(logs, "both").facts == (("settings", "shots", "5"),)
