"""QA4MRE files for tests: small ones made here, and the real ones where they are."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

GOLD = """<?xml version="1.0" encoding="UTF-8"?>
<test-set>
  <topic t_id="1" t_name="AIDS">
    <reading-test r_id="1">
      <doc d_id="1">A text with a <q>quotation</q> in it.</doc>
      <q  q_id="1" >
        <q_str>Who
          pays?</q_str>
        <answer a_id='1' >nobody</answer>
        <answer a_id='2'  correct="Yes">Tom &amp; Jerry</answer>
        <answer a_id='3' >None of the above</answer>
      </q>
      <q q_id="2">
        <q_str>Why?</q_str>
        <answer a_id="1">so</answer>
        <answer a_id="2">because</answer>
        <answer a_id="3" correct="YES">NONE of the above.</answer>
      </q>
    </reading-test>
  </topic>
  <topic t_id="2" t_name="Music">
    <reading-test r_id="2">
      <question q_id="1"><q_str>How?</q_str>
        <answer a_id="1" correct="x">thus</answer>
        <answer a_id="2">otherwise</answer>
      </question>
    </reading-test>
  </topic>
</test-set>
"""

RUN = """<?xml version="1.0" encoding="UTF-8"?>

<output run_id="jucs1302enen">
<topic t_id='1' >
  <reading-test r_id="1">
    <question q_id="1" answered="YES">
      <answer a_id="2"/>
    </question>
    <question q_id ="2" answered="NO">
      <answer a_id="3"/>
    </question>
  </reading-test>
</topic>
<topic t_id="2">
  <reading-test r_id="2">
    <question q_id="1"
      answered="NO" />
  </reading-test>
</topic>
</output>
"""


def gold_xml(tests: Sequence[int], *, options: int = 5) -> str:
    """A gold of one topic: the number of questions of each test; option 1 is right."""
    answers = "".join(
        f'<answer a_id="{a}"{" correct=" + chr(34) + "Yes" + chr(34) if a == 1 else ""}>o</answer>'
        for a in range(1, options + 1)
    )
    body = "\n".join(
        f'<reading-test r_id="{r}">\n'
        + "\n".join(f'<q q_id="{q}"><q_str>?</q_str>{answers}</q>' for q in range(1, count + 1))
        + "\n</reading-test>"
        for r, count in enumerate(tests, 1)
    )
    return f'<test-set>\n<topic t_id="1" t_name="T">\n{body}\n</topic>\n</test-set>\n'


def run_xml(tests: Sequence[tuple[str, Sequence[int]]], *, run_id: str = "abcd1301enen") -> str:
    """A run of one topic that answers 1: each test's r_id and its q_ids."""
    body = "\n".join(
        f'<reading-test r_id="{r}">\n'
        + "\n".join(
            f'<question q_id="{q}" answered="YES"><answer a_id="1"/></question>' for q in numbers
        )
        + "\n</reading-test>"
        for r, numbers in tests
    )
    return f'<output run_id="{run_id}">\n<topic t_id="1">\n{body}\n</topic>\n</output>\n'


def real(*parts: str) -> Path:
    """A real file of the QA4MRE campaigns; the test is skipped where it is missing."""
    shared = Path(os.environ.get("ABSTAIN_SHARED", ROOT.parent / "shared"))
    path = shared.joinpath("data", "qa4mre", *parts)
    if not path.exists():
        pytest.skip(f"real data is not here: {re.sub(r'^.*shared', '$ABSTAIN_SHARED', str(path))}")
    return path


def gold_as_xml(table: str) -> str:
    """A gold of ids and options without marks, from its CSV."""
    rows = csv.DictReader(table.splitlines())
    questions = []
    for row in rows:
        answers = "".join(
            f'<answer a_id="{option}"{MARK if option == row.get("correct") else ""}>x</answer>'
            for option in (row.get("options") or "A|B|C|D").split("|")
        )
        questions.append(f'<q q_id="{row["question"]}"><q_str>?</q_str>{answers}</q>')
    return f"<test-set><topic><reading-test>{''.join(questions)}</reading-test></topic></test-set>"


MARK = ' correct="Yes"'
