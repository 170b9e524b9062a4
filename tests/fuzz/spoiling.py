"""What spoils the files of a case: bytes, tables, documents, archives and names that are odd."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import zstandard

NASTY = (
    *("", " ", "*", "^.*$", "^q.$", "NaN", "null", "-1", "1e400", "0,5", "é", "\u202e", "\ufeffq1"),
    *("=cmd()", "<script>", "a|b", "a/b/c", "../x", "'", '"', "\\", "{}", "[]", "__row", "by:x"),
    *("x" * 5_000, "\x1b[31m", "\ud7ff", "9" * 400, "%s", "$1", "q1\nq2", "run", "question"),
    *("inf", "-0.0", "True", "\u2028", "a\tb", "a\rb", "\u00a0", "^", "$", "run\x00x", "nil", "."),
    *("{{7*7}}", "${x}", "\\x00", "__kind", "index", "literal", "len", "count", "o\u0308", "ß"),
)
NUMBERS = ("0", "1", "2", "3", "5", "10", "100", "64")
ABSURD = (
    "9" * 20,
    "1e400",
    "NaN",
    "inf",
    "-inf",
    "2147483648",
    "1000000",
    "x",
    "",
    "½",
    "4096",
    "-1",
    "0x10",
    "1_000",
    "1e-300",
    "1e6",
)
LARGE = (0, -1, 1, 2, 7, 2**53, 2**63, -(2**63), 10**30, 1e308, -1e308, 0.5, 1e-320, -0.0, None)
"""What a number may become: it stays one, or is none."""


STARTS = (
    *(
        b"\x1f\x8b",
        b"PK\x03\x04",
        b"PAR1",
        b"ARROW1\0\0",
        b"\x28\xb5\x2f\xfd",
        b"\xff\xfe",
        b"%PDF-1",
    ),
    *(
        b"\r",
        b"\n" * 70_000,
        b" " * 70_000,
        b"\xef\xbb\xbf{",
        b"<?xml version='1.0' encoding='utf-7'?>",
    ),
)
"""What other kinds of files begin with."""

LITERALS = (
    *(b'"\\ud800"', b"NaN", b"-Infinity", b"1" * 400, b"1e400", b"1E-400", b"-0", b"00", b"0x1"),
    *(b"[" * 200 + b"]" * 200, b'"\\u0000"', b'"\\x"', b"true", b"{}", b"'A'", b"undefined"),
)
"""Values of JSON, and what is none."""

DOCTYPES = (
    b"<!DOCTYPE a [<!ENTITY x 'A'>]>",
    b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>",
    b"<!DOCTYPE a SYSTEM 'http://127.0.0.1:9/x.dtd'>",
    b"<?xml version='1.1' encoding='ebcdic'?>",
    b"<?xml-stylesheet href='x'?>",
)

CALLED = (
    *("a\nb", "\x1b[31mred", "\u202egnp", "-x", "--force", "a=b", "*", "[a]", " ", "a b", "é", "~"),
    *("\udcff", "x" * 200, "a,b", "'", '"', "%s", "a:1", "gold", "$HOME", "{0}", ".hidden", "..."),
)
"""What a file may be called; one of them is no UTF-8."""


def spoilt(rng: random.Random, data: bytes) -> bytes:
    """Bytes with something wrong: cut, doubled, with marks, other bytes or nasty texts in them."""
    if not data:
        return rng.choice((b"", b"\0", b"\xef\xbb\xbf"))
    at, to = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    nasty = rng.choice(NASTY).encode("utf-8", "replace")
    some = rng.choice((b"\xff", b"\0", b'"', b"\r", b"\n", b",", b"}", b"\t", b" ", b"\xc3", b"'"))
    lines = data.split(b"\n")
    line = rng.randrange(len(lines))
    header, mark, body = data.partition(b"\n")
    ways: tuple[Callable[[], bytes], ...] = (
        lambda: data[:at],
        lambda: data[:at] + data[to:],
        lambda: data + data[at:to],
        lambda: b"\xef\xbb\xbf" * rng.choice((1, 1, 2)) + data,
        lambda: data[:at] + some + data[at:],
        lambda: data[:at] + nasty + data[at:],
        lambda: data.replace(rng.choice((b"q1", b"A", b"question", b"answer", b"1", b"d1")), nasty),
        lambda: data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"\n \n", b"\r\r\n"))),
        lambda: data.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-16-le"))),
        lambda: data.decode("utf-8", "replace").encode("latin-1", "replace"),
        lambda: data.replace(b"0.5", rng.choice((b"NaN", b"1e999", b"0,5", b"-1", b"Infinity"))),
        lambda: data.decode("utf-8", "replace").encode("utf-32"),
        lambda: bytes(rng.randrange(256) for _ in range(60)),
        lambda: rng.choice(STARTS) + data,
        lambda: data + data,
        # JSON
        lambda: data.replace(b'"A"', rng.choice(LITERALS)),
        lambda: data.replace(b'"question":', b'"question": "q9", "question":'),
        lambda: data.replace(b'": "', b'": ' + rng.choice(LITERALS) + b', "', 1),
        # XML
        lambda: rng.choice(DOCTYPES) + data.replace(b"A", b"&x;", rng.choice((0, 1))),
        lambda: data.replace(b"<", b"<n:", rng.choice((1, -1))),
        lambda: data.replace(b">", b" xmlns='urn:x'>", 1),
        lambda: data.replace(b">", b"><![CDATA[<q>]]><!-- x --><?y z?>", 1),
        lambda: b"[" * rng.choice((10, 5_000)) + data,
        lambda: b'{"a":' * 5_000 + data,
        # tables
        lambda: b"\n".join([*lines[:line], lines[line] + b",x,y", *lines[line + 1 :]]),
        lambda: b"\n".join([*lines[:line], lines[line].rpartition(b",")[0], *lines[line + 1 :]]),
        lambda: b"\n".join([*lines[:line], lines[line], lines[line], *lines[line + 1 :]]),
        lambda: b"\n".join([*lines[:line], b"", b",,,", *lines[line + 1 :]]),
        lambda: header + mark,
        lambda: header,
        lambda: body,
        lambda: header + b"," + header + mark + body,
        lambda: header + b",," + mark + body,
        lambda: header.upper() + mark + body,
        lambda: b" " + header.replace(b",", b" , ") + mark + body,
        lambda: header.replace(b",", b";") + mark + body,
        lambda: data.replace(b",", b";"),
        lambda: b"# a comment\n" + data,
        lambda: b"sep=,\n" + data,
        lambda: b"\n\n" + data + b"\n\n\n",
        lambda: data + b'\n"unclosed',
        lambda: shaken_json(rng, data),
    )
    return rng.choice(ways)()


ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**30, 1e308, 0.5, "", "x", "A", [], {}, [None], {"": None}, [[]]),
    *("x" * 3_000, "*", "\ud7ff", {"a": {"b": []}}, [1, "a", None], "2026-01-01", "NaN", -0.0),
    float("nan"),
    float("inf"),
)


def shaken_json(rng: random.Random, data: bytes) -> bytes:
    """A document of which a few values are something else, gone or renamed; or the same bytes."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data
    if not isinstance(document, (dict, list)):
        return json.dumps(rng.choice(ODD)).encode()
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        places: list[tuple[Any, Any]] = []
        _places(document, places)
        if not places:
            return json.dumps(rng.choice(ODD)).encode()
        inside, key = rng.choice(places)
        way = rng.random()
        if way < 0.35:
            inside[key] = _alike(rng, inside[key])
        elif way < 0.7:
            inside[key] = copy.deepcopy(rng.choice(ODD))
        elif way < 0.85:
            del inside[key]
        elif isinstance(inside, dict):
            inside[rng.choice(NASTY)] = inside.pop(key)
        else:
            inside.append(inside[key])
    return json.dumps(document).encode()


def _alike(rng: random.Random, value: Any) -> Any:
    """Something odd of the same type: another number or text, one more in a list, or less."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return rng.choice(LARGE)
    if isinstance(value, str):
        return rng.choice(NASTY)
    if not value:
        return rng.choice(ODD)
    if isinstance(value, list):
        return rng.choice(([], value[:-1], [*value, value[0]], value[::-1]))
    gone = rng.choice(list(value))
    rest = {name: own for name, own in value.items() if name != gone}
    return rest if rng.random() < 0.5 else {**rest, rng.choice(NASTY): value[gone]}


def _places(value: Any, found: list[tuple[Any, Any]]) -> None:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, own in items:
        found.append((value, key))
        if isinstance(own, (dict, list)):
            _places(own, found)


def packed(data: bytes, name: str) -> bytes:
    """Bytes as the ending of a name says."""
    return gzip.compress(data, mtime=0) if name.endswith("gz") else zstandard.compress(data)


def zipped(rng: random.Random, files: dict[str, bytes]) -> bytes:
    """An archive of files, now and then one that no honest tool makes."""
    out = io.BytesIO()
    odd = rng.random() < 0.3
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of a name that is there twice
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
        if odd:
            other = rng.choice(
                (*files, "/etc/x.csv", "../../out.csv", "a\\b.csv", "runs/", "\x1b.csv")
            )
            member = zipfile.ZipInfo(other)
            member.external_attr = rng.choice((0, 0o120777 << 16, 0o010666 << 16))
            archive.writestr(member, rng.choice((b"", b"question,answer\nq1,A\n", b"gold.csv")))
    made = out.getvalue()
    if odd and rng.random() < 0.5:
        at = rng.choice((6, 8, 14, 18, 22, 26))  # flags, method, checksum, sizes, the name's length
        made = made[:at] + bytes([rng.randrange(256)]) + made[at + 1 :]
        entry = made.rfind(b"PK\x01\x02")
        at = entry + rng.choice((8, 10, 16, 20, 24, 28, 42))
        made = made[:at] + bytes([rng.choice((0, 1, 9, 99, 255))]) + made[at + 1 :]
    return made
