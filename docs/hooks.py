"""What mkdocs does to the pages: files get titles, formulas become MathML, measures a menu.

Everything happens while the site is built: readers need no network and no script.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

MATH = re.compile(r"^```math\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"^(`{3,}\w+) file=(\S+)$", re.M)
NEEDS = re.compile(r"^(`{3,}\w+) (?:needs|data)=\S+$", re.M)


def on_config(config: Any) -> Any:
    """Put the page of each measure and of each command into the menu."""
    text = (Path(config.docs_dir) / "reference" / "measures.md").read_text(encoding="utf-8")
    menu: list[Any] = [{"All measures": "reference/measures.md"}]
    for section in text.split("\n## ")[1:]:
        links = re.findall(r"^\| \[(.*?)\]\((measures/.*?\.md)\)", section, re.M)
        entries = [{html.unescape(name).replace("\\", ""): f"reference/{to}"} for name, to in links]
        menu.append({section.splitlines()[0]: entries})
    text = (Path(config.docs_dir) / "reference" / "commands.md").read_text(encoding="utf-8")
    commands: list[Any] = [{"All commands": "reference/commands.md"}]
    commands += [
        {name: f"reference/{to}"} for name, to in re.findall(r"\[abstain (\w+)\]\((.*?)\)", text)
    ]
    for entry in config.nav:
        if "Measures" in entry:
            entry["Measures"] = menu
        if "Commands" in entry:
            entry["Commands"] = commands
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Formulas as MathML; the name of a block's file as its title."""
    markdown = MATH.sub(lambda found: formula(found[1].strip()), markdown)
    markdown = FILE.sub(r'\1 title="\2"', markdown)
    return NEEDS.sub(r"\1", markdown)


def formula(latex: str) -> str:
    """A formula as MathML, on lines of its own."""
    return f'<div class="formula">{convert(latex, display="block")}</div>'


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Take the script for searching from disk from here, not from the network."""
    here = "../" * page.url.count("/") + "assets/file-worker.js"
    return output.replace("https://unpkg.com/iframe-worker/shim", here)


def on_post_template(output_content: str, **_: Any) -> str:
    """The page for what is not found needs no search from disk."""
    return output_content.replace(
        '<script src="https://unpkg.com/iframe-worker/shim"></script>', ""
    )
