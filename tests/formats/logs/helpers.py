"""What the tests of logs share."""

from __future__ import annotations

from abstain import Counts
from tests.helpers import Here

JUDGED = ("--format", "json", "--policy", "error=excluded", "--policy", "unscored=excluded")


def counts(here: Here, *args: str) -> dict[str, list[float]]:
    said = here("score", "--judged", *args, *JUDGED)
    assert said.code == 0, said
    rows = {r["run"]: (Counts.from_dict(r["counts"]), r) for r in said.data["results"]}
    return {
        run: [k.right, k.wrong, k.unanswered, row.get("excluded", 0)]
        for run, (k, row) in rows.items()
    }
