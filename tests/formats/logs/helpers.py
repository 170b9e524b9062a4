"""What the tests of logs share."""

from __future__ import annotations

from tests.helpers import Here

JUDGED = ("--format", "json", "--policy", "error=excluded", "--policy", "unscored=excluded")


def counts(here: Here, *args: str) -> dict[str, list[float]]:
    said = here("score", "--judged", *args, *JUDGED)
    assert said.code == 0, said
    return {
        r["run"]: [r["counts"][k] for k in ("right", "wrong")]
        + [sum(r["counts"].values()) - r["counts"]["right"] - r["counts"]["wrong"]]
        + [r.get("excluded", 0)]
        for r in said.data["results"]
    }
