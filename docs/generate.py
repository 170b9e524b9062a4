"""Write the generated pages of the manual: `python docs/generate.py [--check]`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from abstain.measures import definitions
from abstain.report.cards import bound, signature
from abstain.report.grid import markdown_text

HERE = Path(__file__).parent / "reference"
MADE_BY = "<!-- made by docs/generate.py; do not edit -->\n\n"


def measures_page() -> str:
    """Every measure with all that is known of it."""
    parts = [MADE_BY, "# Measures\n"]
    for d in definitions().values():
        needed = [p for p in d.parameters if not p.optional]
        low, high = d.bounds(**{p.name: p.default or 0.5 for p in needed})
        facts = [
            ("formula", f"`{d.formula}`"),
            ("κ, the credit of a blank", f"`{d.kappa_text}`"),
            ("p*, answering pays above", f"`{d.break_even_text}`"),
            (
                "range",
                f"{bound(low)} to {bound(high)}" + (" (at t = 0.5)" if d.name == "S" else ""),
            ),
            ("convention", markdown_text(d.convention)),
            ("undefined", "; ".join(rule.reason for rule in d.undefined)),
            ("example", f"gains 1, 0, 1, 3 to find: `{d.example}`" if d.example else ""),
            ("to game it", markdown_text(d.gaming)),
            ("also called", ", ".join(f"`{alias}`" for alias in d.aliases)),
            ("source", markdown_text(d.source)),
        ]
        facts[1:1] = [(p.name, f"{p.meaning}; in {p.range_text}") for p in d.parameters]
        if d.monotone:
            facts.insert(-2, ("beware", d.monotone))
        parts.append(f"\n## {signature(d)}\n\n{d.summary}\n\n| | |\n| --- | --- |\n")
        parts += [f"| {name} | {text} |\n" for name, text in facts if text and text != "`–`"]
    return "".join(parts)


def commands_page() -> str:
    """The help of every command, as a terminal of 80 columns shows it."""
    os.environ |= {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1"}
    import typer.main

    from abstain.cli.app import app

    group = typer.main.get_command(app)
    parts = [MADE_BY, "# Commands\n"]
    for name in ("", *getattr(group, "commands", {})):
        command = group if not name else group.commands[name]  # type: ignore[attr-defined]
        context = command.make_context(
            f"abstain {name}".strip(), [], resilient_parsing=True, max_content_width=80
        )
        parts.append(
            f"\n## abstain {name}".rstrip() + f"\n\n```text\n{command.get_help(context)}\n```\n"
        )
    return "".join(parts)


PAGES = {"measures.md": measures_page, "commands.md": commands_page}


def main() -> int:
    """Write the pages, or with --check say which of them are not what they should be."""
    HERE.mkdir(exist_ok=True)
    stale = [n for n, page in PAGES.items() if _read(HERE / n) != page()]
    if "--check" in sys.argv:
        sys.stdout.writelines(f"docs/reference/{name} is stale: make docs\n" for name in stale)
        return len(stale)
    for name in stale:
        (HERE / name).write_text(PAGES[name](), encoding="utf-8")
    sys.stdout.write(f"docs/reference: {len(PAGES)} pages, {len(stale)} written\n")
    return 0


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
