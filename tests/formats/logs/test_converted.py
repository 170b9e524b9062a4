"""A log that was converted says what the log said: its run, its clusters, its targets."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import Here
from tests.snapshots import says

EPOCHS: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {
        "task": "sums",
        "model": "maker/model",
        "dataset": {"samples": 3, "sample_ids": ["a", "b", "c"]},
        "config": {"epochs": 2},
    },
    "samples": [
        {"id": own, "epoch": epoch, "target": target, "scores": {"s": {"value": value}}}
        for own, target, value in (("a", "1", "C"), ("b", "2", "I"), ("c", "3", "C"))
        for epoch in (1, 2)
    ],
}


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_run_and_cluster_survive(here: Here, ending: str) -> None:
    here.write("log.json", json.dumps(EPOCHS))
    made = here("convert", "log.json", f"copy.{ending}")
    assert made.code == 0, made
    says(made.err)
    rows = [
        here("score", "--judged", name, "-m", "accuracy", "--interval", "--format", "json").data[
            "results"
        ]
        for name in ("log.json", f"copy.{ending}")
    ]
    assert rows[0] == rows[1]
    assert rows[0][0]["run"] == "maker/model"


def test_a_column_cluster_of_judged_rows_is_their_cluster(here: Here) -> None:
    rows = "".join(f"q{i},{'right' if i % 4 < 2 else 'wrong'},{i // 2}\n" for i in range(12))
    here.write("judged.csv", "question,outcome,cluster\n" + rows)
    here.write("other.csv", "question,outcome,pair\n" + rows)
    asked = here(
        "score", "--judged", "other.csv", "-m", "accuracy", "--interval", "--cluster", "pair"
    )
    found = here("score", "--judged", "judged.csv", "-m", "accuracy", "--interval")
    alone = here("score", "--judged", "other.csv", "-m", "accuracy", "--interval")
    row = [said.out.splitlines()[2].split()[2:5] for said in (asked, found, alone)]
    assert row[0] == row[1] != row[2]
    assert "clustered by cluster" in found.out


def test_a_cluster_that_the_log_names_otherwise_is_told(here: Here) -> None:
    samples = [{**sample, "metadata": {"cluster": "x"}} for sample in EPOCHS["samples"]]
    here.write("log.json", json.dumps({**EPOCHS, "samples": samples}))
    made = here("convert", "log.json", "copy.csv")
    assert made.code == 0, made
    says(made.err)
    rows = list(csv.DictReader(Path("copy.csv").read_text().splitlines()))
    assert {row["cluster"] for row in rows} == {"x"}


def test_a_target_with_a_separator_is_not_split(here: Here) -> None:
    samples = [
        {"id": "q", "target": "a|b", "output": {"completion": "a"}, "scores": {"s": {"value": "I"}}}
    ]
    head = {"task": "t", "model": "m", "dataset": {}, "config": {}}
    log = {"version": 2, "status": "success", "eval": head, "samples": samples}
    here.write("pipe.json", json.dumps(log))
    line = here.refuses("convert", "pipe.json", "gold.csv")
    says(line, "gold.csv", "'correct'", "'a|b'")
    assert not Path("gold.csv").exists()
    assert here("convert", "pipe.json", "gold.jsonl").code == 0
    said = here("score", "gold.jsonl", "pipe.json", "-m", "accuracy", "--format", "json")
    assert said.data["results"][0]["scores"]["accuracy"] == 0
