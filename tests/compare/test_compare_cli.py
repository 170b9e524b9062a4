"""`abstain compare` from files to words, and intervals in `score` and `campaign`."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import abstain as ab
from abstain.stats.delta_method import difference, standard_error
from tests.compare import slow
from tests.compare.asked import judged, scores, told
from tests.helpers import Here, words
from tests.measures.reference import REFERENCE
from tests.snapshots import says

EXAMPLE = files("abstain") / "examples" / "qa4mre2013"
GOLD = "question,correct,topic\n" + "".join(f"q{i},a,{'xy'[i % 2]}\n" for i in range(10))


def run_text(answers: str) -> str:
    """A run from letters: a right, b wrong, - blank, space no row at all."""
    rows = [f"q{i},{'' if x == '-' else x}\n" for i, x in enumerate(answers) if x != " "]
    return "question,answer\n" + "".join(rows)


@pytest.fixture
def two(here: Here) -> Here:
    here.write("gold.csv", GOLD)
    here.write("one.csv", run_text("aaabbb--aa"))
    here.write("two.csv", run_text("aaaaab-bab"))
    return here


def data(here: Here, *args: str) -> Any:
    said = here("compare", *args, "--format", "json")
    assert said.code == 0, said.err
    return said.data


# --------------------------------------------------------------------------------------- pairs


def test_a_pair_by_hand(two: Here) -> None:
    found = data(two, "gold.csv", "one.csv", "two.csv")
    letters = {"a": "R", "b": "W", "-": "UE"}
    one, other = ([letters[x] for x in text] for text in ("aaabbb--aa", "aaaaab-bab"))
    (pair,) = found["pairs"]
    assert (pair["run"], pair["against"]) == ("two", "one")
    assert pair["difference"] == pytest.approx(
        slow.score("c@1", other) - slow.score("c@1", one), abs=1e-12
    )
    assert pair["p"] == pytest.approx(slow.randomisation("c@1", one, other), abs=1e-9)
    assert pair["exact"] is True
    moves = found["origin"]["transitions"]
    assert moves["wrong → right"]["questions"] == 2
    assert moves["blank → wrong"]["questions"] == 1
    assert moves["right → wrong"]["questions"] == 1


def test_pairs_are_made_by_question_never_by_row(two: Here) -> None:
    shuffled = run_text("aaaaab-bab").splitlines()
    two.write("mixed.csv", "\n".join([shuffled[0], *reversed(shuffled[1:])]) + "\n")
    straight = data(two, "gold.csv", "one.csv", "two.csv")
    mixed = data(two, "gold.csv", "one.csv", "mixed.csv")
    assert straight["pairs"][0]["p"] == mixed["pairs"][0]["p"]


def test_common_questions_are_said(two: Here) -> None:
    two.write("part.csv", run_text("aaaa  -bab"))
    said = two("compare", "gold.csv", "one.csv", "part.csv")
    says(words(said.out), "8", "10", "2")
    assert "2 responses are unknown" in said.out
    counted = data(two, "gold.csv", "one.csv", "part.csv", "--policy", "missing=unanswered")
    assert counted["questions"] == 10


def test_judged_rows_need_no_gold(here: Here) -> None:
    rows = ["run,question,grade"]
    for run, grades in (("a", "AABCA"), ("b", "BAACB")):
        rows += [f"{run},q{i},{g}" for i, g in enumerate(grades)]
    here.write("graded.csv", "\n".join(rows) + "\n")
    found = data(here, "--judged", "graded.csv")
    expected = slow.randomisation("c@1", ["R", "R", "W", "UE", "R"], ["W", "R", "R", "UE", "W"])
    assert found["pairs"][0]["p"] == pytest.approx(expected, abs=1e-9)
    frame = pl.read_csv(here.folder / "graded.csv")
    assert judged(frame).pairs[0].p == pytest.approx(expected, abs=1e-9)


def test_a_question_in_two_judged_tables_is_refused(here: Here) -> None:
    for name in ("x.csv", "y.csv"):
        here.write(name, "run,question,grade\na,q1,CORRECT\nb,q1,INCORRECT\n")
    refused = here.refuses("compare", "--judged", "x.csv", "y.csv")
    assert "y.csv:2: run 'a' has question 'q1' again (first: x.csv:2)" in refused


def test_tests_by_name(two: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    mcnemar = data(two, "gold.csv", "one.csv", "two.csv", "--test", "mcnemar")
    assert mcnemar["pairs"][0]["p"] == float(slow.mcnemar(2, 1))
    args = "gold.csv", "one.csv", "two.csv", "--test", "bootstrap", "--seed", "5"
    few = data(two, *args)["pairs"][0]
    why = "there are only 10 questions; a bootstrap needs 40 to keep its significance level"
    assert (few["p"], few["no_test"]) == (None, why)
    monkeypatch.setattr("abstain.features.compare.comparison.LEAST_RESAMPLED", 10)
    drawn = data(two, *args)
    assert drawn["seed"] == 5
    assert drawn["pairs"][0]["exact"] is False
    codes = np.array([["ab-".index(x) for x in run] for run in ("aaabbb--aa", "aaaaab-bab")])
    some = codes[:, np.random.default_rng(1).integers(0, 10, size=(20_000, 10))]
    scores = (some == 0).mean(axis=-1) * (1 + (some == 2).mean(axis=-1))
    gaps = np.round(scores[1] - scores[0], 9)
    expected = 2 * min((gaps <= 0).mean(), (gaps >= 0).mean())
    assert drawn["pairs"][0]["p"] == pytest.approx(expected, abs=0.03)


@pytest.mark.slow
def test_every_format_and_a_chart(two: Here) -> None:
    args = ("compare", "gold.csv", "one.csv", "two.csv")
    (row,) = csv.DictReader(io.StringIO(two(*args, "--format", "csv").out))
    assert row["run"] == "two"
    letters = {"a": "R", "b": "W", "-": "UE"}
    one, other = ([letters[x] for x in text] for text in ("aaabbb--aa", "aaaaab-bab"))
    assert float(row["p"]) == pytest.approx(slow.randomisation("c@1", one, other), abs=1e-9)
    assert "| run" in two(*args, "--format", "markdown").out
    assert r"\begin{tabular}" in two(*args, "--format", "latex").out
    assert two(*args, "--chart", "c.svg", "-o", "out.json").code == 0
    assert (two.folder / "c.svg").read_text().startswith("<svg")
    assert json.loads((two.folder / "out.json").read_text())["measure"] == "c@1"
    assert two(*args).out == two(*args).out


# --------------------------------------------------------------------------------------- edges


def test_identical_runs(two: Here) -> None:
    two.write("copy.csv", run_text("aaabbb--aa"))
    said = two("compare", "gold.csv", "one.csv", "copy.csv")
    assert said.code == 0
    says(said.out)
    found = data(two, "gold.csv", "one.csv", "copy.csv")
    assert found["pairs"][0]["p"] == 1
    assert found["pairs"][0]["difference"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_identical_runs_by_every_measure(two: Here, name: str) -> None:
    two.write("copy.csv", run_text("aaabbb--aa"))
    (pair,) = data(two, "gold.csv", "one.csv", "copy.csv", "-m", name)["pairs"]
    assert (pair["difference"], pair["p"]) in {(0, 1), (None, None)} or pair["no_test"]


def test_one_question(here: Here) -> None:
    here.write("gold.csv", "question,correct\nq0,a\n")
    here.write("one.csv", run_text("a"))
    here.write("two.csv", run_text("b"))
    said = here("compare", "gold.csv", "one.csv", "two.csv")
    assert said.code == 0
    says(words(said.out), "1")
    (pair,) = data(here, "gold.csv", "one.csv", "two.csv")["pairs"]
    assert pair["interval"] == [None, None]
    assert pair["p"] == 1


def test_all_blank(two: Here) -> None:
    two.write("silent.csv", run_text("-" * 10))
    said = two("compare", "gold.csv", "one.csv", "silent.csv", "-m", "precision")
    assert said.code == 0
    says(said.out)
    (pair,) = data(two, "gold.csv", "one.csv", "silent.csv", "-m", "precision")["pairs"]
    assert pair["p"] is None
    assert two("compare", "gold.csv", "one.csv", "silent.csv").code == 0


def test_disjoint_questions_are_refused(two: Here) -> None:
    two.write("early.csv", run_text("aaaaa     "))
    two.write("late.csv", run_text("     aaaaa"))
    line = two.refuses("compare", "gold.csv", "early.csv", "late.csv")
    says(line, "early", "late")


def test_a_single_cluster(here: Here) -> None:
    here.write("gold.csv", GOLD.replace(",x", ",z").replace(",y", ",z"))
    here.write("one.csv", run_text("aaabbb--aa"))
    here.write("two.csv", run_text("aaaaab-bab"))
    said = here("compare", "gold.csv", "one.csv", "two.csv", "--cluster", "topic")
    says(words(said.out), "1")


def test_nan_scores_leave_their_topics_out(here: Here) -> None:
    here.write("ap.csv", "topic,a,b\n1,.1,.2\n2,.3,nan\n3,.5,.9\n4,.2,.6\n5,,.1\n")
    said = here("compare", "--scores", "ap.csv")
    says(words(said.out), "3", "5", "1")
    found = scores(here.folder / "ap.csv", test="wilcoxon")
    assert found.pairs[0].difference == pytest.approx((0.1 + 0.4 + 0.4) / 3)
    line = here.write("none.csv", "topic,a,b\n1,.1,\n2,,.2\n")
    says(here.refuses("compare", "--scores", line))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("gold.csv", "one.csv"), ("1",)),
        (
            ("gold.csv", "one.csv", "two.csv", "--interval", "bca", "--test", "u"),
            ("'u'",),
        ),
        (
            ("gold.csv", "one.csv", "two.csv", "--interval=wald"),
            ("'wald'",),
        ),
        (("gold.csv", "one.csv", "two.csv", "--correction", "bonf"), ()),
        (("gold.csv", "one.csv", "two.csv", "--against", "tow"), ()),
        (("gold.csv", "one.csv", "two.csv", "--cluster", "topics"), ("'topics'",)),
        (("gold.csv", "one.csv", "two.csv", "--detect", "0"), ("0",)),
        (("gold.csv", "one.csv", "two.csv", "--level", "95"), ("0", "1")),
        (("gold.csv", "one.csv", "two.csv", "--test", "wilcoxon"), ()),
        (("gold.csv", "one.csv", "two.csv", "--test", "t"), ()),
        (("--judged", "--scores", "one.csv"), ()),
        (("--scores", "one.csv"), ()),
    ],
)
def test_usage_errors_are_one_line(two: Here, args: tuple[str, ...], said: tuple[str, ...]) -> None:
    says(two.refuses("compare", *args), *said)


# -------------------------------------------------------------------------- the bundled campaign


@pytest.fixture(scope="module")
def bundled() -> ab.CompareResult:
    return ab.compare(str(EXAMPLE / "gold.csv"), str(EXAMPLE / "runs.csv.gz"))


@pytest.mark.slow
def test_the_bundled_campaign_says_who_is_separated(bundled: ab.CompareResult) -> None:
    said = told(bundled)
    says(said)
    assert bundled.separated() == ["jucs1302enen"]
    assert len(bundled.pairs) == 1431
    first = bundled.rows[0]
    assert first.run == "jucs1302enen"
    assert first.group == "a"
    assert all("a" not in row.group for row in bundled.rows[1:])
    for row in bundled.rows:
        (low, high), score = row.interval, row.score
        assert None not in (low, high, score)
        assert float(low or 0) <= float(score or 0) <= float(high or 0)


@pytest.mark.slow
def test_letters_say_the_same_as_the_pairs(bundled: ab.CompareResult) -> None:
    place = {row.run: i for i, row in enumerate(bundled.rows)}
    different = {
        tuple(sorted((place[p.run], place[p.against]))) for p in bundled.pairs if p.differs
    }

    def spread(text: str) -> set[int]:
        import re

        found: set[int] = set()
        for a, b in re.findall(r"(\w)(?:–(\w))?", text):
            found |= set(range(ord(a), ord(b or a) + 1))
        return found

    texts = [spread(row.group) for row in bundled.rows]
    assert slow.letters_agree(texts, different)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_reference_is_compared_with_all_others(here: Here) -> None:
    found = data(
        here,
        str(EXAMPLE / "gold.csv"),
        str(EXAMPLE / "runs.csv.gz"),
        *("--against", "kule1305enen", "--resamples", "2000", "--cluster", "test"),
    )
    assert len(found["pairs"]) == 53
    assert found["correction"] == "holm"
    assert found["clusters"] == 16
    for pair in found["pairs"]:
        assert pair["p_adjusted"] >= pair["p"] - 1e-9


# ------------------------------------------------------------------------- score and campaign


def test_score_has_intervals(two: Here) -> None:
    said = two("score", "--interval", "gold.csv", "one.csv", "-m", "accuracy", "--format", "json")
    (row,) = said.data["results"]
    low, high = row["intervals"]["accuracy"]
    assert low < 0.5 < high
    assert said.data["interval_method"] == "beta"
    exact = two("score", "gold.csv", "one.csv", "-m", "accuracy", "--interval", "wilson").out
    assert exact.split()[:5] == ["#", "run", "accuracy", "low", "high"]
    assert "Wilson" in exact
    (table,) = csv.DictReader(
        io.StringIO(two("score", "gold.csv", "one.csv", "--interval", "--format", "csv").out)
    )
    assert float(table["c@1 low"]) < float(table["c@1"]) < float(table["c@1 high"])
    result = ab.score(two.folder / "gold.csv", two.folder / "one.csv", interval="delta")
    assert {"c@1 low", "c@1 high"} <= set(result.to_frame().columns)


def test_scores_with_intervals_stand_in_blocks_in_a_pipe_too(two: Here) -> None:
    gold = "question,correct,topic\n" + "".join(f"q{i},a,t{i % 2}\n" for i in range(6))
    two.write("by.csv", gold)
    name = "a-run-whose-name-is-longer-than-a-terminal-would-show"
    two.write(f"{name}.csv", "question,answer\n" + "".join(f"q{i},a\n" for i in range(6)))
    two.write("short.csv", "question,answer\n" + "".join(f"q{i},a\n" for i in range(6)))
    lines = two("score", "by.csv", "short.csv", "--interval", "--by", "topic").out.splitlines()
    heads = [line.split() for line in lines if line.startswith("#")]
    assert max(map(len, lines)) <= 80
    assert [h[3:] for h in heads] == [
        ["c@1", "low", "high", "accuracy", "low", "high"],
        ["precision", "low", "high", "coverage", "low", "high"],
        ["right", "wrong", "blank"],
    ]
    long = two("score", "by.csv", f"{name}.csv", "--interval", "--by", "topic").out
    assert long.count(name) == 2 * sum(line.startswith("#") for line in long.splitlines())


def test_score_clusters_as_compare_does(two: Here) -> None:
    args = ("gold.csv", "one.csv", "two.csv", "-m", "c@1", "--cluster", "topic")
    scored = two("score", *args, "--interval", "--format", "json").data["results"]
    compared = data(two, *args)["results"]
    ends = {r["run"]: r["intervals"]["c@1"] for r in scored}
    for row in compared:
        assert ends[row["run"]] == pytest.approx(row["intervals"]["c@1"], abs=1e-12)
    line = two.refuses("score", *args)
    assert "--cluster needs --interval" in line


def test_counts_have_intervals_but_no_clusters(here: Here) -> None:
    here.write("c.csv", "run,right,wrong,unanswered\na,10,5,5\n")
    (row,) = here("score", "--counts", "c.csv", "--interval", "--format", "json").data["results"]
    assert row["intervals"]["c@1"][0] < 0.5 * 1.25 < row["intervals"]["c@1"][1]
    assert "--cluster needs questions" in here.refuses(
        "score", "--counts", "c.csv", "--interval", "--cluster", "topic"
    )


@pytest.mark.slow
def test_the_campaigns_leaderboard_has_intervals_and_groups(two: Here) -> None:
    two.write("three.csv", run_text("bbbbbbbbbb"))
    args = ("campaign", "gold.csv", "one.csv", "two.csv", "three.csv", "-o", "out")
    said = two(*args)
    assert said.code == 0, said.err
    with (two.folder / "out" / "tables" / "leaderboard.csv").open() as file:
        rows = {row["run"]: row for row in csv.DictReader(file)}
    assert float(rows["two"]["low"]) < float(rows["two"]["c@1"]) < float(rows["two"]["high"])
    assert rows["two"]["group"] == "a"
    says(said.out)
    results = json.loads((two.folder / "out" / "results.json").read_text())
    assert results["results"][0]["intervals"]["c@1"][0] < results["results"][0]["scores"]["c@1"]


def test_bounded_memory_of_many_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random swaps of a hundred thousand questions take blocks, not a matrix of all."""
    from abstain.stats import randomisation

    joint = np.array([[[30_000, 9_000, 4_000], [9_300, 30_000, 4_000], [4_000, 4_250, 5_000]]])
    monkeypatch.setattr(randomisation, "BLOCK_BYTES", 1 << 22)
    whole_matrix = 3000 * 3 * joint.sum() / 8
    tracemalloc.start()
    (found,) = randomisation.randomise(ab.measure("c@1"), joint, trials=3000, exact=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < whole_matrix / 4
    f = difference(ab.measure("c@1"))
    flat = joint[0].ravel().astype(float)
    z = float(f.value(flat) / standard_error(f, flat, None))
    assert 0.01 < found.p < 0.5
    assert found.p == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.03)


@pytest.mark.slow
def test_bounded_memory_of_many_trials_of_precision() -> None:
    """300,000 trials: their tables, margins and derivatives are never all there at once."""
    from abstain.stats.randomisation import randomise

    joint = np.array([[[200, 60, 80], [70, 200, 60], [90, 60, 200]]])
    tracemalloc.start()
    (found,) = randomise(ab.measure("precision"), joint, trials=300_000, exact=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.05 < found.p < 1
    assert peak < 300_000 * 9 * 8 * 10


@pytest.mark.slow
def test_bounded_memory_of_many_topics() -> None:
    """A bootstrap of 2,000 topics by 10,000 resamples: no table of all draws (160 MB) is held."""
    generator = np.random.default_rng(0)
    frame = pl.DataFrame({"topic": [str(i) for i in range(2000)]}).with_columns(
        x=pl.Series(generator.random(2000)), y=pl.Series(generator.random(2000))
    )
    tracemalloc.start()
    scores(frame, test="bootstrap", interval="delta")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 120e6


def test_a_reference_takes_no_table_of_all_pairs() -> None:
    """400 runs: joint counts of each with one, not of every run with every other."""
    from abstain.features.compare.comparison import Options, common_questions
    from abstain.features.compare.outcomes import OutcomeComparison

    right = np.random.default_rng(0).integers(0, 2, size=400 * 50)
    rows = pl.DataFrame(
        {
            "run": [f"r{i // 50:03}" for i in range(400 * 50)],
            "question": [str(i % 50) for i in range(400 * 50)],
            "grade": ["right" if own else "wrong" for own in right],
        }
    )
    read = ab.read_judged(rows)
    common = common_questions(read, read.policy)
    table = OutcomeComparison(common, ab.measure("c@1"), Options(against="r007"), (), None)
    wanted = table.wanted
    tracemalloc.start()
    joint = table.joint
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (400 * 3) ** 2 * 8 / 4
    expected = np.zeros((3, 3))
    np.add.at(expected, tuple(table.cells.of(table.codes[run]) for run in (7, 300)), 1)
    assert joint[wanted.index((300, 7))].tolist() == expected.tolist()


@pytest.mark.parametrize("settings", [{}, {"test": "bootstrap"}, {"test": "mcnemar"}])
def test_progress_is_told_to_the_end(settings: dict[str, Any]) -> None:
    frame = pl.DataFrame(
        {
            "run": [run for run in "xyz" for _ in range(6)],
            "question": [f"q{i}" for i in range(6)] * 3,
            "grade": list("AABCABBBACABCCAABA"),
        }
    )
    seen: list[tuple[int, int]] = []
    judged(
        frame, resamples=100, progress=lambda done, total: seen.append((done, total)), **settings
    )
    assert seen[-1] == (3, 3)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_progress_of_scores() -> None:
    frame = pl.DataFrame({"topic": ["1", "2"], "x": [0.1, 0.2], "y": [0.3, 0.1], "z": [0.5, 0.4]})
    seen: list[tuple[int, int]] = []
    scores(frame, resamples=100, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
