"""What would take too much memory or time is refused early, or done with little."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time

import polars as pl
import pytest
import zstandard

from abstain.io import floods
from tests.helpers import GOLD, ROOT, RUN, Here


def bomb(head: bytes, unit: bytes, size: int) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    parts = [packer.compress(head)]
    parts += [packer.compress(unit * (1 << 16)) for _ in range(size // (len(unit) << 16))]
    return b"".join([*parts, packer.flush()])


@pytest.mark.slow
@pytest.mark.parametrize(
    "head", [b"question,answer\nq1,", b'{"a": "', b"PAR1", b"<output>"], ids=lambda h: str(h[:4])
)
def test_a_bomb_is_refused_long_before_it_is_unpacked(here: Here, head: bytes) -> None:
    here.write("gold.csv", GOLD)
    packed = bomb(head, b"A" * 16, 200 << 20)
    here.write("b.csv.zst", packed)
    began = time.process_time()
    line = here.refuses("score", "gold.csv", "b.csv.zst")
    assert time.process_time() - began < 5
    assert "unpacks to more than 67,108,864 bytes" in line  # as others say after 200 MB


def test_a_file_that_packs_well_is_read(here: Here) -> None:
    here.write("gold.csv", GOLD)
    text = RUN + "\n" * 2_000_000
    here.write("b.csv.zst", zstandard.compress(text.encode()))
    assert here("score", "gold.csv", "b.csv.zst").code == 0


def test_random_bytes_are_refused_by_the_first_of_them(here: Here) -> None:
    here.write("gold.csv", GOLD)
    assert "is binary (a zero byte at" in here.refuses("score", "gold.csv", "/dev/urandom")


@pytest.mark.slow
def test_repeated_rows_are_counted_not_collected(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("b.csv", "question,answer\n" + "q1,a\n" * 30_000)
    line = here.refuses("score", "gold.csv", "b.csv")
    assert "b.csv:3: run 'b' has question 'q1' again" in line
    assert "(first: b.csv:2) (and 29,998 more" in line
    problems = here("validate", "gold.csv", "b.csv", "-f", "json").data["problems"]
    details = [own for problem in problems for own in problem.get("details", [])]
    assert len(details) <= 1_100
    assert "has at least 1,000 problems of one kind" in problems[0]["message"]


@pytest.mark.parametrize("name", ["b.csv", "b.csv.gz", "b.jsonl"])
@pytest.mark.parametrize("command", ["score", "validate"])
def test_a_flood_of_one_record_is_refused_while_it_is_read(
    here: Here, monkeypatch: pytest.MonkeyPatch, name: str, command: str
) -> None:
    monkeypatch.setattr(floods, "MOST_AGAIN", 1_000)
    here.write("gold.csv", GOLD)
    text = b"question,answer\n" + b"q1,a\nq2,b\n" * 600
    if name.endswith("jsonl"):
        text = b'{"question": "q1", "answer": "a"}\n' * 1_200
    here.write(name, gzip.compress(text) if name.endswith("gz") else text)
    said = here(command, "gold.csv", name, "-f", "json") if command == "validate" else None
    line = said.data["problems"][0]["message"] if said else here.refuses(command, "gold.csv", name)
    assert "is repeated here, and the file has more than 1,000 such repeats" in line
    if said is None:  # of two records in turn, line 4 has the first again
        assert line.startswith(f"{name}:{3 if name == 'b.jsonl' else 4}: ")


def test_a_flood_of_many_records_in_turn_is_refused_while_it_is_read(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floods, "MOST_AGAIN", 1_000)
    questions = range(500)
    here.write("gold.csv", "question,correct\n" + "".join(f"q{n},a\n" for n in questions))
    once = "".join(f"q{n},{'ab'[n % 2]}\n" for n in questions)
    here.write("b.csv", "question,answer\n" + 4 * once)
    assert here.refuses("score", "gold.csv", "b.csv").startswith(
        "b.csv:502: the record 'q0,a' is repeated here, and the file has more than 1,000 such "
        "repeats"
    )
    here.write("c.csv", "question,answer\n" + 2 * once)
    assert "c.csv:502: run 'c' has question 'q0' again" in here.refuses(
        "score", "gold.csv", "c.csv"
    )


@pytest.mark.parametrize("name", ["b.csv", "b.jsonl"])
def test_a_large_table_is_held_as_it_was_read(
    here: Here, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from abstain.io import files, holding, separated
    from abstain.io.tables import read_table

    for module in (files, separated):
        monkeypatch.setattr(module, "BLOCK", 2_000, raising=False)
    rows = [
        {
            "question": f"q{n}",  # always another
            "*": "ab"[n % 2],  # one of a few, with an odd name
            "x": f"x{n % 3 if n < 1_500 else n}",  # few at first, then always another
            "empty": None if n % 5 else " é ",
        }
        for n in range(3_000)
    ]
    frame = pl.DataFrame(rows)
    write = frame.write_csv if name.endswith("csv") else frame.write_ndjson
    write(here.folder / name)
    plain = read_table(here.folder / name).frame.collect()
    monkeypatch.setattr(holding, "LARGE", 1_000)
    large = read_table(here.folder / name).frame
    assert "cast" in large.explain()
    assert large.collect().equals(plain)
    assert large.collect_schema() == plain.schema


ROWS = 12_000_000

ALIKE_EVERYWHERE = {
    "PYTHONDONTWRITEBYTECODE": "",
    "POLARS_MAX_THREADS": "1",
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0",
}
"""What is needed, not what each further thread and a slow machine leave to be freed later."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("q{of_gold},x{n}\n", "has question 'q0' again, with another answer"),
        ("u{n},a\n", "question 'u0' is not in the gold (and 11,999,999 more"),
    ],
    ids=["answers that all differ", "questions that nobody asked"],
)
def test_twelve_million_faults_take_little_memory(here: Here, row: str, said: str) -> None:
    here.write("gold.csv", "question,correct\n" + "".join(f"q{n},a\n" for n in range(5_000)))
    with (here.folder / "b.csv").open("w") as file:
        file.write("question,answer\n")
        for start in range(0, ROWS, 100_000):
            some = range(start, start + 100_000)
            file.write("".join(row.format(n=n, of_gold=n % 5_000) for n in some))
    # not ru_maxrss, which a process inherits from the one that started it
    code = (
        "import sys; from abstain.cli import run; code = run(sys.argv[1:]); "
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM')); "
        "print(code, int(peak.split()[1]) >> 10)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "score", "gold.csv", "b.csv"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **ALIKE_EVERYWHERE, "PYTHONPATH": str(ROOT / "src")},
    )
    exit_code, megabytes = map(int, done.stdout.split())
    assert exit_code == 2
    assert said in done.stderr
    assert megabytes < 500


def test_runs_of_more_rows_than_are_compared(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.analyses.validate import odd

    here.write("gold.csv", "question,correct\nq1,a\n")
    here.write("b.csv", "run,question,answer\nr1,q1,a\nr2,q1,a\n")
    for most, alike in ((2, 1), (1, 0)):
        monkeypatch.setattr(odd, "MOST_CELLS", most)
        said = here("validate", "gold.csv", "b.csv", "-f", "json").data
        assert len(said.get("warnings", [])) == alike


def test_records_of_no_question_may_stand_again(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floods, "MOST_AGAIN", 1_000)
    here.write("judged.csv", "grade\n" + "right\n" * 3_000)
    assert here("score", "--judged", "judged.csv").code == 0
    here.write("gold.csv", GOLD)
    here.write("b.csv", RUN + "\n" * 5_000)
    assert here("score", "gold.csv", "b.csv").code == 0


def test_many_rows_are_searched_for_the_first_that_stands_again(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    from abstain.judging import counting

    here.write("gold.csv", GOLD)
    here.write("a.csv", "question,answer\nq1,a\nq2,b\n")
    here.write("b.csv", "question,answer\nq1,a\nq2,b\nq3,c\nq2,c\nq1,a\n")
    lines = []
    for looked_at in (1, 4, 5, 1 << 20):
        monkeypatch.setattr(counting, "LOOKED_AT", looked_at)
        lines.append(here.refuses("score", "gold.csv", "a.csv", "b.csv"))
    assert set(lines) == {lines[0]}
    assert lines[0].startswith("b.csv:5: run 'b' has question 'q2' again, with another answer")


def test_more_runs_than_a_table_may_name(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.io import tables

    monkeypatch.setattr(tables, "FEW_RUNS", 2)
    monkeypatch.setattr(tables, "MAX_RUNS", 10)
    here.write("gold.csv", GOLD)
    rows = "".join(f"r{number},q1,a\n" for number in range(11))
    here.write("ten.csv", "run,question,answer\n" + rows[: rows.index("r10")])
    here.write("more.csv", "run,question,answer\n" + rows)
    assert here("score", "gold.csv", "ten.csv").code == 0
    assert "names more than 10 runs" in here.refuses("score", "gold.csv", "more.csv")


def test_more_runs_than_are_validated(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.judging import cells
    from abstain.outcomes import KINDS

    monkeypatch.setattr(cells, "MAX_COUNTS", 2 * KINDS)
    here.write("gold.csv", GOLD)
    here.write("three.csv", "run,question,answer\nr1,q1,a\nr2,q1,a\nr3,q1,a\n")
    assert "3 runs × 1 slices are more than the 2" in here.refuses(
        "validate", "gold.csv", "three.csv"
    )


def test_an_impossible_score_costs_an_audit_little(here: Here) -> None:
    here.write("t.csv", "run,c@1\na,7.5\nb,0.66\nc,0.43\n")
    began = time.process_time()
    said = here("audit", "t.csv", "-n", "500")
    assert said.code == 1
    assert time.process_time() - began < 5


def test_an_audit_that_checks_nothing_writes_nothing(here: Here) -> None:
    here.write("t.csv", "run,x\na,7.5\n")
    assert "nothing could be checked" in here.refuses("audit", "t.csv", "-o", "out.json")
    assert not (here.folder / "out.json").exists()


def test_more_slices_than_a_result_may_have(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.judging import cells
    from abstain.outcomes import KINDS

    monkeypatch.setattr(cells, "MAX_COUNTS", KINDS)
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    line = here.refuses("score", "gold.csv", "a.csv", "--by", "topic")
    assert "1 runs × 2 slices are more than the 1 rows of a result" in line


def test_a_name_of_a_megabyte_is_shortened_where_it_is_shown(here: Here) -> None:
    name = "N" * 1_000_000
    here.write("gold.csv", GOLD)
    here.write("a.csv", f"run,question,answer\n{name},q1,a\n")
    assert len(here("score", "gold.csv", "a.csv", "-f", "markdown").out) < 50_000
    assert name in here("score", "gold.csv", "a.csv", "-f", "json").out


def test_a_campaign_of_names_of_a_megabyte_is_small(here: Here) -> None:
    name = "N" * 1_000_000
    here.write("gold.csv", GOLD)
    here.write("a.csv", f"run,question,answer\n{name},q1,a\nb,q1,b\n")
    assert here("campaign", "gold.csv", "a.csv", "-o", "folder").code == 0
    sizes = {path.name: path.stat().st_size for path in (here.folder / "folder").rglob("*.*")}
    assert sizes["index.html"] < 2_000_000
    assert sum(sizes.values()) < 12_000_000
