"""Measures of other packages: found by their entry point, held to what ours are held to."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import abstain as ab
from abstain.measures import (
    MeanOf,
    Parameter,
    Proportion,
    Undefinedness,
    confident,
    counting,
    credit,
    definitions,
    kinds,
    measure,
    ranked,
)
from tests.helpers import ROOT
from tests.snapshots import refuses, says

EXAMPLE = Path(__file__).parent / "third_party" / "half_measures.py"


def install(folder: Path, module: str, text: str) -> None:
    """What an installer leaves behind of a package with one module and its entry point."""
    (folder / f"{module}.py").write_text(dedent(text), encoding="utf-8")
    known = folder / f"{module}-1.5.dist-info"
    known.mkdir()
    (known / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.5\n")
    (known / "entry_points.txt").write_text(f"[abstain.measures]\nsome = {module}\n")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with the folder's packages."""
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path, "COLUMNS": "80", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def abstain(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line with the folder's packages."""
    return run(folder, "-m", "abstain", *arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A package that declares half-c@1; a gold of ten, 4 right, 2 wrong and 4 left blank."""
    install(tmp_path, "half_measures", EXAMPLE.read_text(encoding="utf-8"))
    rows = [f"q{i},{'a' if i < 4 else 'b' if i < 6 else ''}" for i in range(10)]
    gold = [f"q{i},a" for i in range(10)]
    (tmp_path / "gold.csv").write_text("\n".join(["question,correct", *gold]))
    (tmp_path / "run.csv").write_text("\n".join(["question,answer", *rows]))
    return tmp_path


HALF = 0.4 * (1 + 0.4 / 2)
"""By hand: c = 0.4, u = 0.4, and a blank is worth 0.2."""


@pytest.mark.slow
def test_the_command_line_scores_with_it(folder: Path) -> None:
    done = abstain(folder, "score", "gold.csv", "run.csv", "-m", "half-c@1", "--format", "json")
    assert done.stderr == ""
    (row,) = json.loads(done.stdout)["results"]
    assert row["scores"]["half-c@1"] == pytest.approx(HALF)


@pytest.mark.slow
def test_the_command_line_explains_it(folder: Path) -> None:
    done = abstain(folder, "explain", "half-c@1")
    assert (done.returncode, done.stderr) == (0, "")
    said = " ".join(done.stdout.split())
    says(said, "1")
    for part in (
        "formula c·(1 + u/2)",
        "with c right, w wrong, u unanswered",
        "a blank is credited κ = (half-c@1 − c)/u right answers",
        "range 0 to 1, higher is better",
        "undefined when there are no questions",
        "source a worked example",
        # 237 right, 156 wrong and 107 blank of 500: κ = c/2
        f"half-c@1 = {0.474 * (1 + 0.107):.4f}, κ = 0.2370, p* = {0.237 / (1 + 0.107):.4f}",
    ):
        assert part in said


@pytest.mark.slow
def test_the_list_has_it_beside_ours(folder: Path) -> None:
    done = abstain(folder, "measures", "--format", "json")
    names = [d["name"] for d in json.loads(done.stdout)["measures"]]
    counts = len(definitions("counts"))
    assert names[counts] == "half-c@1"
    assert [n for n in names if n != "half-c@1"] == list(definitions())


@pytest.mark.slow
def test_python_scores_and_compares_with_it(folder: Path) -> None:
    script = """
        import sys
        import abstain as ab
        from abstain.stats.intervals import interval

        ab.measure("c@1"), ab.measure("P@10")
        assert "half_measures" not in sys.modules, "our own names need no plug-in"
        result = ab.score("gold.csv", "run.csv", measures=["Half-C@1"])
        own = ab.measure("half-c@1")
        assert str(own) == "half-c@1" and own in {ab.measure(own)}
        assert ab.list_measures().count("half-c@1") == 1
        counts = ab.Counts(4, 2, unanswered_empty=4)
        print(own(counts), own.kappa(counts), own.break_even(counts))
        print(own(ab.CountsArray.of([counts, counts]))[1], own(counts) in interval(own, counts))
    """
    done = run(folder, "-c", dedent(script))
    assert done.stderr == ""
    first, second = done.stdout.splitlines()
    # p* = (∂M/∂u − ∂M/∂w)/(∂M/∂c − ∂M/∂w) = (c/2)/(1 + u/2)
    assert [float(x) for x in first.split()] == pytest.approx([HALF, 0.2, 0.2 / 1.2], abs=1e-8)
    assert second.split() == [repr(HALF), "True"]


@pytest.mark.slow
def test_our_own_measures_load_no_plug_in(folder: Path) -> None:
    (folder / "half_measures.py").write_text("raise SystemExit('loaded')")
    assert abstain(folder, "explain", "c@1").returncode == 0
    assert abstain(folder, "score", "gold.csv", "run.csv", "-m", "F").returncode == 0


BROKEN = {
    "import a_module_that_is_not_there": "ModuleNotFoundError: No module named 'a_module_that",
    "1 / 0": "ZeroDivisionError: division by zero",
    """
    from abstain.measures import credit
    @credit("c@1")
    def mine(c, w, u):
        "Mine."
        return c
    """: "there is a measure 'c@1' already: choose another name",
    """
    from abstain.measures import credit
    @credit("double")
    def double(c, w, u):
        "Twice."
        return 2 * c
    """: "measure 'double' is 2 for Counts(right=1",
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "why"), BROKEN.items())
def test_a_broken_plug_in_is_named_in_one_line(folder: Path, text: str, why: str) -> None:
    install(folder, "broken", text)
    for arguments in (["explain", "nosuch"], ["explain", "acuracy"]):
        done = abstain(folder, *arguments)
        assert done.returncode == 2
        says(done.stderr, "'some'", "1.5")
        assert why in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert abstain(folder, "explain", "half-c@1").returncode == 0, "others go on"
    assert abstain(folder, "explain", "accuracy").returncode == 0
    assert "half-c@1" in abstain(folder, "measures").stdout


# ------------------------------------------------------------------------------ declarations


@pytest.fixture
def clean() -> Iterator[None]:
    """Forget what a test declares."""
    list(definitions())
    known, names = dict(kinds.REGISTRY), dict(kinds.NAMES)
    yield
    for own, before in ((kinds.REGISTRY, known), (kinds.NAMES, names)):
        own.clear()
        own.update(before)  # type: ignore[arg-type]


K = ab.Counts(right=4, wrong=2, unanswered_right=1, unanswered_wrong=2, unanswered_empty=1)


@pytest.mark.usefixtures("clean")
def test_one_line_declares_a_measure() -> None:
    @credit("bold")
    def bold(c: float, w: float, u: float) -> float:
        """Right answers."""
        return c

    own = measure("bold")
    assert own(K) == 0.4
    assert own.kappa(K) == pytest.approx(0, abs=1e-9)
    assert own.break_even(K) == pytest.approx(0, abs=1e-9)
    d = own.definition
    assert (d.summary, d.formula) == ("Right answers.", "bold(c, w, u)")
    assert (d.source, d.bounds()) == (f"declared in {__name__}", (0, 1))
    assert not d.divides_by
    assert not d.studentised
    assert d.proportion is None


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("name", ["accuracy", "c@1", "F", "precision", "credit(t=0.3)", "UF"])
def test_what_is_derived_is_what_we_declare(name: str) -> None:
    """κ and p* from the formula alone, against those worked out by hand for our own."""
    ours: Any = measure(name)

    @credit("same", bounds=ours.bounds, undefined=ours.definition.undefined)
    def same(c: Any, w: Any, u: Any, n: Any) -> Any:
        """The same."""
        counts = type("Tally", (), {"right": c, "wrong": w, "unanswered": u, "n": n})()
        return ours.definition.function(counts, **ours.arguments)

    derived: Any = measure("same")
    if derived.definition.kappa is not None:
        assert derived.definition.kappa_text == "(same − c)/u"
    assert derived.definition.break_even_text == "(∂M/∂u − ∂M/∂w)/(∂M/∂c − ∂M/∂w)"
    tried = [K, ab.Counts(3, 1), ab.Counts(1, 5, unsplit=2), ab.Counts(2, 2, unsplit=7)]
    for counts in (*tried, ab.CountsArray.of(tried)):
        if ours.definition.kappa is None:
            assert derived.definition.kappa is None
        else:
            assert derived.kappa(counts) == pytest.approx(ours.kappa(counts), abs=1e-5)
        assert derived.break_even(counts) == pytest.approx(ours.break_even(counts), abs=1e-5)


@pytest.mark.usefixtures("clean")
def test_a_measure_that_ignores_what_is_right_has_no_break_even() -> None:
    @credit("answered", kappa=None)
    def answered(c: Any, w: Any, u: Any) -> Any:
        """The share answered."""
        return c + w

    own = measure("answered")
    assert math.isnan(own.break_even(K))
    assert math.isnan(own.break_even(ab.CountsArray.of([K]))[0])


@pytest.mark.usefixtures("clean")
def test_a_cell_run_twice_declares_the_same_measure() -> None:
    for weight in (0.25, 0.5):

        @credit("weighed", parameters=(Parameter("t", "a weight", 0, 1, default=weight),))
        def weighed(c: float, w: float, u: float, *, t: float) -> float:
            """Blanks by a weight."""
            return c + t * u

    assert measure("weighed")(K) == pytest.approx(0.4 + 0.5 * 0.4)
    assert str(measure("weighed(t=0.25)")) == "weighed(t=0.25)"
    with refuses(ab.UsageError, "'weighed'"):

        @counting("weighed")
        def other(k: Any) -> Any:
            """Another one."""
            return k.right / k.n


@pytest.mark.usefixtures("clean")
def test_a_proportion_has_its_intervals_and_its_test() -> None:
    from abstain.stats.intervals import interval

    @counting(
        "candidates-missed",
        proportion=Proportion("UR", "UR + UW"),
        needs_candidates=True,
        undefined=(
            Undefinedness(lambda k: k.unanswered_right + k.unanswered_wrong == 0, "no candidate"),
        ),
        higher_is_better=False,
    )
    def missed(k: Any) -> Any:
        """Of the candidates behind blanks, the share that is right."""
        return k.unanswered_right / (k.unanswered_right + k.unanswered_wrong)

    own = measure("candidates-missed")
    assert own.definition.studentised, "it divides by fewer than all questions"
    assert own(K) == pytest.approx(1 / 3)
    assert own.why_undefined(ab.Counts(1, unsplit=1)) is not None
    assert interval(own, K, method="wilson").low == pytest.approx(0.0615, abs=5e-5)
    # Wilson's interval of 1 in 3: Newcombe 1998, (2np + z² ± z √(z² + 4npq)) / (2(n + z²))


@pytest.mark.usefixtures("clean")
def test_answers_and_rankings_too() -> None:
    @confident("surprise", mean=MeanOf(lambda a: abs(a.confidence - a.right), "answers"))
    def surprise(a: Any) -> Any:
        """How far confidence is from the truth."""
        return a.total(abs(a.confidence - a.right)) / a.size

    own: Any = measure("surprise")
    assert own([1, 0], [0.75, 0.5]) == 0.375

    @ranked("first")
    def first(rankings: Any) -> Any:
        """Whether the first document has a gain."""
        return rankings.count((rankings.rank == 1) & (rankings.grade > 0)) * 1.0

    assert measure("first")([0, 1], pool=1) == 0
    assert measure("first")([1, 1], pool=2) == 1


def _credit(function: Any, **facts: Any) -> None:
    credit(facts.pop("name", "own"), **facts)(function)


def fine(c: Any, w: Any, u: Any) -> Any:
    """Right answers."""
    return c


def _undocumented(c: Any, w: Any, u: Any) -> Any:
    return c


def _divides(c: Any, w: Any, u: Any) -> Any:
    """Precision without a rule."""
    return c / (c + w)


def _branches(c: Any, w: Any, u: Any) -> Any:
    """Takes no arrays."""
    return c if u > 0 else c / 2


def _counts(c: Any, w: Any, u: Any, n: Any) -> Any:
    """Not a function of shares."""
    return c / (n + 1)


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(
    ("function", "facts", "said"),
    [
        (fine, {"name": "c_at_1"}, ("'c_at_1'",)),
        (fine, {"aliases": ("F1",)}, ("'F1'",)),
        (fine, {"name": "own(t)"}, ()),
        (fine, {"name": " own"}, ()),
        (fine, {"bounds": (1.0, 0.0)}, ("1", "0")),
        (fine, {"bounds": (1.0, 1.0)}, ("1",)),
        (fine, {"bounds": (0.5, 1.0)}, ("0.5", "1")),
        (fine, {"kappa": lambda c, w, u: 1 + 0 * u}, ()),
        (fine, {"proportion": Proportion("W")}, ()),
        (_undocumented, {}, ()),
        (_divides, {}, ()),
        (_branches, {"kappa": None}, ()),
        (_counts, {"kappa": None}, ()),
    ],
)
def test_a_declaration_that_does_not_hold_is_refused(
    function: Any, facts: dict[str, Any], said: tuple[str, ...]
) -> None:
    before = list(definitions())
    with pytest.raises(ab.UsageError) as caught:
        _credit(function, **facts)
    says(str(caught.value), *said)
    assert list(definitions()) == before


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("declare", [credit, counting, confident, ranked])
def test_an_unknown_fact_is_refused(declare: Any) -> None:
    with pytest.raises(TypeError, match="colour"):
        declare("blue", colour="x")(fine)


@pytest.mark.usefixtures("clean")
def test_a_proportion_says_its_formula() -> None:
    @counting("candidates", proportion=Proportion("UR + UW"), needs_candidates=True)
    def candidates(k: Any) -> Any:
        """The share of the questions that were left blank with a candidate."""
        return (k.unanswered_right + k.unanswered_wrong) / k.n

    d = measure("candidates").definition
    assert d.formula == "(UR + UW)/n"


@pytest.mark.usefixtures("clean")
def test_candidates_have_to_be_declared() -> None:
    with pytest.raises(ab.UsageError, match="declare needs_candidates"):

        @counting("forced")
        def forced(k: Any) -> Any:
            """With the candidates."""
            return (k.right + k.unanswered_right) / k.n


@pytest.mark.usefixtures("clean")
def test_what_becomes_of_nil_queries_has_to_be_declared() -> None:
    with refuses(ab.UsageError):

        @ranked("found", undefined=measure("R").definition.undefined)
        def found(rankings: Any) -> Any:
            """The share of what there is to find that is listed."""
            pool = rankings.per_row(rankings.pool.count(rankings.pool.grade > 0))
            return rankings.count(rankings.grade > 0) / pool.clip(1)


@pytest.mark.usefixtures("clean")
def test_a_standard_error_needs_an_influence() -> None:
    with refuses(ab.UsageError):

        @confident("sure", studentised=True)
        def sure(a: Any) -> Any:
            """The mean confidence."""
            return a.total(a.confidence) / a.size


def test_the_manual_shows_this_code() -> None:
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    assert EXAMPLE.read_text(encoding="utf-8") in text
