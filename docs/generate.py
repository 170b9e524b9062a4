"""Write the generated pages of the manual: `python docs/generate.py [--check]`."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec
import vl_convert
from click import Context
from isolines import picture

from abstain.cli.command import Command
from abstain.features.explain.card import (
    DECIDED,
    RIGHT,
    SHARES,
    SPLIT,
    SURE,
    bound,
    example,
    letters,
)
from abstain.measures import Definition, Measure, definitions
from abstain.measures.registry import example_measure
from abstain.registry import COMMANDS, METHODS
from abstain.report.grid import Column
from abstain.report.text_formats import markdown_text

HERE = Path(__file__).parent / "reference"
KEPT = "\b"  # begins a paragraph whose lines stay as they are: examples
MADE_BY = "<!-- made by docs/generate.py; do not edit -->\n\n"
FAMILIES = {
    "counts": ("Of counts", "They need to know how many answers were right, wrong and left out."),
    "decisions": (
        "Of decisions",
        "They need to know which questions can be answered, and which were; `abstain decisions` "
        "gives them.",
    ),
    "confidence": ("Of confidence", "They take answers with the system's confidence in each."),
    "ranking": ("Of rankings", "They take a list of documents, and what there was to find."),
    "columns": (
        "Of other evaluators",
        "They take columns of the files that an evaluator reads; `-m pan` and `-m squad` name what "
        "PAN's and SQuAD 2's print.",
    ),
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
        "(p\\*), how to game it, when it is undefined, a worked example, its source. "
        "`abstain explain NAME` shows the same in a terminal.\n",
    ]
    for takes, (title, what) in FAMILIES.items():
        parts.append(f"\n## {title}\n\n{what}\n\n| measure | what it is | κ | p\\* |\n")
        parts.append("| --- | --- | --- | --- |\n")
        parts += [
            f"| [{markdown_text(d.signature)}](measures/{slug(d.name)}.md) "
            f"| {markdown_text(d.summary)} | {_code(d.kappa_text)} | {_code(d.break_even_text)} |\n"
            for d in definitions(takes).values()  # type: ignore[arg-type]
        ]
    return "".join(parts)


@cache
def formulas() -> dict[str, str]:
    return tomllib.loads((HERE.parent / "formulas.toml").read_text(encoding="utf-8"))


def latex_of(d: Definition) -> str:
    """Its formula as LaTeX, or as plain text where there is none."""
    return formulas().get(d.name, rf"\text{{{d.formula}}}")


def measure_page(d: Definition) -> str:
    """All that is known of one measure."""
    item = example_measure(d.name)
    parts = [MADE_BY, f"# {markdown_text(d.signature)}\n\n{markdown_text(d.summary)}\n"]
    parts.append(f"\n```math\n\\text{{{d.name}}} = {latex_of(d)}\n```\n\n")
    parts.append(f"In plain text `{d.formula}`, with {markdown_text(letters(d))}.\n")
    parts.append("\n| | |\n| --- | --- |\n")
    parts += [f"| {name} | {text} |\n" for name, text in _facts(d, item)]
    parts += _picture_section(d, item)
    for heading, text in (("To game it", d.gaming), ("Note", d.note)):
        parts += [f"\n## {heading}\n\n{markdown_text(text)}\n"] if text else []
    if d.monotone:
        parts.append(f"\nBeware: {markdown_text(d.monotone)}.\n")
    if d.takes != "columns":
        parts.append(
            f"\n## Example\n\n{_example_lines(item)}\n\n```python\n{_example_code(item)}\n```\n"
        )
    parts.append(f"\n## Source\n\n{markdown_text(d.source)}\n")
    return "".join(parts)


def _facts(d: Definition, item: Measure) -> Iterator[tuple[str, str]]:
    for p in d.parameters:
        default = "" if p.default is None else f"; {p.default:g} if not given"
        yield (
            f"`{p.name}`",
            f"{markdown_text(p.meaning)}; in {markdown_text(p.range_text)}{default}",
        )
    if d.kappa is not None:
        yield "κ, the credit for a blank, in right answers", _code(d.kappa_text)
    if d.break_even is not None:
        yield "p\\*, answering pays if the chance is above it", _code(d.break_even_text)
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


def _example_lines(item: Measure) -> str:
    """The worked example, each of its lines a line."""
    text, *rest = example(item, WIDE)
    text = text.removeprefix("Example: ")
    lines = [text[0].upper() + text[1:], *rest]
    return "<br>\n".join(markdown_text(line) for line in lines)


def _example_code(item: Measure) -> str:
    if item.definition.takes == "ranking":
        call = f"ab.measure({str(item)!r})([1, 0, 1], pool=3)"
        value: Any = item([1, 0, 1], pool=3)
    elif item.definition.takes == "confidence":
        call = f"ab.measure({str(item)!r})({list(RIGHT)}, {list(SURE)})"
        value = item(RIGHT, SURE)  # type: ignore[call-overload]
    else:
        takes = "Counts" if item.definition.takes == "counts" else "Decisions"
        k: Any = DECIDED if takes == "Decisions" else SHARES if item.definition.shares else SPLIT
        said = ", ".join(
            f"{name}={getattr(k, name)}" for name in k.__dataclass_fields__ if getattr(k, name)
        )
        call, value = f"ab.measure({str(item)!r})(ab.{takes}({said}))", item(k)
    return f">>> import abstain as ab\n>>> round({call}, 4)\n{round(value, 4)!r}\n"


def commands() -> dict[str, Command]:
    """Every command by its name."""
    os.environ |= {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1"}
    from abstain.cli import app

    every = {name: app.get_command(Context(app), name) for name in COMMANDS}
    return {name: item for name, item in every.items() if isinstance(item, Command)}


def commands_page() -> str:
    """Every command in a line, with a link to its page."""
    parts = [
        MADE_BY,
        "# Commands\n\n",
        "`abstain COMMAND --help` shows the same in a terminal. Every command that reads runs "
        "takes the same options of reading, by the same names and with the same effect.\n\n",
        "| command | what it does |\n| --- | --- |\n",
    ]
    for name, item in commands().items():
        summary = markdown_text(item.get_short_help_str(WIDE))
        parts.append(f"| [abstain {name}](commands/{name}.md) | {summary} |\n")
    parts.append(
        "\nExit code 0: done. 1: the data say no (an invalid run, a failed gate, a table that "
        "contradicts itself). 2: a usage or input error, in one line. 3: a fault of abstain.\n"
    )
    return "".join(parts)


GUIDES = {
    "score": "scoring.md",
    "decisions": "decisions.md",
    "validate": "campaign.md",
    "testset": "testset.md",
    "baseline": "campaign.md",
    "campaign": "campaign.md",
    "receive": "season.md",
    "seal": "season.md",
    "rank": "rank.md",
    "trec_eval": "coming-from/trec_eval.md",
    "cut": "cut.md",
    "curve": "confidence.md",
    "tune": "confidence.md",
    "targets": "targets.md",
    "cascade": "cascade.md",
    "compare": "compare.md",
    "meta": "meta.md",
    "report": "report.md",
    "audit": "audit.md",
    "convert": "formats.md",
    "refusals": "logs.md",
    "measures": "reference/measures.md",
    "explain": "reference/measures.md",
    "tasks": "integrations/lm-eval.md",
    "plugins": "extending.md",
    "demo": "demo.md",
    "bundle": "coming-from/codabench.md",
    "editions": "campaign.md",
}
"""The page of the manual that shows each command at work."""


def command_page(name: str, item: Command) -> str:
    """One command: how it is typed, examples, and every option with an anchor of its own."""
    context = item.make_context(f"abstain {name}", [], resilient_parsing=True)
    usage = item.get_usage(context).removeprefix("Usage: ")
    parts = [MADE_BY, f"# abstain {name}\n\n```text\n{usage}\n```\n"]
    for paragraph in cleandoc(item.help or "").split("\n\n"):
        if paragraph.startswith(KEPT):
            parts.append(f"\n```sh\n{_examples(paragraph.removeprefix(KEPT))}\n```\n")
        else:
            parts.append(f"\n{_prose(paragraph)}\n")
    parts.append(f"\nAt work, with its output: [the guide](../../{GUIDES[name]}).\n")
    for section, records in item.sections(context).items():
        parts.append(f"\n## {section}\n\n| | |\n| --- | --- |\n")
        parts += [f"| {_anchored(term)} | {_prose(meaning)} |\n" for term, meaning in records]
    return "".join(parts)


def _examples(text: str) -> str:
    """Lines to type; what a line says in brackets becomes a comment."""
    lines = (re.sub(r"\s{2,}\((.*)\)$", r"   # \1", line) for line in text.strip().splitlines())
    return "\n".join(lines)


def _prose(text: str) -> str:
    """Text for Markdown in which what stands between backticks stays as it is."""
    joined = re.sub(r"(?<=\w-) (?=\w)", "", " ".join(text.split()))
    parts = joined.split("`")
    return "".join(
        f"`{part}`".replace("|", "\\|") if at % 2 else markdown_text(part)
        for at, part in enumerate(parts)
    )


def _anchored(term: str) -> str:
    """An option or argument that a link can lead to: commands/score.md#by."""
    long = re.search(r"--([\w-]+)", term)
    name = long[1] if long else f"argument-{term.lower()}"
    shown = term.replace("|", "\\|")
    return f'<span id="{name}"></span>`{shown}`'


def results_page() -> str:
    """The JSON form of every kind of result: its schema, as its struct declares it."""
    from abstain.report.result import RESULT_KINDS, SCHEMA, result_class

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
    for kind in RESULT_KINDS:
        struct = result_class(kind)
        text = msgspec.json.format(msgspec.json.encode(described_schema(struct)), indent=2).decode()
        summary = (struct.__doc__ or "").strip().splitlines()[0]
        parts.append(f"\n## {kind}\n\n{markdown_text(summary)}\n\n```json\n{text}\n```\n")
    return "".join(parts)


def described_schema(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of a struct; fields that are columns are described as in tables."""
    schema = msgspec.json.schema(struct)
    for part in structs_within(msgspec.inspect.type_info(struct)):
        properties = schema["$defs"].get(part.__name__, {}).get("properties", {})
        for each in msgspec.structs.fields(part):
            columns = [c for c in getattr(each.type, "__metadata__", ()) if isinstance(c, Column)]
            if columns and columns[0].meaning and each.encode_name in properties:
                meaning = re.sub(r"\ba \{level[^}]*\} % ", "an ", columns[0].meaning)
                meaning = meaning.replace("its {measure}", "the score").replace("{key}", "each one")
                meaning = re.sub(r"\{(\w+)[^}]*\}", r"\1", meaning)
                properties[each.encode_name]["description"] = meaning
    return schema


def structs_within(
    kind: Any, seen: set[type[msgspec.Struct]] | None = None
) -> set[type[msgspec.Struct]]:
    """A struct and those that its fields hold."""
    seen = set() if seen is None else seen
    parts = [*getattr(kind, "types", ()), *getattr(kind, "item_types", ())]
    parts += [getattr(kind, name) for name in ("item_type", "value_type") if hasattr(kind, name)]
    if isinstance(kind, msgspec.inspect.StructType) and kind.cls not in seen:
        seen.add(kind.cls)
        parts += [each.type for each in kind.fields]
    for part in parts:
        structs_within(part, seen)
    return seen


def functions_page() -> str:
    """Every analysis and every public function, for mkdocstrings to show."""
    import abstain as ab

    analyses = sorted({path.replace(":", ".") for path in METHODS.values()})
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
        **{f"commands/{name}.md": command_page(name, item) for name, item in commands().items()},
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
    signature = _signature(spec)
    if text.rstrip().endswith(signature):
        return text == _drawn(spec)
    return text.rstrip().rpartition("\n")[2].startswith(signature.partition(", vl-convert")[0])


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
    for folder in ("measures", "commands"):
        (HERE / folder).mkdir(parents=True, exist_ok=True)
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
