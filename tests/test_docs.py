"""Every example in README.md, docs/ and the docstrings does what it shows.

    ```csv file=NAME      the block's text becomes a file
    ```console            `$ abstain …` lines, each followed by what it prints, exactly
    ```python             run, as a doctest where it has >>>
    ```python needs=NAME  run where the package NAME is installed
    ```console data=NAME  run where the folder NAME of real data is, with its files

The blocks of a document run in order in one folder of its own.
"""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

import abstain
from abstain.cli import run
from tests.helpers import ROOT, SHARED

FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=fence)\s*$", re.M | re.S)
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it makes, what it needs, its text, its first line."""

    language: str
    file: str | None
    needs: str | None
    text: str
    line: int
    data: str | None = None


def blocks(text: str) -> Iterator[Block]:
    return (block for block, _, _ in spans(text))


def spans(text: str) -> Iterator[tuple[Block, int, int]]:
    """Each block, and where its text begins and ends."""
    for found in FENCE.finditer(text):
        words = found["info"].split()
        said = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        line = text.count("\n", 0, found.start()) + 2
        language = words[0] if words else ""
        block = Block(
            language, said.get("file"), said.get("needs"), found["text"], line, said.get("data")
        )
        yield block, found.start("text"), found.end("text")


def here_is(data: str) -> bool:
    """Whether a folder of real data is beside the checkout."""
    return (SHARED / "data" / data).is_dir()


def lay_out(data: str, folder: Path) -> None:
    """Put links to the files of real data where commands look for them."""
    for path in sorted((SHARED / "data" / data).rglob("*")):
        target = folder / path.relative_to(SHARED / "data" / data)
        if path.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each `$ …` line (a backslash continues it) with what is shown after it."""
    command: str | None = None
    shown: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            shown.append(line)
            continue
        if command is not None:
            yield command, "\n".join(shown)
        command, shown = line[2:], []
        while command.endswith("\\"):
            command = command[:-1] + next(lines).removeprefix("> ").strip()
    if command is not None:
        yield command, "\n".join(shown)


def run_block(block: Block, folder: Path, name: str, memory: dict[str, object]) -> None:
    where = f"{name}:{block.line}"
    if block.needs is not None and importlib.util.find_spec(block.needs) is None:
        return
    if block.file is not None:
        target = folder / block.file
        assert target.resolve().is_relative_to(folder.resolve()), where
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text)
    elif block.language == "console":
        for command, shown in commands(block.text):
            if command.split()[0] == "abstain":
                assert bare(shown) == bare(said(command, folder)), f"{where}: $ {command}"
    elif block.language == "python" and ">>>" in block.text:
        test = doctest.DocTestParser().get_doctest(block.text, memory, where, name, block.line)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        runner.run(test, clear_globs=False)
        memory.update(test.globs)
        assert runner.summarize(verbose=False).failed == 0, where
    elif block.language == "python":
        exec(compile(block.text, where, "exec"), memory)


def bare(text: str) -> str:
    """Without the blanks at the ends of lines, which no reader sees and editors drop."""
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def said(command: str, folder: Path) -> str:
    """What a reader of the document would see; a pipe or a second command needs a shell."""
    if re.search(r"[|;&<>$*]", re.sub(r"'[^']*'", "", command)):
        return _said_in_a_shell(command, folder)
    with (
        (folder / ".said").open("w+", encoding="utf-8") as stream,
        redirect_stdout(stream),
        redirect_stderr(stream),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(folder)
        patch.setenv("COLUMNS", "80")
        patch.setenv("NO_COLOR", "1")
        code = run(shlex.split(command)[1:])
        stream.seek(0)
        shown = stream.read()
    (folder / ".said").unlink()
    return shown + (f"[exit code {code}]" if code else "")


def _said_in_a_shell(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    return done.stdout.decode() + (f"[exit code {done.returncode}]" if done.returncode else "")


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_examples_of(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    memory: dict[str, object] = {}
    missing: list[str] = []
    for block in blocks(document.read_text()):
        if block.data is not None and not here_is(block.data):
            missing.append(block.data)
            continue
        if block.data is not None:
            lay_out(block.data, tmp_path)
        run_block(block, tmp_path, document.name, memory)
    if missing:
        pytest.skip(
            f"real data is not here: {', '.join(missing)} (ABSTAIN_SHARED names its folder)"
        )


HOSTS = {
    f"abstain.integrations.{name}": name for name in ("inspect_ai", "ir_measures", "torchmetrics")
}
"""Modules that only their host can load."""


def modules() -> list[str]:
    found = pkgutil.walk_packages(abstain.__path__, "abstain.")
    names = [m.name for m in found if not m.name.endswith("__main__")]
    return ["abstain", *(n for n in names if importlib.util.find_spec(HOSTS.get(n, "abstain")))]


@pytest.mark.slow
@pytest.mark.parametrize("name", modules())
def test_docstrings_of(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.slow
def test_the_docstrings_have_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = sum(len(t.examples) for n in modules() for t in finder.find(importlib.import_module(n)))
    assert found > 20


GOOD = """
```csv file=c.csv
run,right,wrong,unanswered
a,2,1,1
```
```console
$ abstain score --counts c.csv \\
>   -m c@1 --format csv
#,run,c@1,right,wrong,blank
1,a,0.625,2,1,1
$ abstain score --counts nothing.csv
nothing.csv: there is no such file
[exit code 2]
```
```python
>>> from pathlib import Path
>>> Path("c.csv").exists()
True
```
```python
>>> Path("d.csv").exists()
False
```
```python needs=no_such_package
import no_such_package
```
```python needs=abstain
Path("d.csv").touch()
assert Path("d.csv").exists()
```
"""


@pytest.mark.slow
def test_the_runner_runs_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    memory: dict[str, object] = {}
    found = list(blocks(GOOD))
    assert [(b.language, b.file, b.line) for b in found] == [
        ("csv", "c.csv", 3),
        ("console", None, 7),
        ("python", None, 16),
        ("python", None, 21),
        ("python", None, 25),
        ("python", None, 28),
    ]
    for block in found:
        run_block(block, tmp_path, "GOOD", memory)


@pytest.mark.parametrize(
    "text",
    [
        "```console\n$ abstain --version\nabstain 9.9.9\n```\n",
        "```console\n$ abstain --version\n```\n",
        "```python\n>>> 1 + 1\n3\n```\n",
        "```python\nassert 1 + 1 == 3\n```\n",
        "```python needs=abstain\nassert 1 + 1 == 3\n```\n",
        "```csv file=../outside.csv\na\n```\n",
    ],
)
def test_the_runner_notices_what_is_wrong(text: str, tmp_path: Path) -> None:
    (block,) = blocks(text)
    with pytest.raises(AssertionError):
        run_block(block, tmp_path, "BAD", {})
