"""JSON as people read it: indented, and with nothing in it that could steer a terminal."""

from __future__ import annotations

import re
from typing import Any

import msgspec

STEERING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def json_of(data: Any) -> str:
    """Data or a struct as indented JSON.

    >>> json_of({"a": "\\u202e"})
    '{\\n  "a": "\\\\u202e"\\n}\\n'
    """
    text = msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"
    # JSON allows what may steer a terminal; the escapes mean the same text.
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
