"""Items that are a document with an answer string, judged by pairs or by patterns."""

from __future__ import annotations

import re

import polars as pl
import pytest

import abstain as ab
from tests.helpers import Here
from tests.snapshots import says

JUDGED = "1 0 d1 1 Paris\n1 0 d1 0 Lyon\n1 0 d2 1 in Paris, France\n2 0 NIL 0\n3 0 d5 1 1789\n"
PATTERNS = "1 (paris|Lutetia)\n2 NIL\n3 17\\d9\n4 nobody has this\n"
RUN = (
    "1 Q0 d1 1 5 a Lyon\n1 Q0 d1 2 4 a Paris\n1 Q0 d2 3 3 a in  Paris, France\n"
    "2 Q0 NIL 1 1 a\n3 Q0 d5 1 2 a it was 1789\n3 Q0 d5 2 1 a 1789\n"
)
PAIRS = {"item": "document+answer", "nil": "NIL", "limit": 5}


@pytest.fixture
def files(here: Here) -> Here:
    here.write("judged", JUDGED)
    here.write("patterns", PATTERNS)
    here.write("a", RUN)
    return here


def by_query(result: ab.RankResult, name: str) -> dict[str, float | None]:
    return {row.query: row.scores[name] for row in result.per_query}


def test_the_same_document_with_another_answer_is_another_item(files: Here) -> None:
    found = ab.rank("judged", "a", ["RR", "AP", "NumRel"], per_query=True, **PAIRS)
    assert by_query(found, "RR") == {"1": 1 / 2, "2": 0, "3": 1 / 2}
    assert by_query(found, "AP") == {"1": pytest.approx((1 / 2 + 2 / 3) / 2), "2": None, "3": 1 / 2}
    assert found.rows[0].scores["NumRel"] == 3
    assert found.settings.item == "document+answer"
    line = files.refuses("rank", "judged", "a", "-m", "RR")
    assert "5 columns, expected 4" in line


def test_patterns_judge_what_is_listed(files: Here) -> None:
    files.write("b", "1 Q0 d1 1 5 b Paris\n2 Q0 d4 1 1 b x\n3 Q0 d5 2 1 b 1789\n")
    found = ab.rank("patterns", ["a", "b"], ["RR", "NumRel"], per_query=True, **PAIRS)
    patterns = dict(line.split(" ", 1) for line in PATTERNS.splitlines())
    for run in ("a", "b"):
        lines = [line.split() for line in (files.folder / run).read_text().splitlines()]
        for query, pattern in patterns.items():
            answers = [
                " ".join(line[6:]) for line in lines if line[0] == query and line[2] != "NIL"
            ]
            right = [pattern != "NIL" and re.search(pattern, each, re.I) for each in answers]
            first = next((1 / rank for rank, hit in enumerate(right, 1) if hit), 0.0)
            (row,) = (r for r in found.per_query if (r.run, r.query) == (run, query))
            assert row.scores["RR"] == first, (run, query)
            assert row.nil == (pattern == "NIL")
    # of question 4 one unlisted item is relevant; of 1 and 3 those that some run lists
    numbers = {row.query: row.scores["NumRel"] for row in found.per_query}
    assert numbers == {"1": 2, "2": 0, "3": 2, "4": 1}


def test_tables_have_a_column_of_answers(files: Here) -> None:
    whole = ab.rank("judged", "a", ["AP'", "RR"], **PAIRS).rows
    gold = [line.split(" ", 4) for line in JUDGED.splitlines()]
    gold = [[*fields, ""][:5] for fields in gold]
    rows = [" ".join(line.split()).split(" ", 6) for line in RUN.splitlines()]
    rows = [[*fields, ""][:7] for fields in rows]
    texts = pl.DataFrame(gold, schema=["query", "x", "doc", "rel", "answer"], orient="row")
    lists = ["query", "y", "doc", "rank", "score", "run", "answer"]
    run = pl.DataFrame(rows, schema=lists, orient="row")
    numbers = run.with_columns(pl.col("score").cast(pl.Float64))
    frames = ab.rank(
        texts.with_columns(pl.col("rel").cast(pl.Int64)), numbers, ["AP'", "RR"], **PAIRS
    )
    assert frames.rows == whole
    texts.write_csv("gold.csv")
    run.write_csv("run.csv")
    args = ("gold.csv", "run.csv", "--item", "document+answer", "--nil", "NIL", "--limit", "5")
    data = files("rank", *args, "-m", "AP'", "-m", "RR", "-f", "json").data
    assert data["results"][0]["scores"] == whole[0].scores


def test_what_is_wrong_is_one_line(files: Here) -> None:
    item = ("--item", "document+answer", "-m", "RR")
    files.write("bad.csv", "query,pattern\n1,[\n")
    says(files.refuses("rank", "bad.csv", "a", *item), "regular expression")
    files.write("short", "1 Q0 d1 1\n")
    says(files.refuses("rank", "patterns", "short", *item), "short:1: 4 columns")
    files.write("twice", "1 Q0 d1 1 5 b Paris\n1 Q0 d1 2 4 b Paris\n")
    says(files.refuses("rank", "patterns", "twice", *item), "'d1 Paris' appears twice")
    says(files.refuses("rank", "patterns", "a", "--item", "answer"), "document+answer")
    files.write("plain.csv", "query,doc,score\n1,d1,2\n")
    says(files.refuses("rank", "patterns", "plain.csv", *item), "answer")
    with pytest.raises(ab.UsageError, match="column 'answer'"):
        ab.rank({"1": {"a": 1}}, "a", "RR", item="document+answer")
