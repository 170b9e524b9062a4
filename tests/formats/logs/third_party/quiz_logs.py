"""A reader of another package: a quiz program's log, `{"quiz": …}` a line."""

import re

from msgspec import Struct

from abstain.io.json_files import records
from abstain.io.readers import LogRows, Reader


class Line(Struct):
    quiz: str
    said: str
    right: bool | None


def read(opened, picks):
    """Each line as a row: its question, what was answered, whether that was right."""
    rows = LogRows(opened, "quiz")
    for number, line in records(opened, Line, what="line of a quiz"):
        outcome = {True: "right", False: "wrong", None: "declined"}[line.right]
        rows.add(line.quiz, outcome, line=number, answer=line.said)
    return rows.table()


READER = Reader(
    name="quiz",
    sniff=re.compile(rb'\{\s*"quiz"\s*:'),
    read=read,
    example='{"quiz": "q1", "said": "Lima", "right": true}\n',
)
