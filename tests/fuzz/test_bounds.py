"""What would take too much memory or time is refused early, or done with little."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time

import polars as pl
import pytest
import zstandard

from tests.helpers import GOLD, ROOT, RUN, Here
from tests.snapshots import says


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
    says(line, "67,108,864")  # as others say after 200 MB


def test_a_file_that_packs_well_is_read(here: Here) -> None:
    here.write("gold.csv", GOLD)
    text = RUN + "\n" * 2_000_000
    here.write("b.csv.zst", zstandard.compress(text.encode()))
    assert here("score", "gold.csv", "b.csv.zst").code == 0


def test_devices_are_refused_because_they_may_never_end(here: Here) -> None:
    here.write("gold.csv", GOLD)
    assert "is a device" in here.refuses("score", "gold.csv", "/dev/urandom")


@pytest.mark.slow
def test_repeated_rows_are_counted_not_collected(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("b.csv", "question,answer\n" + "q1,a\n" * 30_000)
    line = here.refuses("score", "gold.csv", "b.csv")
    says(line, "b.csv:3", "'b'", "'q1'")
    assert "(first: b.csv:2) (and 29,998 more" in line
    problems = here("validate", "gold.csv", "b.csv", "-f", "json").data["problems"]
    details = [own for problem in problems for own in problem.get("details", [])]
    assert len(details) <= 1_100
    says(problems[0]["message"], "1,000")


@pytest.mark.parametrize("name", ["b.csv", "b.jsonl"])
def test_a_large_table_is_held_as_it_was_read(
    here: Here, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from abstain.io import files, tables
    from abstain.io.tables import read_table

    monkeypatch.setattr(files, "CHUNK", 2_000)
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
    monkeypatch.setattr(tables, "LARGE", 1_000)
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
        ("q{of_gold},x{n}\n", ("'q0'",)),
        ("u{n},a\n", ("'u0'", "11,999,999")),
    ],
    ids=["answers that all differ", "questions that nobody asked"],
)
def test_twelve_million_faults_take_little_memory(
    here: Here, row: str, said: tuple[str, ...]
) -> None:
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
    says(done.stderr, *said)
    assert megabytes < 500


def test_runs_of_more_rows_than_are_compared(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.features.validate import problems as odd

    here.write("gold.csv", "question,correct\nq1,a\n")
    here.write("b.csv", "run,question,answer\nr1,q1,a\nr2,q1,a\n")
    for most, alike in ((2, 1), (1, 0)):
        monkeypatch.setattr(odd, "MOST_CELLS", most)
        said = here("validate", "gold.csv", "b.csv", "-f", "json").data
        assert len(said.get("warnings", [])) == alike


def test_more_runs_than_are_validated(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.outcomes import KINDS
    from abstain.runs import counting

    monkeypatch.setattr(counting, "MAX_COUNTS", 2 * KINDS)
    here.write("gold.csv", GOLD)
    here.write("three.csv", "run,question,answer\nr1,q1,a\nr2,q1,a\nr3,q1,a\n")
    says(here.refuses("validate", "gold.csv", "three.csv"), "3", "1", "2")


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
    from abstain.outcomes import KINDS
    from abstain.runs import counting

    monkeypatch.setattr(counting, "MAX_COUNTS", KINDS)
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    line = here.refuses("score", "gold.csv", "a.csv", "--by", "topic")
    says(line, "1", "2")


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


SURE = "question,answer,confidence\nq1,a,0.9\nq2,c,0.2\nq3,c,0.7\n"


def limited(
    here: Here, *arguments: str, limit: tuple[int, int]
) -> subprocess.CompletedProcess[str]:
    """The command line under a limit of the system."""
    return subprocess.run(
        [sys.executable, "-m", "abstain", *arguments],
        cwd=here.folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        preexec_fn=lambda: resource.setrlimit(limit[0], (limit[1], limit[1])),
    )


def test_a_picture_under_a_limit_of_addresses_is_refused(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", SURE)
    before = set(here.folder.iterdir())
    done = limited(
        *(here, "curve", "gold.csv", "a.csv", "--chart", "x.svg"),
        limit=(resource.RLIMIT_AS, 8 << 30),
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done
    assert set(here.folder.iterdir()) == before


def test_of_two_outputs_none_stays_when_one_cannot_be_written(here: Here) -> None:
    """A limit on the size of a file stands for a full disk: the table fits, the chart does not."""
    here.write("gold.csv", GOLD)
    here.write("a.csv", SURE)
    before = set(here.folder.iterdir())
    done = limited(
        *(here, "curve", "gold.csv", "a.csv", "-o", "small.csv", "--chart", "x.svg"),
        limit=(resource.RLIMIT_FSIZE, 4_000),
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done
    assert set(here.folder.iterdir()) == before


@pytest.mark.parametrize("name", ["wide.csv", "wide.tsv", "wide.jsonl", "wide.json"])
def test_a_hundred_thousand_columns_are_refused(here: Here, name: str) -> None:
    here.write("gold.csv", GOLD)
    wide = pl.DataFrame({f"c{n}": ["x"] for n in range(100_000)})
    match name.partition(".")[2]:
        case "csv":
            here.write(name, wide.write_csv())
        case "tsv":
            here.write(name, wide.write_csv(separator="\t"))
        case "jsonl":
            here.write(name, wide.write_ndjson())
        case _:
            here.write(name, wide.write_json())
    began = time.process_time()
    assert "10,000" in here.refuses("score", "gold.csv", name)
    assert time.process_time() - began < 10


def test_a_parquet_of_equal_rows_is_refused_by_its_number_of_cells(here: Here) -> None:
    here.write("gold.csv", GOLD)
    rows = pl.select(question=pl.repeat("q1", 20_000_000), answer=pl.repeat("a", 20_000_000))
    rows.write_parquet(here.folder / "many.parquet")
    assert "unpacks to more than" in here.refuses("score", "gold.csv", "many.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["rank", "trec_eval"])
def test_a_bomb_of_a_ranking_is_refused(here: Here, command: str) -> None:
    here.write("qrels", "q1 0 d1 1\n")
    here.write("run.zst", bomb(b"", b"q1 Q0 d1 1 1.5 x\n", 400 << 20))
    assert "unpacks to more than" in here.refuses(command, "qrels", "run.zst")


def test_no_other_output_stays_beside_a_device_that_is_full(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", SURE)
    (here.folder / "full.svg").symlink_to("/dev/full")
    before = set(here.folder.iterdir())
    assert "full.svg" in here.refuses(
        "curve", "gold.csv", "a.csv", "-o", "small.csv", "--chart", "full.svg"
    )
    assert set(here.folder.iterdir()) == before
