"""A reader of another package: a quiz program's log, `{"quiz": …}` a line."""

import json
import re

from abstain.io.readers import LogRows, Reader


def read(opened, picks):
    """Each line as a row: its question, what was answered, whether that was right."""
    rows = LogRows(opened, "quiz")
    with opened.stream() as lines:
        for number, line in enumerate(lines, 1):
            record = json.loads(line)
            outcome = {True: "right", False: "wrong", None: "declined"}[record["right"]]
            rows.add(record["quiz"], outcome, line=number, answer=record["said"])
    return rows.table()


READER = Reader(
    name="quiz",
    sniff=re.compile(rb'\{\s*"quiz"\s*:'),
    read=read,
)
