"""List every text that abstain can show to a person, with the place where it stands.

    python tools/sentences.py [FOLDER]

A text is a literal in the code or in a template of a page, with three words or more. What is filled
in stands as `{…}`. Docstrings count only where they are shown: those of commands and of measures.
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
SHOWN = ("cli/commands", "measures/families")
"""Folders whose docstrings are help or cards."""

CODE = re.compile(
    r"\(\?[:=!<P]|\\[bdswDSW]|=>"  # patterns
    r"|[a-z]\|[a-z]{2}"  # alternatives of a pattern
    r"|\b(SELECT|CASE WHEN|TRY_CAST)\b|^SET \w+ = "  # queries
    r"|\bnp\.\w+\("  # code that is no whole statement
)
"""What no sentence has."""
USAGE = re.compile(r"(--?\w[\w-]* ?)+([A-Z]+([=|][A-Z]+)*)?")
"""An option as its help writes it: `-n --questions N`."""

TAG = re.compile(r"{[%{#].*?[%}#]}|<(script|style).*?</\1>|<[^>]*>", re.S)


def texts(folder: Path = SOURCE) -> Iterator[tuple[str, int, str]]:
    """The file, the line and the text of everything that may be shown."""
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, text in _literals(tree, documented=name.startswith(SHOWN)):
            yield name, line, text
    for path in sorted(folder.rglob("*.html")):
        name, text = path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
        for number, part in enumerate(TAG.sub("\n", text).splitlines(), 1):
            if _is_text(part):
                yield name, number, " ".join(part.split())


def _literals(tree: ast.Module, *, documented: bool) -> Iterator[tuple[int, str]]:
    hidden = {*(() if documented else _docstrings(tree)), *_types(tree)}
    inside: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in hidden or id(node) in inside:
            continue
        text = _text(node)
        if text is None:
            continue
        inside |= {id(own) for own in ast.walk(node)}
        if _is_text(text):
            yield getattr(node, "lineno", 0), " ".join(text.split())


def _docstrings(tree: ast.Module) -> Iterator[int]:
    """Texts that stand alone: docstrings of modules, classes, functions and fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)


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
        return "".join(_text(own) or "{…}" for own in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        if left is not None or right is not None:
            return f"{'{…}' if left is None else left}{'{…}' if right is None else right}"
    return None


def _is_text(text: str) -> bool:
    """Whether it is words: three at least, and no pattern, query, code or usage of an option."""
    words, bare = re.findall(r"[A-Za-z]{2,}", text.replace("{…}", " ")), text.strip()
    odd = CODE.search(bare) or USAGE.fullmatch(bare)
    return len(words) >= 3 and " " in bare and not odd and not _is_python(text)


def _is_python(text: str) -> bool:
    """Whether it is lines of Python; "higher is better" could be, but it does and selects nothing.

    Something stands in place of what is filled in.
    """
    filled = re.sub(r"\{[^{}]*\}", "x", text.removeprefix("{…}"))
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
