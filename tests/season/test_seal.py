"""`seal`: a commitment that any tool can verify, and that says nothing of the file."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess

import pytest

import abstain as ab
from tests.helpers import Here
from tests.snapshots import says


def test_a_seal_is_verified(here: Here) -> None:
    gold = here.write("gold.csv", "question,correct\nq1,A\n")
    said = here("seal", "gold.csv")
    says(said.err, "gold.csv.salt")
    commitment = said.out.strip()
    salt = (here.folder / "gold.csv.salt").read_bytes()
    assert commitment == hashlib.sha256(salt + gold.read_bytes()).hexdigest()
    assert stat.S_IMODE(os.stat("gold.csv.salt").st_mode) == 0o600
    done = subprocess.run(
        "cat gold.csv.salt gold.csv | sha256sum", shell=True, capture_output=True, check=True
    )
    assert done.stdout.decode().split()[0] == commitment
    held = here("seal", "gold.csv", "--verify", commitment.upper())
    assert held.code == 0
    says(held.out)
    gold.write_text("question,correct\nq1,B\n")
    broken = here("seal", "gold.csv", "--verify", commitment)
    assert broken.code == 1
    says(broken.out)


def test_the_salt_makes_it(here: Here) -> None:
    """The same file and salt give the same seal; another salt gives another."""
    for name in ("a.csv", "b.csv"):
        here.write(name, "question,correct\nq1,A\n")
    assert ab.seal("a.csv") == ab.seal("a.csv") != ab.seal("b.csv")


@pytest.mark.parametrize("salt", [None, "", "abc\n", "g" * 64 + "\n"])
def test_nothing_is_verified_without_its_salt(here: Here, salt: str | None) -> None:
    here.write("gold.csv", "question,correct\nq1,A\n")
    if salt is not None:
        here.write("gold.csv.salt", salt)
    says(here.refuses("seal", "gold.csv", "--verify", "0" * 64), "gold.csv.salt")
