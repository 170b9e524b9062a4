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
from abstain.io import archive as archives
from abstain.io.files import open_plain
from tests.formats.logs.test_inspect import header, rows_of, sample
from tests.helpers import Here

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
        ({"method": 8, "pack": zstd}, "is damaged: it cannot be unpacked (Error -3"),
        ({"method": 93, "pack": deflate}, "is damaged"),
        ({"crc": 1}, "is damaged: it has a checksum that differs"),
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
        with pytest.raises(InputError, match="unpacks to more than 8,388,608 bytes"):
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
        (b"PK\3\4 and nothing more", "is not a readable archive"),
        (b"PK\5\6" + bytes(18), "is an Inspect log without its header.json"),
        (archive([("other.txt", b"hello")]), "is an Inspect log without its header.json"),
        (archive([("header.json", b"{}")]), "missing required field `eval`"),
        (archive([("header.json", b'{"eval": {')]), "is not complete JSON"),
        (
            archive([("header.json", json.dumps(header()).encode()), ("samples/a.json", b"[]")]),
            "is not an Inspect sample of a known structure",
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


# ------------------------------------------------------------------- cut, repeated, too large


@pytest.mark.slow
@pytest.mark.parametrize(("method", "pack"), [(8, deflate), (93, zstd)], ids=["deflate", "zstd"])
def test_an_archive_cut_anywhere_is_read_or_refused(here: Here, method: int, pack: Pack) -> None:
    """A killed writer leaves any number of bytes: also those of a descriptor or of a name."""
    whole = archive(eval_entries("a", "b"), method=method, pack=pack, descriptor=True)
    end = whole.index(b"PK\1\2")
    recovered = set()
    for size in range(4, end + 1):
        path = here.write("cut.eval", whole[:size])
        try:
            rows = rows_of(path)
        except InputError:
            continue
        assert set(rows.values()) <= {"right", "missing"}
        recovered.add(list(rows.values()).count("right"))
    assert recovered == {0, 1, 2}


@pytest.mark.parametrize("length", [0, 3, 8, 11, 16, 40, 65535])
def test_a_short_extra_field_is_no_reason_to_fail(length: int) -> None:
    extra = struct.pack("<HHI", 1, length, 7)  # it says `length` and has four bytes
    assert archives._zip64(5, 6, extra) == (5, 6)
    assert archives._zip64(archives.BIG, 6, extra) == (archives.BIG, 6)


def test_sizes_of_eight_bytes() -> None:
    extra = struct.pack("<HHQQ", 1, 16, 1 << 33, 1 << 34)
    assert archives._zip64(archives.BIG, archives.BIG, extra) == (1 << 34, 1 << 33)


@pytest.mark.parametrize("directory", [True, False])
def test_an_entry_that_stands_twice_is_said(here: Here, directory: bool) -> None:
    second = ("samples/a_epoch_1.json", json.dumps(sample("a", "I")).encode())
    whole = archive([*eval_entries("a", "b"), second])
    here.write("log.eval", whole if directory else whole[: whole.index(b"PK\1\2")])
    said = here("score", "--judged", "log.eval", "--format", "json")
    assert said.code == 0, said
    counts = said.data["results"][0]["counts"]
    assert (counts["right"], counts["wrong"]) == (1, 1)
    assert any(
        "has 1 entry more than once; the last copy of each counts (the first such entry: "
        "'samples/a_ep" in note
        for note in said.data["notes"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("method", "pack"), [(8, deflate), (93, zstd)], ids=["deflate", "zstd"])
def test_a_bomb_without_a_directory_takes_little_memory(
    here: Here, monkeypatch: pytest.MonkeyPatch, method: int, pack: Pack
) -> None:
    monkeypatch.setenv("ABSTAIN_MAX_BYTES", str(64 << 20))
    bomb = [*eval_entries("a"), ("samples/z_epoch_1.json", bytes(1 << 28))]
    whole = archive(bomb, method=method, pack=pack, descriptor=True)
    path = here.write("log.eval", whole[: whole.index(b"PK\1\2")])
    del bomb, whole
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="unpacks to more than 67,108,864 bytes"):
            rows_of(path)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_measuring_counts_towards_all_that_is_unpacked(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [*eval_entries("a"), *((f"other/{i}", bytes(1 << 16)) for i in range(20))]
    whole = archive(entries, descriptor=True)
    path = here.write("log.eval", whole[: whole.index(b"PK\1\2")])
    assert rows_of(path) == {"a": "right"}
    monkeypatch.setattr(archives, "MAX_BYTES", 10 << 16)
    with pytest.raises(InputError, match="unpacks to more than 655,360 bytes at 'other/9'"):
        rows_of(path)


def test_a_directory_is_refused_before_its_entries_are_made(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = here.write("log.eval", archive(eval_entries(*(f"q{i}" for i in range(50)))))
    made = []
    init = zipfile.ZipInfo.__init__

    def count(self: zipfile.ZipInfo, *args: Any, **more: Any) -> None:
        made.append(1)
        init(self, *args, **more)

    monkeypatch.setattr(zipfile.ZipInfo, "__init__", count)
    with archives.Archive(open_plain(path)) as opened:
        assert len(opened.entries) == len(made) == 51
    made.clear()
    monkeypatch.setattr(archives, "MAX_DIRECTORY", 1000)
    with pytest.raises(InputError, match=r"has a directory of \d,\d+ bytes, more than 1,000"):
        archives.Archive(open_plain(path))
    assert not made
