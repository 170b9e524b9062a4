"""XML from strangers: tags told one by one, within bounds, each with its line.

No tree is kept. The parser is fed from one start tag to the next: that is how a tag knows its
line. A document type declaration is refused before its first entity, and with it every entity,
external reference and network address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from abstain.errors import InputError, Place, shown
from abstain.io.files import BOM, MAX_XML_BYTES, Opened, bad_utf8_line
from abstain.io.packing import byte_limit

MAX_TAG = 8 << 20
MAX_DEPTH = 50
BLOCK = 1 << 16


class Listener:
    """What the parser tells its tags to: `opens`, `closes` and `data` are for a format to fill."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.expected = "expected XML"
        self.line = 1
        self.open: list[str] = []
        """The elements that are open, the root first."""

    def opens(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins; it is the last of `open`."""

    def closes(self, tag: str) -> None:
        """An element ends; it is still the last of `open`."""

    def data(self, text: str) -> None:
        """Text between two tags."""

    def fail(self, message: str) -> InputError:
        """An error at the tag that is being read."""
        return InputError(message, Place(self.name, self.line))

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """The parser's word for an element that begins."""
        tag = tag.rpartition("}")[2]
        self.open.append(tag)
        if len(self.open) > MAX_DEPTH:
            raise self.fail(f"is nested more than {MAX_DEPTH} elements deep, {self.expected}")
        if len(self.open) == 1 and tag.lower() == "html":
            raise self.fail(f"is an HTML page, {self.expected}")
        self.opens(tag, attributes)

    def end(self, tag: str) -> None:
        """The parser's word for an element that ends."""
        self.closes(tag.rpartition("}")[2])
        self.open.pop()

    def doctype(self, name: str | None, public: str | None, system: str | None) -> None:
        """The parser's word for a document type declaration, before anything in it."""
        if (name or "").lower() == "html":
            raise self.fail(f"is an HTML page, {self.expected}")
        raise self.fail(
            "has a document type declaration (with or without entities), expected XML without one"
        )

    def close(self) -> None:
        """Nothing is left to do at the end."""


def parse(opened: Opened, listener: Listener, *, expected: str) -> None:
    """Tell a file's tags to a listener; `expected` ends the message when it is something else."""
    from lxml import etree

    listener.expected = expected
    _check_size(opened)
    encoding = _check_encoding(opened, expected)
    parser = etree.XMLParser(
        target=listener,
        resolve_entities="internal",  # &amp; and the like: there are no others without a DTD
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        no_network=True,
        huge_tree=False,
        recover=False,
    )
    fed = False
    try:
        for line, chunk in _chunks(opened, expected):
            listener.line = line
            parser.feed(chunk)
        fed = True
        parser.close()
    except etree.XMLSyntaxError as error:
        if fed and listener.open:
            raise InputError(
                f"ends inside {shown(f'<{listener.open[-1]}>')}, expected the whole file",
                Place(opened.name, max(1, error.position[0])),
            ) from None
        raise _malformed(error, opened, listener, encoding) from None


def _check_size(opened: Opened) -> None:
    size = len(opened.data or b"") if opened.path is None else opened.path.stat().st_size
    limit = byte_limit(MAX_XML_BYTES)
    if size > limit:
        raise InputError(
            f"has {size:,} bytes, expected at most {limit:,} (ABSTAIN_MAX_BYTES sets the bound)",
            opened.name,
        )


def _chunks(opened: Opened, expected: str) -> Iterator[tuple[int, bytes]]:
    """The bytes in chunks that begin with a start tag, each with the line of its `<`."""
    line, begins, unclosed = 1, 1, 0
    with opened.stream() as file:
        while block := file.read(BLOCK):
            if b"\0" in block:
                raise InputError(
                    "is binary or UTF-16 (it has zero bytes), expected UTF-8",
                    Place(opened.name, line),
                )
            for number, part in enumerate(_BEGINS.split(block)):
                if number:
                    part, begins, unclosed = b"<" + part, line, 1
                if b">" in part:
                    unclosed = 0
                elif unclosed:
                    unclosed += len(part)
                    if unclosed > MAX_TAG:
                        raise InputError(
                            f"has a tag of more than {MAX_TAG >> 20} MiB, {expected}",
                            Place(opened.name, begins),
                        )
                if part:
                    yield begins, part
                    line += part.count(b"\n")


_BEGINS = re.compile(rb"<(?!/)")
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_ENCODINGS = re.compile(r"utf-?8|(us-)?ascii|iso-?8859-?\d+|latin-?\d|(windows|cp)-?125\d")


def _check_encoding(opened: Opened, expected: str) -> str:
    """The encoding that the file declares; only those are read that cannot hide a tag."""
    head = opened.head(1 << 10).removeprefix(BOM)
    if not head.strip():
        raise InputError(f"is empty, {expected}", Place(opened.name, 1))
    if b"\0" in head or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("is binary or UTF-16, expected UTF-8", Place(opened.name, 1))
    declared = _DECLARED.match(head)
    encoding = declared[1].decode().lower() if declared else "utf-8"
    if not _ENCODINGS.fullmatch(encoding):
        raise InputError(
            f"declares the encoding {shown(encoding)}, expected UTF-8", Place(opened.name, 1)
        )
    return encoding


def _malformed(error: Any, opened: Opened, listener: Listener, encoding: str) -> InputError:
    line = max(1, (error.position or (listener.line, 0))[0])
    reason = str(error.msg or "").split(", line ")[0].strip().split("\n")[0]
    if encoding in ("utf-8", "utf8") and re.search("encoding|UTF-8|bytes", reason):
        return InputError(
            "is not UTF-8 text, expected UTF-8 or a declaration of its encoding",
            Place(opened.name, bad_utf8_line(opened) or line),
        )
    return InputError(
        f"is not XML: {reason[:150] or 'no element'}, {listener.expected}", Place(opened.name, line)
    )
