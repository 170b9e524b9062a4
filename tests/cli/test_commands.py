"""The command line: looks, files, exit codes, terminals."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import abstain as ab
from abstain.cli import run as run_command
from abstain.features.rank.truncation import TruncationResult
from tests.helpers import GOLD, RUN, Here, abstain
from tests.snapshots import says

COMMANDS = (
    "score",
    "validate",
    "convert",
    "measures",
    "explain",
    "demo",
    "campaign",
    "audit",
    "meta",
    "compare",
)
SCORE = ("score", "gold.csv", "run.csv")
ESCAPE = "\x1b["


@pytest.fixture
def files(here: Here) -> Here:
    here.write("gold.csv", GOLD)
    here.write("run.csv", RUN)
    return here


# ------------------------------------------------------------------------------------- help


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help(here: Here, command: str, flag: str) -> None:
    said = here(command, flag)
    assert said.code == 0
    assert said.out.startswith(f"Usage: abstain {command}")
    assert said.err == ""
    assert max(map(len, said.out.splitlines())) <= 100


def test_help_of_all(here: Here) -> None:
    said = here("--help")
    assert said.code == 0
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", said.out, re.M)
    assert here() == said
    assert here("--version").out == "abstain 0.1.0\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        *(("--help",), ("measures",), ("explain", "c@1"), ("explain", "NDCG'"), ("--version",)),
        *(("score", "--help"), ("rank", "--help"), ("compare", "--help")),
    ],
)
def test_help_imports_nothing_heavy(args: tuple[str, ...]) -> None:
    program = (
        "import sys\n"
        "from abstain.cli import run\n"
        f"code = run({list(args)!r})\n"
        "heavy = sorted({m.split('.')[0] for m in sys.modules} & "
        "{'polars', 'numpy', 'scipy', 'pandas', 'pyarrow', 'narwhals', 'duckdb'})\n"
        "sys.stderr.write(f'{code} {heavy}')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == "0 []"
    assert done.stdout


def test_import_of_the_package_is_light() -> None:
    program = (
        "import sys, abstain\n"
        "sys.stdout.write(str(bool(sys.modules.keys() & {'numpy', 'polars', 'typer'})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False"


def test_public_names() -> None:
    import abstain as ab

    assert sorted(ab.__all__) == dir(ab)
    assert all(getattr(ab, name) is not None for name in ab.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ab.nothing  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------ usage


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("frobnicate",), ("'frobnicate'",)),
        (("scor",), ("'scor'",)),
        (("score",), ()),
        (("score", "--bogus"), ("'--bogus'",)),
        ((*SCORE, "--format", "xml"), ("'--format'",)),
        ((*SCORE, "--digits", "99"), ("'--digits'",)),
        ((*SCORE, "-m", "c@11"), ("'c@11'", "1")),
        ((*SCORE, "--policy", "lazy=wrong"), ("'lazy'",)),
        (
            (*SCORE, "--align", "name"),
            ("--align", "'name'"),
        ),
        (
            (*SCORE, "--match", "fuzzy"),
            ("--match", "'fuzzy'"),
        ),
        ((*SCORE, "--from", "xls"), ("'xls'",)),
        ((*SCORE, "--column", "question"), ("--column",)),
        ((*SCORE, "-o", "missing/out.csv"), ("missing/out.csv",)),
        ((*SCORE, "-o", "."), ()),
        (("explain", "c@11"), ("'c@11'", "1")),
        (("convert", "run.csv", "gold.csv"), ("gold.csv", "--force")),
        (("validate", "gold.csv", "none.csv"), ("none.csv",)),
    ],
)
def test_usage_errors_are_one_line(
    files: Here, args: tuple[str, ...], said: tuple[str, ...]
) -> None:
    says(files.refuses(*args), *said)


def test_ctrl_c_says_stopped(files: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("abstain.runs.evaluation.Evaluation.score", interrupted)
    said = files(*SCORE)
    assert (said.code, said.err.strip()) == (130, "stopped")


def test_our_own_faults_say_so(files: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops\nmore")

    monkeypatch.setattr("abstain.runs.evaluation.Evaluation.score", broken)
    said = files(*SCORE)
    assert said.code == 3
    says(said.line)
    monkeypatch.setenv("ABSTAIN_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        run_command(SCORE)


def test_exit_code_of_validate(files: Here) -> None:
    good = files("validate", "gold.csv", "run.csv")
    assert good.code == 0
    assert "nothing wrong" in good.out
    files.write("bad.csv", "question,answer\nq1,a\nq9,b\nq1,b\n")
    files.write("worse.csv", "qustion,answer\nq1,a\n")
    bad = files("validate", "gold.csv", "bad.csv", "run.csv", "worse.csv", "-f", "json")
    assert bad.code == 1
    assert bad.data["valid"] is False
    assert bad.data["runs"] == 3
    kinds = [(p["file"], p["line"], p["kind"]) for p in bad.data["problems"]]
    assert kinds == [
        ("bad.csv", 3, "unknown question"),
        ("bad.csv", 4, "repeated question"),
        *[("bad.csv", None, "missing question")] * 3,
        ("worse.csv", 1, "unreadable"),
    ]
    table = files("validate", "gold.csv", "bad.csv", "--most", "1")
    assert table.code == 1
    says(table.out, "1", "--most", "0")


# ------------------------------------------------------------------------------------ looks


def test_json_has_the_shape_of_the_design(files: Here) -> None:
    said = files(*SCORE, "-m", "c@1", "-m", "precision", "--by", "topic", "-f", "json")
    data = said.data
    assert data["abstain"] == "0.1.0"
    assert data["questions"] == 4
    assert data["policy"]["unparseable"] == "wrong"
    first, second = data["results"]
    assert first == {
        "rank": "1",
        "run": "run",
        "slice": {"topic": "x"},
        "counts": {
            "right": 1,
            "wrong": 1,
            "unanswered_right": 0,
            "unanswered_wrong": 0,
            "unanswered_empty": 0,
        },
        "scores": {"c@1": 0.5, "precision": 0.5},
        "undefined": {},
    }
    assert second["scores"] == {"c@1": 0.75, "precision": 1.0}
    assert second["blanks"] == {"empty": 1}


def test_csv_has_every_digit_and_no_notes(files: Here) -> None:
    files.write("gold.csv", GOLD + "q5,e,z\nq6,f,z\n")
    said = files(*SCORE, "-m", "c@1", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert len(rows) == 1
    assert float(rows[0]["c@1"]) == 2 / 6 * (1 + 3 / 6)
    silent = files.write("silent.csv", "question,answer\nq1,\n")
    undefined = files("score", "gold.csv", silent, "-m", "precision", "-f", "csv")
    assert next(csv.DictReader(io.StringIO(undefined.out)))["precision"] == ""


def test_markdown_and_latex(files: Here) -> None:
    markdown = files(*SCORE, "-m", "c@1", "-f", "markdown").out.splitlines()
    assert markdown[0].startswith("| \\# ")
    assert re.fullmatch(r"[|\-: ]+", markdown[1])
    assert len({line.count("|") for line in markdown[:3]}) == 1
    assert "0.6250" in markdown[2]
    latex = files(*SCORE, "-m", "c@1", "-f", "latex").out
    assert latex.startswith("\\begin{tabular}")
    assert "\\end{tabular}" in latex
    assert "1 & run & 0.6250 & 2 & 1 & 1 \\\\" in latex


def test_table_and_digits(files: Here) -> None:
    said = files(*SCORE, "-m", "c@1", "-m", "UF", "--digits", "2")
    lines = said.out.splitlines()
    assert lines[0].split() == [
        "#",
        "run",
        "c@1",
        "UF",
        "right",
        "wrong",
        "blank",
        "right▕wrong▕blank",
    ]
    assert lines[2].split()[:7] == ["1", "run", "0.62", "0.25", "2", "1", "1"]


def test_break_even_and_candidates(files: Here) -> None:
    said = files(
        *SCORE, "-m", "c@1", "-m", "coverage", "--break-even", "--candidates", "-f", "json"
    )
    # p* of c@1 is c/(1 + u) = (2/4) / (5/4)
    assert said.data["results"][0]["break_even"] == {"c@1": 0.4}
    header = files(
        *SCORE, "-m", "c@1", "--break-even", "--candidates", "-f", "csv"
    ).out.splitlines()[0]
    says(header, "1")


@pytest.mark.parametrize(
    "name", ["c@1", "F", "credit", "S(t=0.5)", "validation-F", "coverage", "P", "NDCG'"]
)
def test_cards(here: Here, name: str) -> None:
    said = here("explain", name)
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80
    for label in ("formula", "range", "undefined", "(to game it|note) ", "source", "Example"):
        assert re.search(rf"^{label}", said.out, re.M), label


def test_card_of_c_at_1_works_its_example(here: Here) -> None:
    out = " ".join(here("explain", "c@1").out.split())
    # 237 of 500 right, 107 blank: 0.474 · 1.214 = 0.5754; 237 + 107 · 0.474 = 287.7
    assert "c@1 = 0.5754, κ = 0.4740, p* = 0.3904" in out
    says(out, "287.7", "500")


def test_every_measure_has_a_card_and_a_line(here: Here) -> None:
    data = here("measures", "-f", "json").data["measures"]
    assert sum(item["takes"] == "counts" for item in data) == 27
    assert sum(item["takes"] == "ranking" for item in data) == 51
    listed = here("measures").out
    for item in data:
        assert item["signature"].partition(",")[0] in listed  # a long one is wrapped
        assert here("explain", item["name"]).code == 0


@pytest.mark.slow
def test_demo_writes_the_campaign_and_says_that_it_is_reconstructed(here: Here) -> None:
    said = here("demo", "-o", "out")
    assert said.code == 0
    assert "jucs1302enen" in said.out
    assert "reconstructed from published figures" in said.out
    page = (here.folder / "out" / "index.html").read_text()
    assert "reconstructed from the figures of the overview paper" in page
    assert "reconstructed" in (here.folder / "out" / "summary.md").read_text()
    assert "--force" in here("demo", "-o", "out").line


@pytest.mark.slow
def test_demo_prints_the_tables_of_quit_while_ahead_and_draws_its_figures(here: Here) -> None:
    said = here("demo", "rankings", "-o", "out")
    assert said.code == 0, said
    assert "40 of 40 scores and 10 of 10 r_t are those printed" in said.out
    assert "Synthetic: 47 runs of 492 questions" in said.out
    figures = {path.stem for path in (here.folder / "out" / "figures").iterdir()}
    assert figures >= {"lengths", "original-primed-rbp", "share-truncated-ap"}
    saved = ab.load(here.folder / "out" / "results.json")
    assert isinstance(saved, TruncationResult)
    assert saved.pairs == ab.demo("rankings").pairs
    lines = saved.charts()["share-truncated-ap"]["layer"][0]
    assert lines["mark"]["type"] == "line"
    assert "nearest: rankings" in here("demo", "ranking").line


# ------------------------------------------------------------------------------------ files


@pytest.mark.parametrize("ending", [".json", ".csv", ".md", ".tex", ".txt"])
def test_output_follows_its_ending(files: Here, ending: str) -> None:
    formats = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".txt": "table"}
    said = files(*SCORE, "-o", f"out{ending}")
    assert (said.code, said.out, said.err) == (0, "", "")
    shown = files(*SCORE, "--format", formats[ending]).out
    assert (files.folder / f"out{ending}").read_text() == shown
    assert sorted(p.name for p in files.folder.iterdir()) == ["gold.csv", f"out{ending}", "run.csv"]


def test_a_failure_keeps_the_old_file(files: Here) -> None:
    old = files.write("out.json", "precious")
    files.write("bad.csv", "question,answer\nq9,a\n")
    files.refuses("score", "gold.csv", "bad.csv", "-o", "out.json")
    files.refuses("convert", "missing.csv", "out.json", "--force", "--to", "jsonl")
    assert old.read_text() == "precious"


def test_a_failure_while_writing_keeps_the_old_file(
    files: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = files.write("out.json", "precious")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    line = files.refuses(*SCORE, "-o", "out.json")
    says(line, "out.json")
    assert old.read_bytes() == b"precious"


def test_output_through_a_link_and_into_a_pipe(files: Here) -> None:
    import threading

    real = files.write("real.json", "{}")
    (files.folder / "link.json").symlink_to(real)
    assert files(*SCORE, "-o", "link.json").code == 0
    assert (files.folder / "link.json").is_symlink()
    assert json.loads(real.read_text())["questions"] == 4
    os.mkfifo("pipe.json")
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe.json").read_text()))
    reader.start()
    assert files(*SCORE, "-o", "pipe.json").code == 0
    reader.join(10)
    assert json.loads(got[0])["questions"] == 4
    assert (files.folder / "pipe.json").is_fifo()


@pytest.mark.slow
def test_same_input_same_bytes(files: Here) -> None:
    """Also with another seed of Python's hashes."""
    outs = {
        abstain(*SCORE, "-f", "json", cwd=files.folder, env={"PYTHONHASHSEED": seed}).out
        for seed in ("1", "2")
    }
    assert len(outs) == 1


# -------------------------------------------------------------------------------- terminals


def on_a_terminal(*args: str, cwd: Path, env: dict[str, str]) -> str:
    """What a terminal of 80 columns shows."""
    import fcntl
    import struct
    import termios

    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "abstain", *args],
        stdout=terminal,
        stderr=subprocess.DEVNULL,  # a slow machine would show its progress there
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env={**clean, "TERM": "xterm-256color", **env},
    )
    os.close(terminal)
    pieces = []
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(main)
    assert process.wait(60) == 0
    return b"".join(pieces).decode()


@pytest.mark.slow
def test_a_terminal_of_80_columns(files: Here) -> None:
    files.write("a-run-with-quite-a-long-name-that-goes-on-and-on.csv", RUN)
    args = (
        *("score", "gold.csv", "run.csv", "a-run-with-quite-a-long-name-that-goes-on-and-on.csv"),
        *("-m", "c@1", "-m", "accuracy", "-m", "precision", "-m", "credit(t=0.25)", "-m", "F"),
    )
    coloured = on_a_terminal(*args, cwd=files.folder, env={})
    assert ESCAPE in coloured
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", coloured)
    assert max(len(line.rstrip("\r")) for line in plain.split("\n")) <= 80
    assert "0.6250" in plain
    assert "…" in plain
    colourless = on_a_terminal(*args, cwd=files.folder, env={"NO_COLOR": "1"})
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", colourless)


@pytest.mark.slow
def test_no_colour_and_no_cut_names_in_a_pipe(files: Here) -> None:
    name = "n" * 150
    files.write(f"{name}.csv", RUN)
    said = abstain("score", "gold.csv", f"{name}.csv", cwd=files.folder)
    assert ESCAPE not in said.out
    assert name in said.out
    assert "…" not in said.out


@pytest.mark.slow
def test_a_terminal_without_utf8(files: Here) -> None:
    said = abstain(*SCORE, cwd=files.folder, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert said.code == 0, said.err
    assert "0.6250" in said.out
    assert said.out.isascii()


def test_a_broken_pipe_is_quiet(files: Here) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "abstain", "measures", "-f", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait(30)
    process.stderr.close()


# ----------------------------------------------------------------------------- hostile names

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x9b31mred",
    "<img src=x onerror=alert(1)>",
    "=cmd()",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    r"\input{secret} $x$ %hidden & more # ~ ^ _",
    "a|b|c",
    "[link](javascript:alert(1)) `code` *bold*",
    "\u202egpj.exe\u2066 \u200f",
    "two\nlines\r\nthree\ttabs",
    "bell\x07 null-like \x01",
    "[red]markup[/red] :smile:",
    "[6pt] first in a row",
]


def hostile_table(here: Here) -> None:
    here.write("gold.csv", "question,correct,topic\nq1,a,x\n")
    rows = [{"run": name, "question": "q1", "answer": "a"} for name in HOSTILE]
    here.write("runs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("format", ["table", "csv", "markdown", "latex", "json"])
def test_no_name_steers_a_terminal(here: Here, format: str) -> None:
    hostile_table(here)
    said = here("score", "gold.csv", "runs.jsonl", "--format", format)
    assert said.code == 0
    steering = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
    assert not steering.search(said.out)


def test_json_keeps_names_as_they_are(here: Here) -> None:
    hostile_table(here)
    said = here("score", "gold.csv", "runs.jsonl", "--format", "json")
    assert {row["run"] for row in said.data["results"]} == {name.strip() for name in HOSTILE}


def test_no_name_is_a_formula(here: Here) -> None:
    hostile_table(here)
    said = here("score", "gold.csv", "runs.jsonl", "--format", "csv")
    rows = list(csv.reader(io.StringIO(said.out)))
    assert len(rows) == len(HOSTILE) + 1
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not [row[1] for row in rows if row[1][:1] in ("=", "+", "-", "@", "\t")]
    assert "'=cmd()" in [row[1] for row in rows]


def test_no_name_is_markup(here: Here) -> None:
    hostile_table(here)
    markdown = here("score", "gold.csv", "runs.jsonl", "--format", "markdown").out
    table = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(table) == len(HOSTILE) + 2
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {
        len(re.findall(r"(?<!\\)\|", table[0]))
    }
    assert "<img" not in markdown
    assert not re.search(r"(?<!\\)[\[`*]", markdown)
    latex = here("score", "gold.csv", "runs.jsonl", "--format", "latex").out
    body = [line for line in latex.splitlines() if line.endswith(r" \\")]
    assert len(body) == len(HOSTILE) + 1
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {body[0].count("&")}
    assert "\\input" not in latex
    assert not [
        line for line in body if re.search(r"(?<!\\)[%#$^]|(?<!\{)\[", line.replace("$-$", ""))
    ]


def test_names_in_a_table_are_text_not_markup(here: Here) -> None:
    hostile_table(here)
    table = here("score", "gold.csv", "runs.jsonl").out
    assert "[red]markup[/red] :smile:" in table
    assert "two lines three tabs" in table


def test_errors_are_harmless_too(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.jsonl", json.dumps({"question": "\x1b[31m\u202eq\n1", "answer": "a"}))
    line = here.refuses("score", "gold.csv", "run.jsonl")
    assert "\x1b" not in line
    assert "\u202e" not in line
    assert "\x1b" not in here.refuses("score", "gold.csv", "\x1b[31mnone.csv")
    assert "\x1b" not in here.refuses("explain", "\x1b[31m")
    assert "\x1b" not in here.refuses("score", "gold.csv", "run.jsonl", "--by", "\x1b[31m")


@pytest.mark.parametrize("format", ["table", "csv", "markdown", "latex"])
def test_hostile_problems_and_slices(here: Here, format: str) -> None:
    here.write("gold.jsonl", json.dumps({"question": "q1", "correct": "a", "\x1b[5mx": "\u202ey"}))
    here.write("run.csv", "question,answer\nq1,a\n")
    said = here("score", "gold.jsonl", "run.csv", "--by", "\x1b[5mx", "-f", format)
    assert said.code == 0
    assert not re.search("[\x1b\u202e]", said.out)
    here.write("bad.jsonl", json.dumps({"question": "\x1b[5m|<b>", "answer": "a"}))
    verdict = here("validate", "gold.jsonl", "bad.jsonl", "-f", format)
    assert verdict.code == 1
    assert "\x1b" not in verdict.out


@pytest.mark.slow
def test_a_full_disk_behind_stdout_is_one_line(files: Here) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "abstain", *SCORE],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=files.folder,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        "the output cannot be written: No space left on device"
    ]


def test_validate_goes_on_when_one_path_does_not_open(files: Here) -> None:
    files.write("extra.csv", RUN + "q9,a\n")
    said = files("validate", "gold.csv", "gone.csv", "extra.csv", "-f", "json")
    assert said.code == 1
    assert [p["file"] for p in said.data["problems"]] == ["gone.csv", "extra.csv"]


def test_an_audit_that_checks_nothing_is_no_pass(files: Here) -> None:
    files.write("names.csv", "run,remark\na,good\n")
    said = files("audit", "names.csv")
    assert said.code == 2
    says(said.err)


# ------------------------------------------------------------------- outputs, before any work


@pytest.mark.parametrize(
    "args",
    [
        ("score", "gold.csv", "run.csv", "-o", "run.csv"),
        ("score", "gold.csv", "run.csv", "-o", "./gold.csv"),
        ("compare", "gold.csv", "run.csv", "run.csv", "--chart", "link.svg"),
        ("convert", "run.csv", "run.csv", "--force"),
    ],
)
def test_an_input_is_never_overwritten(files: Here, args: tuple[str, ...]) -> None:
    os.symlink("run.csv", "link.svg")
    said = files(*args)
    assert said.code == 2
    assert re.search(r" would overwrite \S+, which is an input\n$", said.err)
    assert (Path("gold.csv").read_text(), Path("run.csv").read_text()) == (GOLD, RUN)


def test_a_folder_that_is_not_there_is_said_before_reading(files: Here) -> None:
    said = files("score", "no-such.csv", "run.csv", "-o", "nowhere/scores.csv")
    assert (said.code, said.out) == (2, "")
    assert said.err == "nowhere/scores.csv: cannot be written: its folder does not exist\n"
