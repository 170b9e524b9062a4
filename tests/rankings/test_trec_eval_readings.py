"""`abstain trec_eval` against trec_eval 9.0.8 itself, byte for byte.

Its source is compiled where there is a compiler and the archive (shared data, `peers/`). Without a
compiler the expected outputs in the archive are what is compared with.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abstain.features.trec_eval.analysis import read
from abstain.measures.trec_eval import TEXTS, asked, figures, values_of
from tests.helpers import Here, needs
from tests.rankings.collections_by_hand import write
from tests.snapshots import says

ARCHIVE = "peers/trec_eval-9.0.8.tar.gz"
Numbers = Mapping[str, Mapping[str, float]]

# ---------------------------------------------------------------- the program, and its own tests

OWN_TESTS = [
    ("out.test", "qrels.test results.test"),
    ("out.test.a", "-m all_trec qrels.test results.test"),
    ("out.test.aq", "-m all_trec -q qrels.test results.test"),
    ("out.test.aqc", "-m all_trec -q -c qrels.test results.trunc"),
    ("out.test.aqcM", "-m all_trec -q -c -M100 qrels.test results.trunc"),
    ("out.test.aql", "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test"),
    (
        "out.test.meas_params",
        "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
        "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 "
        "-mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20 qrels.test results.test",
    ),
]
"""From its Makefile, without those of preferences, of judgment groups and of z-scores."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its source, unpacked."""
    folder = tmp_path_factory.mktemp("trec_eval")
    with tarfile.open(needs(ARCHIVE)) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.iterdir())


@pytest.fixture(scope="module")
def program(source: Path) -> Path:
    """The program, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler to build trec_eval with")
    files = [str(path) for path in source.glob("*.c") if path.name != "m_ndcg_p.c"]
    made = source / "built"
    flags = ["-w", f"-I{source}", '-DVERSIONID="9.0.8"', "-o", str(made)]
    done = subprocess.run(
        [compiler, *flags, *files, "-lm"], capture_output=True, check=False, text=True
    )
    if done.returncode:
        pytest.skip(f"trec_eval does not compile here: {done.stderr.splitlines()[:1]}")
    return made


def theirs(program: Path, args: Sequence[str | Path]) -> tuple[int, str]:
    done = subprocess.run([program, *args], capture_output=True, check=False)
    return done.returncode, done.stdout.decode()


@pytest.mark.parametrize(("expected", "line"), OWN_TESTS, ids=[name for name, _ in OWN_TESTS])
def test_its_own_expected_outputs(source: Path, here: Here, expected: str, line: str) -> None:
    tests = source / "test"
    args = [str(tests / w) if (tests / w).is_file() else w for w in line.split()]
    assert here("trec_eval", *args).out == (tests / expected).read_text()


# -------------------------------------------------------------------------- runs that are made up

DOCS = [*(f"d{i}" for i in range(9)), "é", "D1", "d10"]
SCORES = st.sampled_from(
    [1.0, 2.0, 0.5, -1.0, 1 + 1e-9, 1 - 1e-9, 16777216.0, 16777217.0, 1e39, -0.0, float("inf")]
)
"""Several of them are one number in single precision."""
QUERIES = st.sampled_from(["q1", "q2", "q10", "9", "Q"])
RUNS = st.dictionaries(
    QUERIES, st.dictionaries(st.sampled_from([*DOCS, "u1", "u2"]), SCORES, min_size=1), min_size=1
)
JUDGED = st.dictionaries(st.sampled_from([*DOCS, "x"]), st.integers(-2, 4), min_size=1)
QRELS = st.dictionaries(QUERIES, JUDGED, min_size=1)
FLAGS = st.lists(st.sampled_from(["-q", "-c", "-n", "-J", "-qc", "-N30"]), unique=True)
LEVELS = st.none() | st.integers(0, 5)
LENGTHS = st.none() | st.integers(0, 6)
MEASURES = st.lists(
    st.sampled_from(
        [
            *("all_trec", "all_trec", "official", "set", "yaap", "map", "relstring.3"),
            *("P.3,1", "recall.2", "ndcg_cut.3,1,2", "map_cut.2", "success.2", "relative_P.1,3"),
            *("ndcg.1=0.4,2=3", "G.1=0.4,0=0.2", "Rndcg.1=3,2=1", "ndcg_rel.1=0.5,3=0"),
            *("Rprec_mult.0.3,3", "iprec_at_recall.0.99,0.3", "11pt_avg.0.9,0.1,0.5"),
            *("utility.1,-0.3,0.2,0.1", "set_F.0.25", "infAP", "gm_bpref", "binG"),
        ]
    ),
    max_size=3,
)


def sane(qrels: Numbers) -> dict[str, dict[str, float]]:
    """trec_eval crashes where a query has negative grades alone: each has one that is not."""
    return {q: {**docs, "judged": 0} for q, docs in qrels.items()}


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    qrels=QRELS, run=RUNS, flags=FLAGS, level=LEVELS, most=LENGTHS, names=MEASURES, data=st.data()
)
def test_every_option_byte_for_byte(
    program: Path,
    here: Here,
    qrels: Numbers,
    run: Numbers,
    flags: list[str],
    level: int | None,
    most: int | None,
    names: list[str],
    data: st.DataObject,
) -> None:
    write(here.folder / "qrels", qrels=sane(qrels))
    rows = write(here.folder / "run", run=run).read_text().splitlines()
    rows = data.draw(st.permutations(rows))
    (here.folder / "run").write_text("".join(f"{row}{i % 2}\n" for i, row in enumerate(rows)))
    args = [*flags, *(part for name in names for part in ("-m", name))]
    args += [] if level is None else ["-l", str(level)]
    args += [] if most is None else [f"-M{most}"]
    code, out = theirs(program, [*args, "qrels", "run"])
    ours = here("trec_eval", *args, "qrels", "run")
    assert (ours.code == 0, ours.out) == (code == 0, out if code == 0 else "")


@pytest.mark.slow
@given(qrels=QRELS, run=RUNS, level=st.integers(1, 3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_measure_of_pytrec_eval(
    tmp_path: Path, qrels: Numbers, run: Numbers, level: int
) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    gold = {q: {d: int(g) for d, g in docs.items()} for q, docs in sane(qrels).items()}
    evaluator = pytrec_eval.RelevanceEvaluator(
        gold, pytrec_eval.supported_measures, relevance_level=level
    )
    expected = evaluator.evaluate(run)
    lists, _ = read(
        str(write(tmp_path / "qrels", qrels=gold)), str(write(tmp_path / "run", run=run))
    )
    names = [name for name in asked(["all_trec"]) if name not in TEXTS]
    for figure in (each for name in names for each in figures(name)):
        values = values_of(figure, lists, level, 0)
        values = np.log(values) if figure.definition.geometric else values
        by_query = dict(zip(lists.queries, values.tolist(), strict=True))
        for query, scores in expected.items():
            if query in gold:
                assert by_query[query] == pytest.approx(scores[figure.name], abs=1e-12), figure.name


# ------------------------------------------------------------------------------------- odd files

GOLD = "q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"
LINES = "q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 a 1 1 t\n"
ODD = {
    "no newline at the end": (GOLD.rstrip(), LINES.rstrip()),
    "tabs": (GOLD.replace(" ", "\t"), LINES.replace(" ", "\t")),
    "spare blanks": (GOLD.replace(" ", "   "), " " + LINES.replace(" ", "  ")),
    "carriage returns": (GOLD.replace("\n", "\r\n"), LINES.replace("\n", "\r\n")),
    "blank lines in the run": (GOLD, "\n" + LINES.replace("\n", "\n\n")),
    "more columns in the run": (GOLD, LINES.replace(" t\n", " t more\n")),
    "other tags": (GOLD, LINES.replace("1 1 t", "1 1 last")),
    "grades that are decimals": (GOLD.replace(" 2\n", " 2.7\n"), LINES),
    "a grade that is text": (GOLD.replace(" 2\n", " x\n"), LINES),
    "scores that are text": (GOLD, LINES.replace(" 2 1 t", " 2 x t")),
    "scores that begin as numbers": (GOLD, LINES.replace(" 1 2 t", " 1 2,5 t")),
    "tiny and huge scores": (GOLD, LINES.replace(" 1 2 t", " 1 1e-50 t").replace("2 1 t", "2 0 t")),
    "a query nobody judged": (GOLD, LINES + "q7 Q0 z 1 1 t\n"),
    "a query twice in the file": (GOLD, LINES + "q1 Q0 z 1 5 t\n"),
    "a blank line in the qrels": (GOLD + "\n", LINES),
    "three columns in the qrels": (GOLD + "q2 0 b\n", LINES),
    "five columns in the qrels": (GOLD + "q2 0 b 1 1\n", LINES),
    "five columns in the run": (GOLD, LINES + "q2 Q0 z 1 1\n"),
    "a document twice in the run": (GOLD, LINES + "q2 Q0 a 1 1 t\n"),
    "a document twice in the qrels": (GOLD + "q2 0 a 1\n", LINES),
    "an empty run": (GOLD, ""),
    "empty qrels": ("", LINES),
    "no query in common": (GOLD, "q7 Q0 z 1 1 t\n"),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_files(program: Path, here: Here, case: str) -> None:
    """What it reads is read to the same end; what it refuses is refused in one line."""
    for name, text in zip(("qrels", "run"), ODD[case], strict=True):
        here.write(name, text)
    args = ["-q", "-m", "all_trec", "qrels", "run"]
    code, out = theirs(program, args)
    if code == 0:
        assert here("trec_eval", *args).out == out
    else:
        here.refuses("trec_eval", *args)


def test_what_is_refused_has_its_line(here: Here) -> None:
    here.write("qrels", GOLD)
    here.write("run", LINES.replace(" 2 1 t", " 2 nan t"))
    said = here.refuses("trec_eval", "qrels", "run")
    says(said, "2", "'nan'")
    here.write("run", LINES)
    said = here.refuses("trec_eval", "run", "qrels")
    assert said.startswith("run:1: 6 columns, expected 4")
    assert "the judgments come first" in said


WRONG = ["-mnope", "-mP.0", "-mP.5,5", "-mP.", "-mutility.1", "-mndcg.3", "-Rprefs", "-x", "-mP.x"]


@pytest.mark.parametrize("args", WRONG)
def test_options_that_it_refuses(program: Path, here: Here, args: str) -> None:
    here.write("qrels", GOLD)
    here.write("run", LINES)
    assert theirs(program, [args, "qrels", "run"])[0] != 0
    here.refuses("trec_eval", args, "qrels", "run")


def test_a_query_with_negative_grades_alone_is_scored(here: Here) -> None:
    """trec_eval crashes there, or cannot compute; nothing is relevant, so all is 0."""
    here.write("qrels", "q1 0 a -2\nq2 0 a 1\n")
    here.write("run", "q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\n")
    said = here("trec_eval", "-q", "-m", "map", "-m", "relstring", "qrels", "run").out
    assert said.splitlines() == [
        "map                   \tq1\t0.0000",
        "relstring             \tq1\t'.'",
        "map                   \tq2\t1.0000",
        "relstring             \tq2\t'1'",
        "map                   \tall\t0.5000",
    ]


def test_figures_by_their_printed_names(here: Here) -> None:
    here.write("qrels", GOLD)
    here.write("run", LINES)
    said = here("trec_eval", "-m", "P_1", "-m", "P_2", "-m", "ndcg_cut_5", "qrels", "run").out
    assert [line.split()[0] for line in said.splitlines()] == ["P_1", "P_2", "ndcg_cut_5"]


def test_rank_prints_the_same(here: Here) -> None:
    here.write("qrels", GOLD)
    here.write("run", LINES)
    names = [
        part for name in ("map", "ndcg_cut.5,10", "gm_map", "num_ret") for part in ("-m", name)
    ]
    theirs_ = here("trec_eval", "-q", "-l2", *names, "qrels", "run").out
    flags = ("--trec-eval", "--per-query", "-l", "2", "--format", "trec_eval")
    ours = here("rank", *flags, *names, "qrels", "run").out
    assert sorted(ours.splitlines()) == sorted(theirs_.splitlines())


def test_judged_documents_alone(here: Here) -> None:
    """Two documents that nobody judged stand before the relevant one: 1/3, and 1 without them."""
    here.write("qrels", "q 0 a 1\n")
    here.write("run", "q Q0 x 1 3 t\nq Q0 y 2 2 t\nq Q0 a 3 1 t\n")
    for flags, expected in (([], "0.3333"), (["-J"], "1.0000")):
        said = here("rank", *flags, "-m", "RR", "--format", "trec_eval", "qrels", "run").out
        assert said.split() == ["recip_rank", "all", expected]
