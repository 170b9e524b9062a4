"""`seal`: commit to a file that is secret as yet, so that nobody can say it was changed later."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from abstain.errors import InputError
from abstain.io.files import open_file


def seal(path: str | os.PathLike[str], *, draw: bool = True) -> str:
    """The SHA-256 of a salt and a file, to publish while the file is secret.

    Without the salt nobody can try out which gold gives it; with it any tool can verify it. The
    salt stands in a file beside, with `.salt` after its name, drawn (unless not `draw`) where there
    is none: the same file and salt give the same text.
    """
    opened, beside = open_file(path), Path(f"{os.fspath(path)}.salt")
    if draw and not beside.exists():
        with open(beside, "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
            out.write(f"{secrets.token_hex(32)}\n")
    text = open_file(beside).read()
    if not re.fullmatch(rb"[0-9a-f]{64}\n", text):
        raise InputError("is no salt of `abstain seal`", str(beside))
    return opened.sha256(text)
