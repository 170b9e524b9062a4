"""A reader of another package: a quiz program's log, `{"quiz": …}` a line."""

import json
import re

from abstain.io.log_rows import LogRows
from abstain.io.readers import Reader


def read(opened, picks):
    """Each line as a row: its question, what was answered, whether that was right."""
    rows = LogRows(opened, "quiz")
    with opened.stream() as lines:
        for number, line in enumerate(lines, 1):
            own = json.loads(line)
            outcome = {True: "right", False: "wrong", None: "declined"}[own["right"]]
            rows.add(own["quiz"], outcome, line=number, answer=own["said"])
    return rows.table()


READER = Reader(
    name="quiz",
    tool="quiz",
    versions="1",
    files="quiz.jsonl",
    sniff=re.compile(rb'\{\s*"quiz"\s*:'),
    read=read,
)
