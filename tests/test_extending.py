"""Packages that add to abstain, installed into an environment of their own; broken ones, idle."""

from __future__ import annotations

import json
import os
import re
import site
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import abstain as ab
from abstain import entry_points, registry
from abstain.io.readers import Reader
from abstain.measures import definitions, measure
from abstain.measures.registry import measure_of
from abstain.testing import check_measure, check_reader
from tests.helpers import ROOT
from tests.snapshots import says

PAGE, GUIDE = ROOT / "docs" / "extending.md", ROOT / "CONTRIBUTING.md"
FILES = re.compile(r"```\w+ file=(\S+)\n(.*?)```", re.S)
GOLD = "question,correct\nq1,A\nq2,B\nq3,A\n"
RUNS = {"a": "question,answer\nq1,A\nq2,\nq3,\n", "b": "question,answer\nq1,\nq2,\nq3,B\n"}
LOG = '{"quiz": "q1", "said": "Lima", "right": true}\n{"quiz": "q2", "said": "", "right": null}\n'


def package(folder: Path) -> Path:
    """The package of the manual, with the files of its feature from CONTRIBUTING."""
    files = dict(FILES.findall(PAGE.read_text(encoding="utf-8")))
    for name, text in FILES.findall(GUIDE.read_text(encoding="utf-8")):
        if "silence" in name and not name.endswith("__init__.py"):
            own = text.replace("abstain.features.silence", "silence")
            files[f"silence/{Path(name).name}"] = own
    assert len(files) == 7
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def run(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    hidden = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [str(python), *words],
        cwd=folder,
        env=env | {"COLUMNS": "80", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )


def made(place: Path) -> Path:
    """The Python of a new environment that sees ours."""
    done = run(Path(sys.executable), place, "-m", "venv", "--without-pip", str(place / "venv"))
    assert done.returncode == 0, done.stderr
    (packages,) = (place / "venv").glob("lib/python*/site-packages")
    ours = [str(ROOT / "src"), *site.getsitepackages()]
    (packages / "ours.pth").write_text("\n".join(ours))
    return place / "venv" / "bin" / "python"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the package of the manual, installed by pip."""
    place = tmp_path_factory.mktemp("environment")
    python = made(place)
    asked = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    source = str(package(place / "quiz-kit"))
    done = run(
        Path(sys.executable), place, "-m", "pip", "--python", str(python), "install", *asked, source
    )
    if done.returncode:
        pytest.skip(f"pip cannot build a package here: {done.stderr.strip().splitlines()[-1]}")
    return python


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "gold.csv").write_text(GOLD)
    for name, text in RUNS.items():
        (tmp_path / f"{name}.csv").write_text(text)
    (tmp_path / "log.jsonl").write_text(LOG)
    return tmp_path


EVERYWHERE = """
import abstain as ab
from abstain.cli import run

def out(*words):
    code = run(list(words))
    assert code == 0, (words, code)

out("measures"); out("explain", "half-c@1"); out("--help"); out("silence", "--help")
out("score", "gold.csv", "a.csv", "b.csv", "-m", "half-c@1", "--interval")
out("compare", "gold.csv", "a.csv", "b.csv", "-m", "half-c@1", "--resamples", "100")
out("score", "gold.csv", "a.csv", "-m", "half-c@1", "-o", "page.html")
out("score", "--judged", "log.jsonl", "-m", "half-c@1", "--interval")
out("compare", "--judged", "one=log.jsonl", "two=log.jsonl", "-m", "half-c@1")
out("silence", "gold.csv", "a.csv", "b.csv")
out("silence", "gold.csv", "a.csv", "b.csv", "-o", "silence.html")
out("silence", "gold.csv", "a.csv", "b.csv", "-o", "silence.json")
found = ab.read("gold.csv", ["a.csv", "b.csv"]).silence()
assert ab.silence("gold.csv", ["a.csv", "b.csv"]) == found
assert ab.load("silence.json").rows == found.rows
assert [row.question for row in found.rows] == ["q2"]
assert not hasattr(ab.Evaluation, "silence") and not hasattr(ab.Rankings, "silence")
assert len(ab.plugins()) == 3 and not any(one.fault for one in ab.plugins())
"""


@pytest.mark.slow
def test_a_package_adds_a_measure_a_reader_and_a_feature(environment: Path, here: Path) -> None:
    done = run(environment, here, "-c", EVERYWHERE)
    assert (done.returncode, done.stderr) == (0, "")
    for part in ("half-c@1", "Commands of other packages", "\n  silence "):
        assert part in done.stdout
    # of a: c = 1/3 and u = 2/3, so 1/3 · (1 + 1/3); of the log: 1/2 · (1 + 1/4)
    assert "0.4444" in done.stdout
    assert "0.6250" in done.stdout
    assert "half-c@1" in (here / "page.html").read_text(encoding="utf-8")
    assert "q2" in (here / "silence.html").read_text(encoding="utf-8")
    listed = run(environment, here, "-m", "abstain", "plugins")
    shown = FILES.sub("", PAGE.read_text(encoding="utf-8"))
    assert "\n".join(line.rstrip() for line in listed.stdout.strip().splitlines()) in shown


COUNTED = """
import sys
from abstain.cli import run
code = run({words!r})
print(code, *sorted(sys.modules), file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [["--help"], ["score", "gold.csv", "a.csv"], ["explain", "c@1"], ["score", "--help"]],
    ids=" ".join,
)
def test_what_is_not_used_is_not_imported(
    environment: Path, bare: Path, here: Path, words: list[str]
) -> None:
    """The same modules with and without a package that adds something; none of them is its."""
    code = COUNTED.format(words=words)
    with_it = run(environment, here, "-c", code)
    without = run(bare, here, "-c", code)
    assert with_it.stderr.split() == without.stderr.split()
    assert with_it.stderr.startswith("0 ")
    if words != ["--help"]:
        assert with_it.stdout == without.stdout
    lines = with_it.stdout.splitlines()
    assert "".join(lines).startswith("".join(without.stdout.splitlines()))


def write(folder: Path, group: str, name: str, value: str, text: str) -> None:
    """What an installer leaves behind of a package with one module."""
    module = value.partition(":")[0]
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    known = folder / f"{module}-1.5.dist-info"
    known.mkdir()
    (known / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.5\n")
    (known / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")


FEATURE = """
from abstain.registry import Feature
FEATURE = Feature(name="{name}", help="x", package="odd", command="c:c", {more})
"""
BROKEN = {
    "raises": ("abstain.features", "odd", "1 / 0", "ZeroDivisionError: division by zero"),
    "is no feature": ("abstain.features", "odd", "FEATURE = 1", "expected a Feature"),
    "takes a command": (
        *("abstain.features", "score", FEATURE.format(name="score", more="")),
        "there is a 'score' already",
    ),
    "takes a method": (
        *("abstain.features", "odd"),
        FEATURE.format(name="odd", more='methods={"Evaluation.score": "x:x"}'),
        "there is a 'Evaluation.score' already",
    ),
    "has two names": (
        *("abstain.features", "odd", FEATURE.format(name="other", more="")),
        "names a feature 'other'",
    ),
    "a reader raises": ("abstain.readers", "odd", "import nowhere", "No module named 'nowhere'"),
    "measures raise": ("abstain.measures", "odd", "import nowhere", "No module named 'nowhere'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_one_is_one_line_and_stops_nothing_else(here: Path, kind: str) -> None:
    group, name, text, why = BROKEN[kind]
    write(here, group, name, "odd:FEATURE" if group != "abstain.measures" else "odd", text)
    plain = Path(sys.executable)
    code = "import sys; from abstain.cli import run; sys.exit(run(sys.argv[1:]))"
    listed = run(plain, here, "-c", code, "plugins")
    assert (listed.returncode, listed.stderr) == (1, "")
    assert listed.stdout.count("plug-in '") == 1
    assert why in " ".join(listed.stdout.split())
    for words in (
        ["score", "gold.csv", "a.csv"], ["measures"], ["--help"], ["explain", "c@1"],
        ["score", "--judged", "inspect.json", "-m", "c@1"],
    ):  # fmt: skip
        (here / "inspect.json").write_text('{"outcome": "right", "question": "q1"}\n')
        done = run(plain, here, "-c", code, *words)
        assert (done.returncode, done.stderr) == (0, ""), words
    if group == "abstain.features" and name == "odd":
        done = run(plain, here, "-c", code, "odd", "gold.csv")
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert why in done.stderr


def test_two_plug_ins_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        SimpleNamespace(
            name="a", value=f"{at}:X", group="abstain.readers", dist=None, load=lambda: 1
        )
        for at in ("one", "two")
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    entry_points.plugins.cache_clear()
    try:
        loaded = entry_points.load_plugins("abstain.readers", lambda plugin, item: ("a", item))
    finally:
        entry_points.plugins.cache_clear()
    assert loaded.items == {"a": 1}
    (fault,) = loaded.faults.values()
    says(fault, "'a'", "two:X")


def test_a_command_of_two_packages_is_that_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    feature = registry.Feature(name="odd", help="", command="x:x")
    point = SimpleNamespace(name="odd", value="x:x", group=registry.HOME, dist=None)
    first, second = entry_points.Plugin(point), entry_points.Plugin(point)
    loaded = entry_points.Loaded({"odd": feature}, {first: "odd"}, {second: "there are two"})
    monkeypatch.setattr(registry, "plugged", lambda: loaded)
    monkeypatch.setattr(registry, "commands_added", lambda: {"odd": ""})
    assert registry.feature_named("odd") is feature


def test_an_unknown_attribute_is_still_one() -> None:
    read = ab.read_judged(pl.DataFrame({"question": ["q"], "outcome": ["right"]}))
    with pytest.raises(AttributeError, match="nothing"):
        _ = read.nothing  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="nothing"):
        _ = ab.nothing  # type: ignore[attr-defined]
    assert registry.feature_named("nothing") is None


# --------------------------------------------------------------------------- the checks


@pytest.mark.slow
def test_our_measures_pass_the_check() -> None:
    for definition in definitions().values():
        check_measure(str(measure_of(definition, definition.example_text)))


def changed(name: str, **facts: Any) -> Any:
    """A measure whose declaration is wrong in one place, admitted all the same."""
    from msgspec.structs import replace

    item = measure(name)
    return type(item)(item.name, item.parameters, definition=replace(item.definition, **facts))


@pytest.mark.parametrize(
    ("name", "facts", "said"),
    [
        ("c@1", {"bounds": lambda: (0.0, 0.9)}, "outside"),
        ("c@1", {"function": lambda k: k.right / (k.n + 1)}, "twice as many"),
        ("c@1", {"higher_is_better": False}, "falls when a wrong answer becomes right"),
        ("c@1", {"kappa": lambda c, w, u: c / 2}, "c + κ·u"),
        ("c@1", {"break_even": lambda c, w, u: 0.1 + 0 * c}, "p*"),
        ("AURC", {"higher_is_better": True, "bounds": lambda: (0.0, 0.3)}, "outside"),
        ("AP'", {"bounds": lambda: (0.0, 0.5)}, "outside"),
    ],
)
def test_a_measure_that_is_not_what_it_says_fails_the_check(
    name: str, facts: dict[str, Any], said: str
) -> None:
    with pytest.raises(AssertionError, match=re.escape(said)):
        check_measure(changed(name, **facts))


def quiz() -> Reader:
    space: dict[str, Any] = {}
    exec(dict(FILES.findall(PAGE.read_text(encoding="utf-8")))["quiz_logs.py"], space)
    reader: Reader = space["READER"]
    return reader


def test_the_reader_of_the_manual_passes_the_check() -> None:
    check_reader(quiz(), spoilt=100)
    check_reader(quiz(), LOG.encode(), spoilt=20)


def _stumbles(opened: Any, picks: Any) -> Any:
    with opened.stream() as lines:
        record = json.loads(next(lines))
    assert record["quiz"]
    return quiz().read(opened, picks)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"read": _stumbles}, "fails on"),
        ({"sniff": re.compile(rb"\[")}, "by its bytes"),
        ({"sniff": re.compile(rb"[{q\[]")}, "takes other files"),
        ({"example": ""}, "no example"),
    ],
)
def test_a_reader_that_stumbles_fails_the_check(facts: dict[str, Any], said: str) -> None:
    from dataclasses import replace

    with pytest.raises(AssertionError, match=said):
        check_reader(replace(quiz(), **facts), spoilt=60)
