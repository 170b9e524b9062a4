"""Vega, Vega-Lite and Vega-Embed as one script for a page.

Bundling takes a second or more, so the script is kept in the user's cache, one for each release of
vl-convert. A kept script that is not whole is made again; a cache that cannot be written is done
without.
"""

from __future__ import annotations

import functools
import hashlib
import os
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from abstain.errors import AbstainError
from abstain.io.files import whole

SNIPPET = "window.vegaEmbed = vegaEmbed; dispatchEvent(new Event('charts'));"


@functools.cache
def chart_library() -> str:
    """The script, closed to the markup of the page that it stands in."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    kept = Path(base) / "abstain" / f"vega-{version('vl-convert-python')}.js"
    script = _read(kept)
    if script is None:
        import vl_convert

        script = str(vl_convert.javascript_bundle(SNIPPET))
        _keep(kept, script)
    return script.replace("</script", "<\\/script")


def _digest(script: bytes) -> str:
    return hashlib.sha256(SNIPPET.encode() + script).hexdigest()


def _read(kept: Path) -> str | None:
    """The kept script, where its first line vouches for the rest."""
    try:
        digest, _, script = kept.read_bytes().partition(b"\n")
        if digest.decode() == _digest(script):
            return script.decode()
    except (OSError, UnicodeDecodeError):
        pass
    return None


def _keep(kept: Path, script: str) -> None:
    with suppress(OSError, AbstainError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        body = script.encode()
        with whole(kept) as draft:
            draft.write_bytes(_digest(body).encode() + b"\n" + body)
