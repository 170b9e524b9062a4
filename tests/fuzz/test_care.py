"""What is written is whole or absent, whatever happens meanwhile."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abstain as ab
from tests.helpers import GOLD, ROOT, RUN, Here
from tests.snapshots import refuses


def test_an_output_keeps_the_mode_of_the_file_that_it_replaces(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    out = here.write("out.json", "old")
    out.chmod(0o640)
    assert here("score", "gold.csv", "a.csv", "-o", "out.json").code == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o640


def test_a_folder_behind_a_link_stays_behind_it(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    (here.folder / "real").mkdir()
    (here.folder / "link").symlink_to("real")
    for more in ([], ["--force"]):
        assert here("campaign", "gold.csv", "a.csv", "-o", "link", *more).code == 0
    assert (here.folder / "link").is_symlink()
    assert (here.folder / "real" / "results.json").exists()
    assert not [path.name for path in here.folder.iterdir() if path.name.startswith(".")]


def test_charts_are_whole_or_absent(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.report import charts

    drawn = charts.drawn_chart

    def broken(spec: Any, ending: str) -> bytes:
        if calls:
            raise MemoryError
        calls.append(ending)
        return drawn(spec, ".json")

    calls: list[str] = []
    monkeypatch.setattr(charts, "drawn_chart", broken)
    with pytest.raises(MemoryError):
        charts.write_charts({"a": {}, "b": {}}, "folder")
    assert list(here.folder.iterdir()) == []


def test_of_two_outputs_none_stays_where_one_fails(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> int:
        raise OSError(28, "No space left on device")

    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    here.write("b.csv", RUN.replace("b", "c"))
    before = sorted(here.folder.iterdir())
    outputs = ("-o", "out.json", "--chart", "chart.json")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        here.refuses("score", "gold.csv", "a.csv", "b.csv", *outputs)
    assert sorted(here.folder.iterdir()) == before
    assert here("score", "gold.csv", "a.csv", "b.csv", *outputs).code == 0
    assert {"out.json", "chart.json"} <= {path.name for path in here.folder.iterdir()}


def test_a_chart_runs_no_script_but_its_own() -> None:
    from abstain.report.page import render_chart

    page = render_chart({"title": {"text": "x"}})
    policy = page[page.index("script-src") : page.index("img-src")]
    assert "unsafe-inline" not in policy
    assert policy.count("'sha256-") == 2


def test_baselines_say_names_harmlessly(here: Here) -> None:
    here.write("gold.csv", "question,correct\nq1,\x1b[31mred\n")
    said = here("baseline", "gold.csv", "majority", "-o", "b.csv")
    assert "'\\x1b[31mred'" in said.err


def test_slices_of_frames_are_trimmed_as_those_of_files() -> None:
    gold = pl.DataFrame({"question": ["1", "2"], "correct": ["a", "b"], "topic": [" x ", "x"]})
    run = pl.DataFrame({"question": ["1", "2"], "answer": ["a", "b"]})
    assert [row.slice["topic"] for row in ab.score(gold, run, by="topic").rows] == ["x"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_a_folder_of_runs_is_no_run(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("runs/a.csv", RUN)
    os.mkfifo(here.folder / "runs" / "b.csv")
    said = here("score", "gold.csv", "runs", "-f", "json")
    assert [row["run"] for row in said.data["results"]] == ["a"]


def test_a_query_that_cannot_be_run_is_refused_in_a_line() -> None:
    gold = pl.DataFrame({"question": ["1"], "correct": ["a"]})
    run = pl.LazyFrame({"question": ["1"], "answer": ["a"]}).with_columns(x=pl.col("nowhere"))
    with refuses(ab.InputError):
        ab.score(gold, run)


STOPPED = """
import os, signal, sys, threading
import abstain.cli as cli
from abstain.io import output

def slow(self, text, **_):
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(5)

output.Path.write_text = slow
cli.main(["score", "gold.csv", "a.csv", "-o", "out.json"])
"""


@pytest.mark.slow
def test_being_ended_leaves_nothing(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], capture_output=True, timeout=60, check=False, env=env
    )
    assert (done.returncode, done.stderr) == (143, b"stopped\n")
    assert sorted(path.name for path in Path().iterdir()) == ["a.csv", "gold.csv"]


def test_a_log_that_is_cut_while_it_is_read(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.io import json_files

    log = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": []}
    path = here.write("log.json", json.dumps(log) + " " * 100_000)
    decode = json_files.decode

    def cut(*args: Any, **named: Any) -> Any:
        os.truncate(path, 0)
        return decode(*args, **named)

    monkeypatch.setattr(json_files, "decode", cut)
    assert here("score", "--judged", "log.json", "--from", "inspect").code == 2
