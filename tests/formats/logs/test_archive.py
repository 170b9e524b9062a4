"""Archives that are hostile, damaged, cut or too large: refused in one line, in little memory."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import pytest
import zstandard

from abstain.errors import InputError
from tests.formats.logs.test_inspect import header, rows_of, sample
from tests.helpers import Here
from tests.snapshots import refuses, says

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
    here.write("cut.eval", whole[:cut])
    assert "not a zip file" in here.refuses("score", "--judged", "cut.eval")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"method": 12, "pack": bytes}, ()),
        ({"method": 8, "pack": zstd}, ("-3",)),
        ({"method": 93, "pack": deflate}, ()),
        ({"crc": 1}, ()),
        ({"size": 7}, ()),
        ({"flags": 1}, ()),
    ],
)
def test_wrong_compression_is_refused(
    here: Here, more: dict[str, Any], expected: tuple[str, ...]
) -> None:
    here.write("log.eval", archive(eval_entries("a"), **more))
    says(here.refuses("score", "--judged", "log.eval"), *expected)


def test_overlapping_entries_are_refused(here: Here) -> None:
    good = archive(eval_entries("a", "b"))
    at = good.rindex(b"PK\1\2")  # the directory's last entry points at the first one's data
    bad = good[: at + 42] + struct.pack("<I", 0) + good[at + 46 :]
    here.write("log.eval", bad)
    here.refuses("score", "--judged", "log.eval")


@pytest.mark.slow
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
        with refuses(InputError, "8,388,608"):
            rows_of(path)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.slow
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
        (b"PK\3\4 and nothing more", ()),
        (b"PK\5\6" + bytes(18), ("header.json",)),
        (archive([("other.txt", b"hello")]), ("header.json",)),
        (archive([("header.json", b"{}")]), ()),
        (archive([("header.json", b'{"eval": {')]), ()),
        (
            archive([("header.json", json.dumps(header()).encode()), ("samples/a.json", b"[]")]),
            (),
        ),
    ],
)
def test_archives_that_are_no_logs(here: Here, content: bytes, expected: tuple[str, ...]) -> None:
    here.write("log.eval", content)
    says(here.refuses("score", "--judged", "log.eval"), *expected)


def test_the_archives_of_the_tests_are_archives() -> None:
    packed = archive([("a", b"hello")], method=8, pack=deflate)
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        assert opened.read("a") == b"hello"


# ------------------------------------------------------------------- cut, repeated, too large


def test_of_an_entry_that_stands_twice_the_last_counts(here: Here) -> None:
    second = ("samples/a_epoch_1.json", json.dumps(sample("a", "I")).encode())
    here.write("log.eval", archive([*eval_entries("a", "b"), second]))
    said = here("score", "--judged", "log.eval", "--format", "json")
    assert said.code == 0, said
    counts = said.data["results"][0]["counts"]
    assert (counts["right"], counts["wrong"]) == (1, 1)
