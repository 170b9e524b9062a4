"""Logs that Inspect wrote (tools/logs/inspect_runs.py) beside each other, checked by hand.

Six sums. The careful model says 2, declines, 7, 8, declines, 12: three right, one wrong, two blank,
so c@1 = 3/6 · (1 + 2/6). The bold one says 2, 4, 7, 8, 11, 13: three right, c@1 = 3/6.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.io.files import open_file
from abstain.io.submissions import open_archive
from tests.helpers import Here
from tests.snapshots import says

CAREFUL, BOLD = 3 / 6 * (1 + 2 / 6), 3 / 6
DATA = Path(__file__).parent / "data" / "inspect_runs"


def both(here: Here, *names: str, policy: tuple[str, ...] = ()) -> tuple[Any, Any]:
    """What `score` and `compare` say of some logs."""
    logs = [str(DATA / f"{name}.eval") for name in names]
    more = [
        "-m",
        "c@1",
        "--format",
        "json",
        *(word for own in policy for word in ("--policy", own)),
    ]
    found = []
    for command in ("score", "compare"):
        said = here(command, "--judged", *logs, *more)
        assert said.code == 0, said
        found.append(said.data)
    return found[0], found[1]


def scores(data: Any) -> dict[str, float]:
    return {row["run"]: row["scores"]["c@1"] for row in data["results"]}


@pytest.mark.parametrize(
    ("logs", "names"),
    [
        (
            ("short", "long"),
            (
                "mockllm/model (system_message=Answer with a number.)",
                "mockllm/model (system_message=Think step by step. Then answ…)",
            ),
        ),
        (("cold", "warm"), ("mockllm/model (temperature=0)", "mockllm/model (temperature=0.7)")),
        (("warm", "cold"), ("mockllm/model (temperature=0.7)", "mockllm/model (temperature=0)")),
    ],
)
def test_prompts_and_settings_of_one_model(here: Here, logs: Any, names: Any) -> None:
    values = {"short": CAREFUL, "cold": CAREFUL, "long": BOLD, "warm": BOLD}
    expected = {name: values[log] for log, name in zip(logs, names, strict=True)}
    for data in both(here, *logs):
        assert scores(data) == pytest.approx(expected)
        assert data["notes"] == []


@pytest.mark.parametrize("logs", [("three", "once"), ("once", "three")])
def test_three_epochs_beside_one(here: Here, logs: Any) -> None:
    """The order of names is not that of the files: each keeps its own score all the same."""
    scored, compared = both(here, *logs)
    expected = {"mockllm/three": CAREFUL, "mockllm/once": BOLD}
    assert scores(scored) == pytest.approx(expected)
    assert scores(compared) == pytest.approx(expected)
    counts = {row["run"]: ab.Counts.from_dict(row["counts"]).n for row in scored["results"]}
    assert counts == {"mockllm/three": 18, "mockllm/once": 6}
    assert compared["questions"] == 6
    assert compared["cluster"] == "sample"
    note = "mockllm/once was asked 6 of 18 questions and is judged on those"
    for data in (scored, compared):
        assert data["touched"] == {"declined": 6, "unasked": 12}
        assert note in data["notes"]
    own = scored["results"][0]["counts"]
    assert (own["right"], own["wrong"], own["unanswered"]) == (9, 3, 6)


def test_two_tasks_are_one_run_or_two(here: Here) -> None:
    """Products: 1, 4, 8, 16 to 1 × 1, 2 × 2, …: three of four right."""
    scored, compared = both(here, "cold", "products", "once")
    assert scores(scored) == pytest.approx(
        {"mockllm/model": 6 / 10 * (1 + 2 / 10), "mockllm/once": BOLD}
    )
    assert scores(compared) == pytest.approx({"mockllm/model": CAREFUL, "mockllm/once": BOLD})
    assert compared["questions"] == 6
    for data in (scored, compared):
        assert data["notes"] == [
            "several tasks have the same ids (such as 'q1'): questions are named task/id",
            "2 logs of mockllm/model were joined into one run, one task per log (sums, products)",
            "mockllm/once was asked 6 of 10 questions and is judged on those",
        ]
    logs = {"sums": str(DATA / "cold.eval"), "products": str(DATA / "products.eval")}
    apart = ab.read_judged(logs).score("c@1")
    found = {row.run: row.scores["c@1"] for row in apart.rows}
    assert found == pytest.approx({"sums": CAREFUL, "products": 3 / 4})


def test_a_run_that_failed_lacks_what_it_cancelled(here: Here) -> None:
    """Right, declined, wrong; the fourth fails, Inspect cancels the fifth and skips the sixth."""
    line = here.refuses("score", "--judged", str(DATA / "failed.eval"))
    says(line, "1", "'mockllm/failed'")
    scored, compared = both(here, "failed", "once", policy=("error=wrong",))
    assert scores(scored) == pytest.approx(
        {"mockllm/failed": 1 / 6 * (1 + 3 / 6), "mockllm/once": BOLD}
    )
    # on the four samples that both have: one of four and a blank, three of four
    assert scores(compared) == pytest.approx(
        {"mockllm/failed": 1 / 4 * (1 + 1 / 4), "mockllm/once": 3 / 4}
    )
    for data in (scored, compared):
        assert data["touched"] == {"declined": 1, "error": 1, "missing": 2}
        notes = [note.rpartition("/")[2] for note in data["notes"]]
        assert notes == [
            "failed.eval: lacks 2 of 6 samples",
            "failed.eval: the run did not finish: its status is 'error'",
        ]


def test_a_failed_sample_and_a_limit(here: Here) -> None:
    """Right, declined, a limit (wrong), right, declined, and an error that is left out."""
    scored, compared = both(here, "limited", "once", policy=("error=excluded",))
    assert scores(scored) == pytest.approx(
        {"mockllm/limited": 2 / 5 * (1 + 2 / 5), "mockllm/once": BOLD}
    )
    assert scores(compared) == pytest.approx(
        {"mockllm/limited": 2 / 5 * (1 + 2 / 5), "mockllm/once": 3 / 5}
    )
    for data in (scored, compared):
        assert data["touched"] == {"declined": 2, "error": 1, "limit": 1}
        assert data["notes"] == []


def test_a_folder_with_a_task_twice_says_what_to_do(here: Here) -> None:
    line = here.refuses("score", "--judged", str(DATA))
    says(line, "'mockllm/model'", "'sums'")


@pytest.mark.parametrize("path", sorted(DATA.glob("*.eval")), ids=lambda path: path.stem)
def test_the_logs_say_nothing_of_the_machine_that_made_them(path: Path) -> None:
    with open_archive(open_file(path)) as archive:
        text = b"".join(bytes(archive.read(name)) for name in archive.entries).decode()
    assert '"status":"' in text
    assert re.findall(r"/(?:home|root|tmp|usr|work|opt|Users)/[^\s\"]*", text) == []
    assert '"revision"' not in text
