"""List every text that abstain can show to a person, with the place where it stands.

    python tools/sentences.py [FOLDER]

A text is a literal in the code or in a template of a page, with three words or more. What is filled
in stands by its name (`{run}`), or as `{…}`; of two texts one, `{one | other}`; what may be left
out, `[like this]`. Docstrings count only where they are shown: those of commands, and the first
line of those of measures.
Patterns, queries, types, code and the usage of an option are left out.
Readers go through the list and mark what they have to read twice; a test looks for what was marked.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "abstain"
HELP, CARDS = "cli/commands", "measures/families"
"""Folders whose docstrings are help, and whose first lines are on cards."""

CODE = re.compile(
    r"\(\?[:=!<P]|\\[bdswDSW]|=>"  # patterns
    r"|[a-z]\|[a-z]{2}"  # alternatives of a pattern
    r"|\b(SELECT|CASE WHEN|TRY_CAST)\b|^SET \w+ = "  # queries
    r"|\bnp\.\w+\("  # code that is no whole statement
)
"""What no sentence has."""
USAGE = re.compile(r"(--?\w[\w-]* ?)+([A-Z]+([=|][A-Z]+)*)?")
"""An option as its help writes it: `-n --questions N`."""

FILLED = r"\{([\w-]+|…)\}"
"""What is filled in, by its name."""

TAG = re.compile(r"{[%{#].*?[%}#]}|<(script|style).*?</\1>|<[^>]*>", re.S)


def texts(folder: Path = SOURCE) -> Iterator[tuple[str, int, str]]:
    """The file, the line and the text of everything that may be shown."""
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, text in sorted(_literals(tree, documented=name.startswith((HELP, CARDS)))):
            shown = text.partition("\n\n")[0] if name.startswith(CARDS) else text
            yield name, line, " ".join(shown.split())
    for path in sorted(folder.rglob("*.html")):
        name, text = path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
        for number, part in enumerate(TAG.sub("\n", text).splitlines(), 1):
            if _is_text(part):
                yield name, number, " ".join(part.split())


def _literals(tree: ast.Module, *, documented: bool) -> Iterator[tuple[int, str]]:
    hidden = {*_docstrings(tree, documented=documented), *_types(tree)}
    inside: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in hidden or id(node) in inside:
            continue
        text = _text(node)
        if text is None:
            continue
        inside |= {id(own) for own in ast.walk(node)}
        if _is_text(text):
            yield getattr(node, "lineno", 0), text


def _docstrings(tree: ast.Module, *, documented: bool) -> Iterator[int]:
    """Texts that stand alone: docstrings of modules, classes, functions and fields.

    Where docstrings are shown, those of functions that a decorator declares are left.
    """
    shown: set[int] = set()
    for node in ast.walk(tree):
        if documented and isinstance(node, ast.FunctionDef) and node.decorator_list:
            shown.add(id(node.body[0]))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield from () if id(node) in shown else (id(node.value),)


def _types(tree: ast.Module) -> Iterator[int]:
    """Texts that are types: what an alias stands for, or what a value is cast to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            yield from (id(own) for own in ast.walk(node))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "cast":
            yield from (id(own) for own in ast.walk(node.args[0]))


def _text(node: ast.AST) -> str | None:
    """A literal, with {…} for what is filled in; literals that are added are one text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_filled(own) for own in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = (node.left, node.right)
        texts = any(_text(side) is not None for side in sides)
        return "".join(_filled(side) for side in sides) if texts else None
    return None


def _filled(node: ast.AST) -> str:
    """A part of a text: its words, the choice of words, or the name of what is filled in."""
    if isinstance(node, ast.FormattedValue):
        return _filled(node.value)
    text = _text(node)
    if text is not None:
        return text
    if isinstance(node, ast.IfExp):
        one, other = _text(node.body), _text(node.orelse)
        if one is not None and other is not None:
            return f"{{{one} | {other}}}" if one and other else f"[{one or other}]"
    return f"{{{_name(node)}}}"


def _name(node: ast.AST) -> str:
    """What a value is called; of what is called with it, the value's name (`quoted(run)`: run)."""
    if isinstance(node, ast.Name):
        return node.id.strip("_")
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_")
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Call):
        return _name(node.args[0] if node.args else node.func)
    return _name(node.value) if isinstance(node, ast.Subscript) else "…"


def _is_text(text: str) -> bool:
    """Whether it is words: three at least, and no pattern, query, code or usage of an option."""
    words, bare = re.findall(r"[A-Za-z]{2,}", re.sub(FILLED, " ", text)), text.strip()
    odd = CODE.search(bare) or USAGE.fullmatch(bare)
    return len(words) >= 3 and " " in bare and not odd and not _is_python(text)


def _is_python(text: str) -> bool:
    """Whether it is lines of Python; "higher is better" could be, but it does and selects nothing.

    Something stands in place of what is filled in.
    """
    filled = re.sub(r"\{[^{}]*\}", "x", re.sub(rf"^{FILLED}", "", text))
    try:
        tree = ast.parse(textwrap.dedent(filled.strip("\n")))
    except SyntaxError:
        return False
    does = (ast.Assign, ast.FunctionDef, ast.If, ast.IfExp, ast.Import, ast.Return, ast.Subscript)
    return any(isinstance(node, does) for node in ast.walk(tree))


def main() -> None:
    """Print the list: place, then text."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else SOURCE
    for name, line, text in texts(folder):
        print(f"{name}:{line}: {text}")


if __name__ == "__main__":
    main()
