"""Inspect's logs: its own scores are ours; errors, limits, epochs; killed and damaged logs."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

import abstain as ab
from abstain.errors import InputError
from tests.helpers import Here, counts_of


def test_accuracy_is_inspects_own(data: Path) -> None:
    own = json.loads((data / "inspect.own.json").read_text())["inspect.eval"]["careful"]
    result = ab.score_judged(
        str(data / "inspect.eval"), measures=["accuracy"], policy={"unscored": "excluded"}
    )
    row = result.rows[0]
    assert row.scores["accuracy"] == pytest.approx(own["accuracy"], abs=1e-12)
    assert row.counts.n == own["scored"]
    assert row.excluded == own["unscored"]
    # 2, I don't know, 7, 8, nothing (NaN), 12 to 1 + 1, 2 + 2, …
    assert counts_of(result) == {"mockllm/model": (3, 1, 0, 0, 1)}
    assert result.touched == {"declined": 1, "unscored": 1}


@pytest.mark.parametrize("scorer", ["careful", "match"])
def test_epochs_are_repeats_of_one_question(data: Path, scorer: str) -> None:
    own = json.loads((data / "inspect.own.json").read_text())["inspect_epochs.json"][scorer]
    result = ab.score_judged(
        str(data / "inspect_epochs.json"),
        measures=["accuracy"],
        format=f"inspect:scorer={scorer}",
        policy=["error=excluded", "unscored=excluded"],
        ci="delta",
    )
    assert result.questions == 12
    assert "clustered by sample" in " ".join(result.notes)
    if scorer == "match":  # every sample has both epochs, so Inspect's mean of means is the mean
        assert result.rows[0].scores["accuracy"] == pytest.approx(own["accuracy"], abs=1e-12)
    assert result.touched["error"] == 2
    assert result.touched["limit"] == 2


def test_metadata_are_attributes_and_reasons_are_kept(data: Path, here: Here) -> None:
    here("convert", str(data / "inspect.eval"), "log.jsonl")
    rows = {r["question"]: r for r in map(json.loads, Path("log.jsonl").read_text().splitlines())}
    assert rows["q5"]["reason"] == "the grader gave up"
    assert rows["q5"]["why"] == "unscored"
    assert rows["q2"]["response"] == "I don't know"
    assert rows["q2"]["answer"] == ""
    assert [rows[f"q{i}"]["topic"] for i in (3, 4)] == ["small", "large"]
    assert rows["q1"]["correct"] == ["2"]
    assert "parts" not in rows["q1"]  # a list is no attribute


def test_a_log_must_say_what_its_errors_become(data: Path, here: Here) -> None:
    log = str(data / "inspect_epochs.json")
    assert "has 2 scorers (careful, match); name the one" in here.refuses("score", "--judged", log)
    line = here.refuses("score", "--judged", log, "--from", "inspect:scorer=match")
    assert "2 responses failed (error)" in line


def test_a_killed_run_counts_what_it_lacks_as_missing(data: Path, here: Here) -> None:
    log = str(data / "inspect_killed.eval")
    said = here("score", "--judged", log, "--format", "json")
    assert said.code == 0, said
    assert said.data["questions"] == 6
    assert said.data["touched"] == {"declined": 1, "missing": 3}
    assert any("lacks 3 of 6 samples" in note for note in said.data["notes"])
    assert any("its status is 'started'" in note for note in said.data["notes"])
    checked = here("validate", str(data / "inspect.eval"), log)
    assert checked.code == 1
    assert checked.out.count("has no response to question") == 3


def test_a_log_cut_short_anywhere_never_miscounts(data: Path, tmp_path: Path) -> None:
    whole = (data / "inspect.eval").read_bytes()
    truth = {"q1": "right", "q2": "declined", "q3": "wrong", "q4": "right", "q5": "unscored"}
    truth["q6"] = "right"
    path = tmp_path / "cut.eval"
    read = 0
    for size in [*range(0, len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:size])
        try:
            rows = rows_of(path)
        except InputError:
            continue
        read += 1
        assert rows.keys() == truth.keys()
        assert all(o in (truth[q], "missing") for q, o in rows.items())
    assert read > 50


def rows_of(path: Path) -> dict[str, str]:
    from abstain.formats.tables import read_table

    frame = read_table(str(path)).frame.collect()
    return dict(zip(frame["question"], frame["outcome"], strict=True))


# --------------------------------------------------------------------------- logs made by hand


def sample(name: str, value: Any = "C", **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "epoch": 1,
        "input": "?",
        "target": "x",
        "output": {"choices": [{"message": {"content": "x"}}]},
        "scores": {"s": {"value": value, "answer": "x"}},
        **more,
    }


def header(samples: list[str] | None = None, **more: Any) -> dict[str, Any]:
    dataset = {"samples": len(samples), "sample_ids": samples} if samples else {}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "task": "t",
            "model": "m",
            "dataset": dataset,
            "config": {"epochs": 1},
            "packages": {"inspect_ai": "0.3.285"},
        },
        **more,
    }


def json_log(samples: list[dict[str, Any]], **more: Any) -> str:
    return json.dumps({**header(), "samples": samples, **more})


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        *[("C", "right"), ("I", "wrong"), ("N", "declined"), (1, "right"), (0.0, "wrong")],
        *[(True, "right"), (False, "wrong"), ("1.0", "right"), ("no", "wrong")],
        (float("nan"), "unscored"),
    ],
)
def test_values(here: Here, value: Any, outcome: str) -> None:
    path = here.write("log.json", json_log([sample("a", value)]))
    assert rows_of(path) == {"a": outcome}


def test_a_limit_that_came_after_the_answer_changes_nothing(here: Here) -> None:
    limit = {"type": "token", "limit": 100}
    samples = [sample("a", "C", limit=limit), sample("b", "I", limit=limit)]
    path = here.write("log.json", json_log(samples))
    assert rows_of(path) == {"a": "right", "b": "limit"}


@pytest.mark.parametrize(
    ("format", "outcome"), [("inspect:partial=wrong", "wrong"), ("inspect:partial=right", "right")]
)
def test_partial(here: Here, format: str, outcome: str) -> None:
    here.write("log.json", json_log([sample("a", "P"), sample("b")]))
    assert "inspect:partial=wrong" in here.refuses("score", "--judged", "log.json")
    said = here("score", "--judged", "log.json", "--from", format, "--format", "json")
    assert said.data["results"][0]["counts"]["wrong"] == (outcome == "wrong")


def test_a_score_of_several_values(here: Here) -> None:
    here.write("log.json", json_log([sample("a", {"exact": 1, "style": 0.2})]))
    assert "--from inspect:scorer=s.exact" in here.refuses("score", "--judged", "log.json")
    said = here(
        *("score", "--judged", "log.json", "--from", "inspect:scorer=s.exact", "--format", "json")
    )
    assert said.data["results"][0]["counts"]["right"] == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json_log([sample("a"), sample("a")]), "sample 'a' stands twice in epoch 1"),
        (json_log([sample("a", 0.5)]), "--from inspect:right-at=0.5"),
        (json_log([sample("a", "maybe")]), "the score 'maybe' has no known meaning"),
        (json_log([sample("a", [1, 0])]), "the score is a list"),
        (json_log([sample("a", epoch=2)]), "its header speaks of one epoch"),
        (json_log([{"epoch": 1}]), "missing required field `id`"),
        (
            json_log([sample("a", scores={"s": {"grade": "C"}})]),
            "has a score without a value, expected one (log version 2, inspect_ai 0.3.285)",
        ),
        (json.dumps(header()), "has no samples, expected a log with them (log version 2"),
        (json_log([sample("a")])[:-200], "log.json: is not whole JSON"),
        (json_log([]), "log.json: has no responses"),
    ],
)
def test_broken_json_logs_are_refused(here: Here, text: str, expected: str) -> None:
    here.write("log.json", text)
    assert expected in here.refuses("score", "--judged", "log.json")


# ------------------------------------------------------------------------------ hostile archives

Pack = Callable[[bytes], bytes]


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def archive(
    entries: list[tuple[str, bytes]],
    *,
    method: int = 93,
    pack: Pack = zstd,
    flags: int = 0,
    crc: int | None = None,
    size: int | None = None,
    descriptor: bool = False,
) -> bytes:
    """A zip archive, byte by byte, so that any of its fields may lie."""
    out, directory = io.BytesIO(), io.BytesIO()
    for name, data in entries:
        packed, raw = pack(data), name.encode()
        sums = (zlib.crc32(data) if crc is None else crc, len(packed), size or len(data))
        own = flags | 0x800 | (8 if descriptor else 0)
        at = out.tell()
        told = (0, 0, 0) if descriptor else sums
        out.write(struct.pack("<4s5H3I2H", b"PK\3\4", 63, own, method, 0, 0, *told, len(raw), 0))
        out.write(raw + packed)
        if descriptor:
            out.write(struct.pack("<4s3I", b"PK\7\10", *sums))
        directory.write(
            struct.pack(
                "<4s6H3I5H2I",
                *(b"PK\1\2", 63, 63, own, method, 0, 0, *sums),
                *(len(raw), 0, 0, 0, 0, 0, at),
            )
            + raw
        )
    start = out.tell()
    out.write(directory.getvalue())
    count = len(entries)
    out.write(
        struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(directory.getvalue()), start, 0)
    )
    return out.getvalue()


def eval_entries(*names: str) -> list[tuple[str, bytes]]:
    samples = [(f"samples/{n}_epoch_1.json", json.dumps(sample(n)).encode()) for n in names]
    return [("header.json", json.dumps(header(list(names))).encode()), *samples]


@pytest.mark.parametrize(
    ("method", "pack"), [(0, bytes), (8, deflate), (93, zstd)], ids=["stored", "deflate", "zstd"]
)
@pytest.mark.parametrize("descriptor", [False, True])
def test_the_three_ways_to_pack(here: Here, method: int, pack: Pack, descriptor: bool) -> None:
    whole = archive(eval_entries("a", "b"), method=method, pack=pack, descriptor=descriptor)
    path = here.write("log.eval", whole)
    assert rows_of(path) == {"a": "right", "b": "right"}
    cut = whole.index(b"PK\1\2")  # the directory is gone
    path = here.write("cut.eval", whole[:cut])
    if method == 0 and descriptor:  # nothing says where such an entry ends
        with pytest.raises(InputError):
            rows_of(path)
    else:
        assert rows_of(path) == {"a": "right", "b": "right"}


@pytest.mark.parametrize("name", ["../evil.json", "/etc/evil", "samples/../../x.json", "C:\\x"])
def test_paths_that_point_outside_are_refused(here: Here, name: str) -> None:
    here.write("log.eval", archive([*eval_entries("a"), (name, b"{}")]))
    assert "points outside" in here.refuses("score", "--judged", "log.eval")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"method": 12, "pack": bytes}, "compressed by method 12, expected stored"),
        ({"method": 8, "pack": zstd}, "is damaged"),
        ({"method": 93, "pack": deflate}, "is damaged"),
        ({"crc": 1}, "is damaged: it has another checksum"),
        ({"size": 7}, "is damaged: it has "),
        ({"flags": 1}, "has an encrypted entry"),
    ],
)
def test_wrong_compression_is_refused(here: Here, more: dict[str, Any], expected: str) -> None:
    here.write("log.eval", archive(eval_entries("a"), **more))
    assert expected in here.refuses("score", "--judged", "log.eval")


def test_overlapping_entries_are_refused(here: Here) -> None:
    good = archive(eval_entries("a", "b"))
    at = good.rindex(b"PK\1\2")  # the directory's last entry points at the first one's data
    bad = good[: at + 42] + struct.pack("<I", 0) + good[at + 46 :]
    here.write("log.eval", bad)
    assert "entries that overlap" in here.refuses("score", "--judged", "log.eval")


@pytest.mark.parametrize(("method", "level"), [(8, deflate), (93, zstd)])
def test_a_zip_bomb_is_refused_in_little_memory(
    here: Here, monkeypatch: pytest.MonkeyPatch, method: int, level: Pack
) -> None:
    monkeypatch.setenv("ABSTAIN_MAX_BYTES", str(8 << 20))
    bomb = [*eval_entries("a"), ("samples/z_epoch_1.json", bytes(1 << 28))]
    path = here.write("log.eval", archive(bomb, method=method, pack=level))
    assert path.stat().st_size < 1 << 20
    del bomb
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="unpacks to more than 8,388,608 bytes"):
            rows_of(path)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_many_samples_take_the_memory_of_one(here: Here) -> None:
    """Events are skipped: a log of 200 MB of them needs a small part of that."""
    big = {"events": ["x" * 1000] * 4000}  # 4 MB a sample
    names = [f"q{i}" for i in range(50)]
    entries = [("header.json", json.dumps(header(names)).encode())]
    entries += [(f"samples/{n}.json", json.dumps({**sample(n), **big}).encode()) for n in names]
    path = here.write("log.eval", archive(entries))
    del entries
    rows_of(path)
    tracemalloc.start()
    try:
        assert len(rows_of(path)) == 50
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"PK\3\4 and nothing more", "is not a readable archive"),
        (b"PK\5\6" + bytes(18), "is an archive without header.json"),
        (archive([("other.txt", b"hello")]), "is an archive without header.json"),
        (archive([("header.json", b"{}")]), "missing required field `eval`"),
        (archive([("header.json", b'{"eval": {')]), "is not whole JSON"),
        (
            archive([("header.json", json.dumps(header()).encode()), ("samples/a.json", b"[]")]),
            "is no Inspect sample of a known shape",
        ),
    ],
)
def test_archives_that_are_no_logs(here: Here, content: bytes, expected: str) -> None:
    here.write("log.eval", content)
    assert expected in here.refuses("score", "--judged", "log.eval")


def test_the_archives_of_the_tests_are_archives() -> None:
    packed = archive([("a", b"hello")], method=8, pack=deflate)
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        assert opened.read("a") == b"hello"
