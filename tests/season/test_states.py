"""What becomes of receipts, against a slow and obvious account of the rules."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from abstain.runs.season import Receipt, Request, Settings, with_states

DEADLINE = datetime.fromisoformat("2013-05-02T12:00:00Z")


def receipt(number: int, hour: int, team: str, run: str, valid: bool = True) -> Receipt:
    time = f"2013-05-{1 + hour // 24:02}T{hour % 24:02}:00:00.000Z"
    return Receipt(
        number=number,
        time=time,
        entered="",
        team=team,
        run=run,
        file="",
        sha256="",
        bytes=0,
        valid=valid,
        found="",
    )


def obvious(receipts: list[Receipt], asked: list[Request], settings: Settings) -> list[str]:
    """The state of each receipt, by one rule after the other, looking at all receipts each time."""
    accepted: list[Receipt] = []
    states = {}

    def is_late(r: Receipt) -> bool:
        return settings.deadline is not None and datetime.fromisoformat(r.time) > settings.deadline

    def taken_back(r: Receipt, moment: str | None = None) -> bool:
        """Whether a withdrawal after it, and before this moment, was about this version."""
        return any(
            q.time >= r.time and (moment is None or q.time < moment)
            for q in asked
            if (q.request, q.team, q.run) == ("withdraw", r.team, r.run)
        )

    for at, r in enumerate(receipts):
        so_far = [o for o in receipts[: at + 1] if o.team == r.team and o.valid]
        that_day = [o for o in so_far if o.time[:10] == r.time[:10]]
        standing = {o.run for o in accepted if o.team == r.team and not taken_back(o, r.time)}
        if not r.valid:
            states[r.number] = "invalid"
        elif len(that_day) > settings.limits.get("day", 1000) or len(
            standing - {r.run}
        ) >= settings.limits.get("team", 1000):
            states[r.number] = "over the limit"
        else:
            accepted.append(r)
    for r in accepted:
        later = [
            o
            for o in accepted[accepted.index(r) + 1 :]
            if (o.team, o.run, is_late(o)) == (r.team, r.run, is_late(r))
        ]
        primary = [q.run for q in asked if (q.request, q.team) == ("primary", r.team)]
        if later:
            states[r.number] = "superseded"
        elif is_late(r):
            states[r.number] = "late"
        elif settings.counts == "primary" and (not primary or primary[-1] != r.run):
            states[r.number] = "not primary"
        else:
            states[r.number] = "counts"
    for r in receipts:
        if r.valid and taken_back(r):
            states[r.number] = "withdrawn"
    return [states[r.number] for r in receipts]


NAMES = st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"))


@given(
    sent=st.lists(st.tuples(st.integers(0, 71), NAMES, st.integers(0, 4)), max_size=14),
    requests=st.lists(
        st.tuples(st.sampled_from(["withdraw", "primary"]), NAMES, st.integers(0, 71)), max_size=4
    ),
    limits=st.fixed_dictionaries(
        {}, optional={"team": st.integers(1, 3), "day": st.integers(1, 4)}
    ),
    counts=st.sampled_from(["latest", "primary"]),
    deadline=st.sampled_from([None, DEADLINE]),
)
def test_states_follow_from_the_rules(
    sent: list[Any], requests: list[Any], limits: Any, counts: Any, deadline: datetime | None
) -> None:
    settings = Settings(gold="", limits=limits, counts=counts, deadline=deadline)
    number = count(1)
    receipts = [
        receipt(next(number), hour, team, run, valid=dice > 0)
        for hour, (team, run), dice in sorted(sent, key=lambda one: one[0])
    ]
    asked = [
        Request(receipt(0, hour, *names).time, what, *names)
        for what, names, hour in sorted(requests, key=lambda one: one[2])
    ]
    found = with_states(receipts, asked, settings)
    assert [r.state for r in found] == obvious(receipts, asked, settings)
    facts = {"state": "", "left": None, "replaces": None}
    assert [msgspec.structs.replace(r, **facts) for r in found] == receipts
    for r in found:
        if r.replaces:
            before = found[[o.number for o in found].index(r.replaces)]
            assert (before.team, before.run) == (r.team, r.run)
            assert before.number < r.number
            assert before.state in ("superseded", "withdrawn")
        runs = {o.run for o in found if o.team == r.team and o.state in STANDING}
        assert r.left == (limits["team"] - len(runs) if "team" in limits else None)


STANDING = ("counts", "late", "superseded", "not primary")
"""The states of runs that take a place."""


def test_by_hand() -> None:
    """Two runs a team; the first is sent again, then withdrawn: its place is free for the next.

    What was over the limit before the withdrawal stays so.
    """
    settings = Settings(gold="", limits={"team": 2}, deadline=DEADLINE)
    sent = [(1, "x"), (2, "y"), (3, "x"), (4, "z"), (30, "v"), (31, "w"), (40, "y")]
    receipts = [receipt(n, hour, "a", run) for n, (hour, run) in enumerate(sent, 1)]
    over = "over the limit"
    before = ["superseded", "counts", "counts", over, over, over, "late"]
    found = with_states(receipts, [], settings)
    assert [r.state for r in found] == before
    assert [r.replaces for r in found] == [None, None, 1, None, None, None, None]
    asked = [Request(receipt(0, 29, "a", "x").time, "withdraw", "a", "x")]
    after = ["withdrawn", "counts", "withdrawn", over, "counts", over, "late"]
    assert [r.state for r in with_states(receipts, asked, settings)] == after
