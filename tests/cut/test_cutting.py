"""`cut`: rules judged where they had no say, what is promised, and lists that are odd."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.features.cut.tuning import (
    Chooser,
    bound_for_next,
    folds_of,
    keeping,
    losses,
    shown_within,
    simplest,
)
from tests.cut.test_odd_lists import plain
from tests.cut.test_rules import collection, lists_of
from tests.helpers import Here, needs
from tests.snapshots import refuses, says

NAMES = {
    *("auto", "k", "threshold", "share", "gap", "surprise", "distribution", "probability"),
    *("expected", "everything", "nothing", "top 10", "oracle"),
}


def rows_of(result: ab.CutResult) -> dict[str, Any]:
    return {row.rule: row for row in result.rows}


def vaswani() -> tuple[str, str]:
    return str(needs("data/cut/vaswani.qrels.gz")), str(needs("data/cut/vaswani.run.gz"))


# ------------------------------------------------------------------------------- on real data


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["AP'", "SetF"])
def test_expected_beats_every_other_rule_on_vaswani(measure: str) -> None:
    qrels, run = vaswani()
    rows = rows_of(ab.cut(qrels, run, maximise=measure, repeats=2))
    others = NAMES - {"expected", "auto", "oracle"}
    assert rows["expected"].score > max(rows[name].score for name in others) + 0.02
    assert abs(rows["auto"].score - rows["expected"].score) < 0.01
    assert rows["expected"].low < rows["expected"].score < rows["expected"].high


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["AP'", "SetF", "RBP'"])
def test_nothing_is_cut_on_the_web(measure: str) -> None:
    qrels, run = needs("data/cut/web.qrels.gz"), needs("data/cut/web.run.gz")
    result = ab.cut(str(qrels), str(run), maximise=measure)
    assert rows_of(result)["auto"].chosen == {"everything": 5}
    assert "Do not cut" in str(result)
    assert result.runs[0].rule.rule == "everything"


def test_the_references_are_those_that_were_published() -> None:
    """The table of the data's description, made by other code."""
    qrels, run = vaswani()
    rankings = ab.read_rankings(qrels, run)
    for measure, expected in (
        ("AP'", {"nothing": 0.194, "top 10": 0.139, "everything": 0.198, "oracle": 0.395}),
        ("SetF", {"nothing": 0.194, "top 10": 0.189, "everything": 0.151, "oracle": 0.492}),
    ):
        lists = lists_of(qrels, run, measure)
        found = {
            "nothing": lists.values[:, 0],
            "top 10": lists.values[:, 10],
            "everything": lists.values[:, -1],
            "oracle": lists.values.max(axis=1),
        }
        assert {k: round(float(v.mean()), 3) for k, v in found.items()} == expected
        whole = rankings.score(measure).rows[0].scores
        assert next(iter(whole.values())) == pytest.approx(found["everything"].mean())


# ----------------------------------------------------------------------- nothing is tuned on itself


def test_folds_share_nil_queries_out() -> None:
    nil = np.arange(43) % 5 == 0
    for seed in range(20):
        fold = folds_of(nil, 5, np.random.default_rng(seed))
        for kind in (nil, ~nil):
            counts = np.bincount(fold[kind], minlength=5)
            assert counts.max() - counts.min() <= 1


def test_a_judged_query_has_no_say_in_its_depth() -> None:
    """Relevance turned over in one fold changes nothing of the depths that this fold is given."""
    qrels, run = collection(queries=20)
    turned = {q: dict(own) for q, own in qrels.items()}
    some = np.arange(20)
    judged = some[some % 5 == 2]
    for at in judged:
        query = f"q{at:02d}"
        turned[query] = {doc: 1 - rel for doc, rel in qrels[query].items()}
    for name in ("k", "threshold", "probability", "expected"):
        depths = []
        for own in (qrels, turned):
            chooser = Chooser(lists_of(own, run, "SetF"), ab.measure("SetF"), NAMES)  # type: ignore[arg-type]
            depths.append(chooser.fit(name, np.setdiff1d(some, judged), judged).depth.tolist())
        assert depths[0] == depths[1]


@pytest.mark.slow
def test_random_relevance_gains_nothing() -> None:
    """Of twelve seeds at most two may show a gain that is not there (each by 2.5 %).

    `auto` may not show a loss more often either.
    """
    gained, lost = {"auto": 0, "expected": 0, "probability": 0}, 0
    for seed in range(12):
        draw = np.random.default_rng(seed)
        qrels, run = {}, {}
        for number in range(40):
            hits = (draw.random(20) < 0.2) & (draw.random() > 0.25)
            qrels[f"q{number:02d}"] = {f"d{i}": int(hit) for i, hit in enumerate(hits)}
            scores = draw.gamma(2, 2, 20)
            run[f"q{number:02d}"] = {f"d{i}": float(s) for i, s in enumerate(scores)}
        rows = rows_of(ab.cut(qrels, run, maximise="SetF"))
        for name in gained:
            gained[name] += rows[name].over_best_low > 1e-12
        lost += rows["auto"].over_best_high < -1e-12
    assert max(*gained.values(), lost) <= 2


def test_a_simpler_rule_stays_unless_another_is_clearly_ahead() -> None:
    draw = np.random.default_rng(0)
    base = draw.random(100)
    noise = draw.normal(0, 0.3, 100)
    noise -= noise.mean()
    error = noise.std(ddof=1) / 10
    names = ("everything", "nothing", "k", "share", "expected")
    kept = {name: np.ones(100) for name in names}
    found = {name: base - (name != "everything") for name in names}
    ahead = {**found, "expected": base + noise + 0.6 * error}
    assert simplest(ahead, kept, None) == "expected"
    assert simplest({**found, "expected": base + noise + 0.4 * error}, kept, None) == "everything"
    assert simplest({**found, "share": base + noise + 1.9 * error}, kept, None) == "everything"
    assert simplest({**found, "share": base + noise + 2.1 * error}, kept, None) == "share"
    assert simplest({**found, "k": base + 0.001}, kept, None) == "k"  # no rule has to beat it less


def test_a_lead_that_does_not_matter_is_none() -> None:
    base = np.random.default_rng(0).random(100)
    kept = {name: np.ones(100) for name in ("everything", "share", "expected")}
    found = {"everything": base, "share": base + 0.004, "expected": base + 0.004}  # yet certain
    assert simplest(found, kept, None) == "everything"
    assert simplest({**found, "share": base + 0.006}, kept, None) == "share"


# ---------------------------------------------------------------------------------------- promises


def test_a_bet_is_won_rarely_where_the_loss_is_above_the_bound() -> None:
    draw = np.random.default_rng(1)
    lost = (draw.random((80, 4000)) < 0.2).astype(float)  # each column a sample of mean 0.2
    assert shown_within(lost, 0.2, 0.1).mean() <= 0.1
    assert shown_within(lost, 0.4, 0.1).mean() > 0.8


def test_the_bound_for_the_next_queries() -> None:
    bound = bound_for_next(0.2, 50, 0.05)
    draw = np.random.default_rng(2)
    seen = draw.binomial(50, bound, 20_000) / 50
    assert (seen > 0.2).mean() <= 0.05
    assert 0.05 < bound < 0.2


def test_a_share_of_the_relevant_is_kept_in_random_halves() -> None:
    draw = np.random.default_rng(3)
    qrels, run = {}, {}
    for number in range(120):
        scores = np.sort(draw.normal(0, 1, 40) + 2 * (draw.random(40) < 0.15))[::-1]
        hits = draw.random(40) < 1 / (1 + np.exp(3 - 2 * scores))
        qrels[f"q{number:03d}"] = {f"d{i}": int(hit) for i, hit in enumerate(hits)}
        run[f"q{number:03d}"] = {f"d{i}": float(s) for i, s in enumerate(scores)}
    lists = lists_of(qrels, run, "SetF")
    chooser = Chooser(lists, ab.measure("SetF"), ())  # type: ignore[arg-type]
    every, held, kept = np.arange(120), 0, []
    for seed in range(100):
        order = np.random.default_rng(seed).permutation(120)
        fitted = keeping(chooser, np.sort(order[:60]), every, keep=0.8, delta=0.1)
        lost = losses(lists, fitted.depth[order[60:], None], order[60:])
        held += bool(np.nanmean(lost) <= 0.2)
        kept.append(fitted.depth.mean())
    assert held >= 90
    assert np.mean(kept) < 30  # and yet it cuts


def test_a_budget_is_kept() -> None:
    qrels, run = collection(queries=24)
    result = ab.cut(qrels, run, maximise="NDCG'", budget=3)
    rows = rows_of(result)
    for name in ("auto", "k", "share", "expected"):
        assert rows[name].kept_low <= 3
        assert rows[name].within_budget
    assert not rows["everything"].within_budget
    cut = result.apply(run)
    assert cut.filter(pl.col("doc") != "NIL").height / 24 <= 3.5


def test_a_promise_is_told() -> None:
    qrels, run = collection(queries=40)
    result = ab.cut(qrels, run, keep=0.6, level=0.8)
    promise = result.runs[0].promise
    assert promise is not None
    assert promise.kept == rows_of(result)["keep"].recall
    assert promise.kept is not None
    says(str(result), "0.8", f"{100 * promise.kept:.1f} %")


def test_of_the_rules_that_keep_a_share_the_one_that_scores_most_is_taken() -> None:
    qrels, run = collection(queries=60)
    lists = lists_of(qrels, run, "SetF")
    chooser = Chooser(lists, ab.measure("SetF"), ())  # type: ignore[arg-type]
    every = np.arange(60)
    mixed = np.random.default_rng(60).permutation(60)
    most = float(lists.values[:, -1].mean())
    for name in ("k", "threshold", "share"):
        tried = chooser.candidates(name, every)
        lost = losses(lists, tried.depth[mixed], mixed)
        lost = lost[~np.isnan(lost[:, 0])]
        for at in range(lost.shape[1]):  # those that keep more come first
            if not shown_within(lost[:, [at]], 0.5, 0.2 / 3)[0]:
                break
            most = max(most, float(tried.values[:, at].mean()))
    found = keeping(chooser, every, every, keep=0.5, delta=0.2)
    assert found.rule.rule != "everything"
    assert lists.at(found.depth).mean() == pytest.approx(most)


# --------------------------------------------------------------------------------- what is asked


def test_a_measure_that_knows_no_depth_is_tuned_without_expected() -> None:
    result = ab.cut(*collection(queries=20), maximise="P@3")
    assert "expected" not in rows_of(result)
    assert any("the rule 'expected' is left out" in note for note in result.notes)


def test_what_is_asked_for_wrongly() -> None:
    qrels, run = plain([2.0, 1.0], 6, 1)
    for arguments, said in (
        ({"maximise": "RBP-residual"}, "where higher is better"),
        ({"rule": "median"}, "there is no rule"),
        ({"keep": 1.5}, "between 0 and 1"),
        ({"keep": 1e-17}, "between 0 and 1"),
        ({"keep": 0.9, "budget": 3}, "exclude each other"),
        ({"next": True}, "needs"),
        ({"budget": -1}, "0 or more"),
    ):
        with pytest.raises((ab.UsageError, ab.InputError), match=said):
            ab.cut(qrels, run, **arguments)


def test_promises_at_the_edges_of_numbers() -> None:
    qrels, run = collection(queries=12)
    with pytest.raises(ab.UsageError, match="keep is a share"):
        ab.cut(qrels, run, keep=1e-17)
    for keep in (2e-16, 1e-9, math.nextafter(1, 0)):
        assert ab.cut(qrels, run, keep=keep).runs[0].promise is not None
        assert ab.cut(qrels, run, keep=keep, next=True).rows
    sure = math.nextafter(1, 0)
    assert ab.cut(qrels, run, keep=0.9, level=sure).rule_of().rule == "everything"
    assert ab.cut(qrels, run, keep=0.9, level=sure, next=True).rule_of().rule == "everything"


def test_the_order_of_rows_and_queries_changes_nothing() -> None:
    qrels, run = collection(queries=20)
    back = {q: dict(reversed(own.items())) for q, own in reversed(run.items())}
    one = ab.cut(qrels, run, maximise="SetF")
    two = ab.cut(dict(reversed(qrels.items())), back, maximise="SetF")
    assert [row.score for row in one.rows] == [row.score for row in two.rows]


def test_a_rule_that_is_asked_for_and_does_not_pay_is_named() -> None:
    """Others may pay: that no rule does is for auto alone to say."""
    qrels = {f"q{i}": {"d0": 1, "d1": 1, "d2": 1} for i in range(10)}
    run = {q: {"d0": 3.0, "d1": 2.0, "d2": 1.0} for q in qrels}
    says(str(ab.cut(qrels, run)))
    says(str(ab.cut(qrels, run, rule="k")), "3")


def test_each_of_several_runs_is_named() -> None:
    qrels, run = plain([3.0, 2.0, 1.0], 6, 1)
    text = " ".join(str(ab.cut(qrels, {"one": run, "two": run}, budget=1)).split())
    for name in ("one", "two"):
        says(text, f"{name}", "1")
        assert f"{name}: In 5 folds" in text


def test_a_reference_that_scores_more_is_told() -> None:
    """A rule may gain over everything and still lose to silence: eight of ten queries are nil."""
    qrels: dict[str, dict[str, int]] = {f"q{i}": {"d0": int(i < 2)} for i in range(10)}
    run = {q: {"d0": 9.0, "d1": 2.0, "d2": 1.0} for q in qrels}
    result = ab.cut(qrels, run, maximise="SetF", rule="gap")
    rows = rows_of(result)
    assert rows["nothing"].score == pytest.approx(0.8)
    assert rows["gap"].score == pytest.approx(0.2)  # the first document, right for two of ten
    said = " ".join(str(result).split())
    says(said.partition("Do not cut: answering nothing")[2], "−0.6000", "0.8000")
    assert result.runs[0].rule.rule == "gap"  # it was asked for


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["RBP'", "AP'", "SetF"])
@pytest.mark.parametrize(("nil", "relevant"), [(0.0, 0.6), (0.25, 0.2), (0.6, 0.2)])
def test_the_headline_names_the_trivial_policy_that_no_rule_beats(
    measure: str, nil: float, relevant: float
) -> None:
    """Scores that say nothing; `benchmarks/cut_at_random.py` has a hundred seeds."""
    phrases = {
        "everything": "keeping everything",
        "nothing": "answering nothing",
        "top 10": "keeping the first 10 documents of every list",
        "k": "keeping the first k documents of every list",
    }
    cuts = 0
    for seed in range(2):
        draw = np.random.default_rng([6, seed])
        qrels, run = {}, {}
        for number in range(30):
            hits = (draw.random(15) < relevant) & (draw.random() > nil)
            qrels[f"q{number:02d}"] = {f"d{i}": int(hit) for i, hit in enumerate(hits)}
            run[f"q{number:02d}"] = {f"d{i}": float(s) for i, s in enumerate(draw.gamma(2, 2, 15))}
        result = ab.cut(qrels, run, maximise=measure)
        rows, text = rows_of(result), " ".join(str(result).split())
        best = max(phrases, key=lambda name: rows[name].score)
        assert rows[result.runs[0].best_trivial].score == rows[best].score
        policy = phrases[result.runs[0].best_trivial]
        if rows["auto"].score > rows[best].score:
            assert f"the best trivial policy, {policy}" in text
        elif policy == "answering nothing":
            assert "Answer nothing: the retrieval finds too little" in text
            assert result.cut([3.0, 2.0, 1.0]) == 0
        else:
            assert f"Do not cut: {policy}" in text
        cuts += "Cut with the rule" in text
    assert cuts == 0


def test_where_nothing_is_best_the_advice_is_to_answer_nothing(tmp_path: Path) -> None:
    """One of four relevant documents stands first: AP' is better with none."""
    qrels = {f"q{i}": {f"d{n}": int(i % 2) for n in range(0, 40, 10)} for i in range(20)}
    run = {q: {f"d{n}": 40.0 - n for n in range(8)} for q in qrels}
    result = ab.cut(qrels, run, maximise="AP'")
    (own,) = result.runs
    assert own.advice == "nothing"
    assert own.rule.rule == "nothing"
    result.to_json(tmp_path / "cut.json")
    saved = ab.load(tmp_path / "cut.json")
    assert isinstance(saved, ab.CutResult)
    assert str(saved) == str(result)
    says(" ".join(str(result).partition("Answer nothing")[2].split()))


# ----------------------------------------------------------------------------- on the command line


def trec(folder: Path, queries: int = 12) -> None:
    qrels, run = collection(queries=queries)
    judged = [f"{q} 0 {d} {r}" for q, own in qrels.items() for d, r in own.items()]
    judged += [f"{q} 0 NONE 0" for q, own in qrels.items() if not own]
    listed = [
        f"{q} Q0 {d} {i} {s} mine"
        for q, own in run.items()
        for i, (d, s) in enumerate(own.items(), 1)
    ]
    (folder / "qrels.txt").write_text("\n".join(judged) + "\n")
    (folder / "run.txt").write_text("\n".join(listed) + "\n")


@pytest.mark.parametrize("name", ["short.run.gz", "short.parquet"])
def test_apply_cuts_as_the_first_time(here: Here, tmp_path: Path, name: str) -> None:
    trec(here.folder)
    asked = ("cut", "qrels.txt", "run.txt", "-m", "SetF", "--rule", "expected")
    said = here(*asked, "--rule-file", "rule.json", "-o", name)
    assert said.code == 0, said.err
    again = here("cut", "--apply", "rule.json", "run.txt", "-o", f"again-{name}")
    assert again.code == 0, again.err
    read = {"short.parquet": pl.read_parquet}.get(name)
    one, two = here.folder / name, here.folder / f"again-{name}"
    if read is None:
        assert one.read_bytes() == two.read_bytes()
    else:
        assert read(one).equals(read(two))
    scored = here("rank", "qrels.txt", name, "-m", "SetF", "--nil", "NIL", "-f", "json")
    assert scored.code == 0, scored.err


def test_a_cut_run_keeps_the_order_of_queries_and_ends_at_nil(here: Here) -> None:
    """Lists stand as they came, the best first; what follows a NIL is gone."""
    rows = ["b Q0 d1 1 1.0 x", "b Q0 d2 2 0.5 x", "a Q0 d3 1 9.0 x", "a Q0 NIL 2 8.0 x"]
    here.write("run.txt", "\n".join([*rows, "a Q0 d4 3 7.0 x", "c Q0 NIL 1 5.0 x"]) + "\n")
    qrels = {query: {"d1": 1, "d3": 1} for query in "abc"}
    result = ab.cut(qrels, here.folder / "run.txt", rule="k", nil="NIL", folds=2)
    made = result.apply(here.folder / "run.txt", nil="NIL").rows()
    k = result.rule_of().k
    kept = [*[("x", "b", "d1", 1.0, 1), ("x", "b", "d2", 0.5, 2)][:k], ("x", "a", "d3", 9.0, 1)]
    assert made == kept


def test_the_printed_lines_run(here: Here) -> None:
    trec(here.folder)
    said = here("cut", "qrels.txt", "run.txt", "--rule", "expected", "--explain", "-o", "s.csv")
    made: dict[str, Any] = {}
    exec(said.out, made)
    cut = pl.read_csv(here.folder / "s.csv").filter(pl.col("doc") != "NIL")
    kept = dict(cut.group_by("query").len().iter_rows())
    _, run = collection(queries=12)
    assert {q: made["cut"](list(own.values())) for q, own in run.items()} == {
        q: kept.get(q, 0) for q in run
    }


def test_the_printed_lines_are_few() -> None:
    """A rule with two models, in lines that a formatter leaves alone."""
    printed = ab.cut(*collection(queries=12), rule="expected").explain().splitlines()
    assert len(printed) <= 14
    assert max(map(len, printed)) <= 88


def test_a_saved_rule_cuts_in_one_line(here: Here) -> None:
    trec(here.folder)
    here("cut", "qrels.txt", "run.txt", "--rule", "k", "-m", "SetF", "--rule-file", "rule.json")
    rule = ab.load(here.folder / "rule.json")
    assert isinstance(rule, ab.CutResult)
    k = rule.runs[0].rule.k
    assert k is not None
    assert rule.cut([0.5] * 30) == k
    assert rule.cut([[0.5] * 30, [1.0]]) == [k, min(k, 1)]
    lists = rule.cut({"q": {f"d{i:02d}": float(i) for i in range(30)}})
    assert list(lists["q"]) == [f"d{29 - i:02d}" for i in range(k)]
    with refuses(ab.UsageError):
        rule.cut(["a"])


def test_what_is_no_list_of_scores(here: Here) -> None:
    trec(here.folder)
    rule = ab.cut("qrels.txt", "run.txt", rule="k")
    for wrong in (None, 3.0, "abc", [1.0, None], {"d1": 3.0}, {"q": None}, {"q": {"d": None}}):
        with refuses(ab.UsageError):
            rule.cut(wrong)


@pytest.mark.parametrize(
    ("rule", "changed"),
    [
        ("k", {"rule": "median"}),
        ("k", {"rule": "oracle"}),
        ("k", {"k": -4}),
        ("k", {"k": 2**60}),
        ("k", {"k": 10**30}),
        ("gap", {"extra": -10}),
        ("gap", {"window": -3.0}),
        ("expected", {"draws": 10**12}),
        ("expected", {"draws": -1}),
        ("expected", {"unseen": 1e30}),
        ("expected", {"gain": 1e308}),
        ("expected", {"gain": -1.0}),
        ("expected", {"price": -1.0}),
        ("expected", {"measure": "NumUnjudged"}),
        ("expected", {"measure": "exit()"}),
        ("expected", {"document": None}),
        ("expected", {"nothing": None}),
        ("expected", {"document": {"bias": 0, "weights": [1]}}),
        (
            "expected",
            {"nothing": {"bias": 0, "weights": [1] * 5, "middle": [1] * 4}},
        ),
    ],
)
def test_a_rule_file_that_holds_no_rule(here: Here, rule: str, changed: dict[str, Any]) -> None:
    trec(here.folder)
    here("cut", "qrels.txt", "run.txt", "--rule", rule, "--rule-file", "rule.json")
    saved = json.loads((here.folder / "rule.json").read_text())
    saved["runs"][0]["rule"] |= changed
    here.write("rule.json", json.dumps(saved))
    refused = here.refuses("cut", "--apply", "rule.json", "run.txt", "-o", "short.run")
    assert refused.startswith("rule.json: is not a complete result")


def test_a_name_of_a_run_is_no_code(here: Here) -> None:
    trec(here.folder)
    here("cut", "qrels.txt", "run.txt", "--rule", "k", "--rule-file", "rule.json")
    text = (here.folder / "rule.json").read_text()
    here.write("rule.json", text.replace('"run": "mine"', '"run": "mine\\nraise SystemExit"'))
    said = here("cut", "--apply", "rule.json", "run.txt", "--explain")
    assert said.out.startswith("# mine raise SystemExit: k")
    exec(said.out, {})


def test_json_has_a_row_a_rule(here: Here) -> None:
    trec(here.folder)
    data = here("cut", "qrels.txt", "run.txt", "-f", "json").data
    assert {row["rule"] for row in data["results"]} == NAMES
    for row in data["results"]:
        assert {"rule", "score", "low", "high", "kept"} <= set(row)
    here("cut", "qrels.txt", "run.txt", "-o", "result.json")
    assert json.loads((here.folder / "result.json").read_text())["kind"] == "cut"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-m", "nonsense"], ("'nonsense'",)),
        (["--apply", "rule.json"], ("rule.json",)),
    ],
)
def test_refused(here: Here, arguments: list[str], said: tuple[str, ...]) -> None:
    trec(here.folder)
    says(here.refuses("cut", "qrels.txt", "run.txt", *arguments), *said)


def test_missing_and_not_a_number(here: Here) -> None:
    trec(here.folder)
    rows = ["query,doc,score", "q00,d1,nan", "q01,d1,1"]
    (here.folder / "run.csv").write_text("\n".join(rows) + "\n")
    assert "run.csv:2: " in here.refuses("cut", "qrels.txt", "run.csv")
    (here.folder / "ranks.csv").write_text("query,doc,rank\nq00,d1,1\n")
    assert "has no column 'score'" in here.refuses("cut", "qrels.txt", "ranks.csv")
    rankings = ab.read_rankings({"q": {"d": 1}}, here.folder / "ranks.csv", ties="rank")
    with pytest.raises(ab.UsageError, match="reads no scores"):
        rankings.cut()


def test_a_gain_lies_within_what_a_difference_can_be() -> None:
    """Two queries, one of them nil: Student's t reaches far beyond 1."""
    qrels = {"q0": {"d0": 1}, "q1": {"d0": 0}}
    run = {q: {"d0": 2.0, "d1": 1.0} for q in qrels}
    rows = {row.rule: row for row in ab.cut(qrels, run, folds=2).rows}
    assert rows["nothing"].gain_low == rows["nothing"].over_best_low == -1.0
    assert rows["nothing"].gain_high == 1.0
