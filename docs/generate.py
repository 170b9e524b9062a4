"""Write the generated pages of the manual: `python docs/generate.py [--check]`."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import vl_convert
from isolines import picture

from abstain.measures import Definition, Measure, definitions
from abstain.measures.registry import example_measure
from abstain.report.cards import (
    RIGHT,
    SHARES,
    SPLIT,
    SURE,
    bound,
    example,
    letters,
    signature,
)
from abstain.report.grid import markdown_text

HERE = Path(__file__).parent / "reference"
MADE_BY = "<!-- made by docs/generate.py; do not edit -->\n\n"
FAMILIES = {
    "counts": ("Of counts", "They need to know how many answers were right, wrong and left out."),
    "confidence": ("Of confidence", "They take answers with the system's confidence in each."),
    "ranking": ("Of rankings", "They take a list of documents, and what there was to find."),
}
WIDE = 10_000


def slug(name: str) -> str:
    """A measure's name as that of a file: c-at-1, ndcg-prime."""
    return name.lower().replace("@", "-at-").replace("'", "-prime").replace("--", "-")


def measures_page() -> str:
    """Every measure in a line, with a link to its page."""
    parts = [
        MADE_BY,
        "# Measures\n\n",
        "Each has a page of its own: formula, what a blank is worth (κ), when answering pays "
        "(p\\*), how to game it, when it does not exist, a worked example, its source. "
        "`abstain explain NAME` shows the same in a terminal.\n",
    ]
    for takes, (title, what) in FAMILIES.items():
        parts.append(f"\n## {title}\n\n{what}\n\n| measure | what it is | κ | p\\* |\n")
        parts.append("| --- | --- | --- | --- |\n")
        parts += [
            f"| [{markdown_text(signature(d))}](measures/{slug(d.name)}.md) "
            f"| {markdown_text(d.summary)} | {_code(d.kappa_text)} | {_code(d.break_even_text)} |\n"
            for d in definitions(takes).values()  # type: ignore[arg-type]
        ]
    return "".join(parts)


def measure_page(d: Definition) -> str:
    """All that is known of one measure."""
    item = example_measure(d.name)
    parts = [MADE_BY, f"# {markdown_text(signature(d))}\n\n{markdown_text(d.summary)}\n"]
    parts.append(f"\n```math\n\\text{{{d.name}}} = {d.latex}\n```\n\n")
    parts.append(f"In plain text `{d.formula}`, with {markdown_text(letters(d))}.\n")
    parts.append("\n| | |\n| --- | --- |\n")
    parts += [f"| {name} | {text} |\n" for name, text in _facts(d, item)]
    parts += _picture_section(d, item)
    parts.append(f"\n## To game it\n\n{markdown_text(d.gaming)}\n")
    if d.monotone:
        parts.append(f"\nBeware: {markdown_text(d.monotone)}.\n")
    parts.append(f"\n## Example\n\n{_told(item)}\n\n```python\n{_example_code(item)}\n```\n")
    parts.append(f"\n## Source\n\n{markdown_text(d.source)}\n")
    return "".join(parts)


def _facts(d: Definition, item: Measure) -> Iterator[tuple[str, str]]:
    for p in d.parameters:
        default = "" if p.default is None else f"; {p.default:g} if not said"
        yield (
            f"`{p.name}`",
            f"{markdown_text(p.meaning)}; in {markdown_text(p.range_text)}{default}",
        )
    if d.kappa is not None:
        yield "κ, what a blank is credited in right answers", _code(d.kappa_text)
    if d.break_even is not None:
        yield "p\\*, answering pays for a chance above it", _code(d.break_even_text)
    low, high = item.bounds
    better = "higher is better" if d.higher_is_better else "lower is better"
    at = f" (of {item})" if item.parameters and d.name == "S" else ""
    yield "range", f"{bound(low)} to {bound(high)}{at}, {better}"
    if d.convention:
        yield "convention", markdown_text(d.convention)
    reasons = (f"when {markdown_text(rule.reason)}" for rule in d.undefined)
    yield "undefined", "; ".join(reasons) or "never"
    if item.ranks_like:
        same = ", ".join(_code(name) for name in item.ranks_like)
        yield f"orders any runs as `{item}` does", same
    if d.aliases:
        yield "also called", ", ".join(_code(alias) for alias in d.aliases)


def _code(text: str) -> str:
    return text if text == "–" else f"`{text}`"


def _picture_section(d: Definition, item: Measure) -> Iterator[str]:
    if d.takes != "counts":
        return
    yield "\n## Lines of equal score\n\n"
    candidates = "half of the blanks hide a right candidate and half a wrong one"
    if f"measures/{slug(d.name)}.svg" not in pictures():
        yield f"Where {candidates}, it is the same for all shares: there is no line to draw.\n"
        return
    yield f"![Lines of equal {item} over the shares right and unanswered]({slug(d.name)}.svg)\n\n"
    yield "Along a line all runs score the same; to the right more is right, upwards more blank."
    if d.shares:
        yield (
            " Where a line leans left, blanks make up for right answers; where it stands upright "
            "they are worth nothing."
        )
    yield "\n"
    if d.needs_candidates:
        yield f"It also looks at what the blanks would have been: drawn here where {candidates}.\n"


def _told(item: Measure) -> str:
    """The worked example, each of its lines a line."""
    text, *rest = example(item, WIDE)
    text = text.removeprefix("Example: ")
    told = [text[0].upper() + text[1:], *rest]
    return "<br>\n".join(markdown_text(line) for line in told)


def _example_code(item: Measure) -> str:
    if item.definition.takes == "ranking":
        call = f"ab.measure({str(item)!r})([1, 0, 1], pool=3)"
        value: Any = item([1, 0, 1], pool=3)
    elif item.definition.takes == "confidence":
        call = f"ab.measure({str(item)!r})({list(RIGHT)}, {list(SURE)})"
        value = item(RIGHT, SURE)  # type: ignore[call-overload]
    else:
        k = SHARES if item.definition.shares else SPLIT
        said = ", ".join(
            f"{name}={getattr(k, name)}" for name in k.__dataclass_fields__ if getattr(k, name)
        )
        call, value = f"ab.measure({str(item)!r})(ab.Counts({said}))", item(k)
    return f">>> import abstain as ab\n>>> round({call}, 4)\n{round(value, 4)!r}\n"


def commands_page() -> str:
    """The help of every command, as a terminal of 80 columns shows it."""
    os.environ |= {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1"}
    from click import Context

    from abstain.cli.app import COMMANDS, app

    parts = [MADE_BY, "# Commands\n"]
    for name in ("", *COMMANDS):
        command = app.get_command(Context(app), name) if name else app
        assert command is not None
        context = command.make_context(f"abstain {name}".strip(), [], resilient_parsing=True)
        parts.append(
            f"\n## abstain {name}".rstrip() + f"\n\n```text\n{command.get_help(context)}\n```\n"
        )
    return "".join(parts)


def results_page() -> str:
    """The JSON form of every kind of result: its schema, as its struct declares it."""
    from abstain.analyses.result import KINDS, SCHEMA, result_class

    parts = [
        MADE_BY,
        "# Results as JSON\n\n",
        "`--format json`, `-o results.json` and `result.to_json(path)` write a result; "
        "`abstain report` and `ab.load(path)` read it back, equal to what was written. ",
        f"The field `schema` is the version of the form, now {SCHEMA}; `kind` says which of the "
        "following it is.\n\n",
        "What will stay while `schema` is the same: no field goes, none changes its name, its type "
        "or its meaning. A field may be added, and one that has its default may be left out. A "
        "number that does not exist is null, and `undefined` says why. Sentences, tables and pages "
        "are no part of it: they are made from these facts.\n",
    ]
    for kind in KINDS:
        found = result_class(kind)
        schema = msgspec.json.schema(found)
        text = msgspec.json.format(msgspec.json.encode(schema), indent=2).decode()
        told = (found.__doc__ or "").strip().splitlines()[0]
        parts.append(f"\n## {kind}\n\n{markdown_text(told)}\n\n```json\n{text}\n```\n")
    return "".join(parts)


def functions_page() -> str:
    """Every analysis and every public function, for mkdocstrings to show."""
    import abstain as ab

    asked = {
        getattr(kind, name)
        for kind in (ab.Evaluation, ab.Rankings, ab.ScoreMatrix)
        for name, own in vars(kind).items()
        if isinstance(own, ab.Asked)
    }
    analyses = sorted(f"{own.__module__}.{own.__qualname__}" for own in asked)
    public = [name for name in ab.__all__ if name.islower() and not name.startswith("_")]
    return "".join(
        [
            MADE_BY,
            "# Functions\n\n## What can be asked\n\n",
            'Each analysis is a method of what was read: `runs.compare("c@1", against="base")`. '
            "It takes the object in place of its first parameter.\n",
            *(f"\n::: {name}\n" for name in analyses),
            "\n## In one line\n\n",
            "Where an analysis takes a gold and runs it reads and asks in one line, with the "
            "parameters of `ab.read` besides its own.\n",
            *(f"\n::: abstain.{name}\n" for name in sorted(public)),
        ]
    )


def pages() -> dict[str, str]:
    """Every generated page by its path below docs/reference."""
    every = {f"measures/{slug(d.name)}.md": measure_page(d) for d in definitions().values()}
    if len(every) != len(definitions()):
        raise ValueError("two measures have the same page")
    return {
        "measures.md": measures_page(),
        "commands.md": commands_page(),
        "results.md": results_page(),
        "functions.md": functions_page(),
        **every,
    }


_SPECS: dict[str, dict[str, Any]] = {}


def pictures() -> dict[str, dict[str, Any]]:
    """Every picture's specification by its path below docs/reference."""
    if not _SPECS:
        for d in definitions("counts").values():
            spec = picture(example_measure(d.name))
            if spec is not None:
                _SPECS[f"measures/{slug(d.name)}.svg"] = spec
    return _SPECS


def _drawn(spec: dict[str, Any]) -> str:
    """The picture, signed with what it was made of and by."""
    return f"{vl_convert.vegalite_to_svg(spec)}\n{_signature(spec)}\n"


def _signature(spec: dict[str, Any]) -> str:
    made_of = hashlib.sha256(msgspec.json.encode(spec, order="sorted")).hexdigest()[:16]
    drawn_by = f"vl-convert {vl_convert.__version__}"  # type: ignore[attr-defined]
    return f"<!-- docs/generate.py: {made_of}, {drawn_by} -->"


def _is_drawn(text: str | None, spec: dict[str, Any]) -> bool:
    """Whether a file is this picture; one drawn by another vl-convert is taken at its word."""
    if text is None:
        return False
    own = _signature(spec)
    if text.rstrip().endswith(own):
        return text == _drawn(spec)
    return text.rstrip().rpartition("\n")[2].startswith(own.partition(", vl-convert")[0])


def stale() -> list[str]:
    """The generated files that are not what they should be, and those that nothing makes."""
    wanted = pages()
    old = [n for n, page in wanted.items() if _read(HERE / n) != page]
    old += [n for n, spec in pictures().items() if not _is_drawn(_read(HERE / n), spec)]
    left = [
        found.relative_to(HERE).as_posix()
        for found in sorted(HERE.rglob("*.*"))
        if found.relative_to(HERE).as_posix() not in wanted.keys() | pictures().keys()
    ]
    return old + left


def main() -> int:
    """Write the pages, or with --check say which of them are not what they should be."""
    names = stale()
    if "--check" in sys.argv:
        sys.stdout.writelines(f"docs/reference/{name} is stale: make docs\n" for name in names)
        return min(len(names), 1)
    (HERE / "measures").mkdir(parents=True, exist_ok=True)
    wanted = pages()
    left = [name for name in names if name not in wanted.keys() | pictures().keys()]
    old = [name for name in left if _is_ours(HERE / name)]
    for name in names:
        if name in wanted:
            (HERE / name).write_text(wanted[name], encoding="utf-8")
        elif name in pictures():
            (HERE / name).write_text(_drawn(pictures()[name]), encoding="utf-8")
        elif name in old:
            (HERE / name).unlink()
    made, written = len(wanted) + len(pictures()), len(names) - len(left)
    sys.stdout.write(f"docs/reference: {made} files, {written} written, {len(old)} removed\n")
    foreign = [name for name in left if name not in old]
    sys.stdout.writelines(
        f"docs/reference/{name} is not made here; left alone\n" for name in foreign
    )
    return min(len(foreign), 1)


def _is_ours(path: Path) -> bool:
    """Whether a file was made here once."""
    text = path.read_bytes()
    return text.startswith(MADE_BY.strip().encode()) or b"<!-- docs/generate.py: " in text


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
