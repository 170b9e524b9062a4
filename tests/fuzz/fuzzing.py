"""A fuzzer: cases made from a seed, run in this process, held to what must always be true.

A case is some files that fit together, then spoilt in a few places, and a command over them with
options drawn at random. `python -m tests.fuzz.fuzzing 1000` runs cases 0 to 999; `--first N`
begins elsewhere, `--case N` shows one.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import zstandard
from msgspec import Struct

MOST_SAID = 4_000
"""Characters on stderr: a few lines, never a traceback."""

MOST_GROWTH = 1 << 30
"""Bytes by which one case may make the process grow at its largest."""

NASTY = (
    *("", " ", "*", "^.*$", "^q.$", "NaN", "null", "-1", "1e400", "0,5", "é", "\u202e", "\ufeffq1"),
    *("=cmd()", "<script>", "a|b", "a/b/c", "../x", "'", '"', "\\", "{}", "[]", "__row", "by:x"),
    *("x" * 5_000, "\x1b[31m", "\ud7ff", "9" * 400, "%s", "$1", "q1\nq2", "run", "question"),
)
BYTES = (b"\xff", b"\0", b'"', b"\r", b"\n", b",", b"}")
FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "xml")


Maker = Callable[[random.Random, dict[str, bytes]], list[str]]
"""Makes the files of a case and gives the arguments of its command."""


class Case(Struct, frozen=True):
    """The files of a case, by name, and the arguments of its command."""

    files: dict[str, bytes]
    args: list[str]


class Failed(Struct, frozen=True):
    """Why a case is a failure."""

    seed: int
    why: str
    case: Case


# ------------------------------------------------------------------------------- what is made


def case_of(seed: int) -> Case:
    """The case of a seed."""
    rng = random.Random(seed)
    files: dict[str, bytes] = {}
    command = rng.choice(DRAWN)
    args = [command, *COMMANDS[command](rng, files)]
    spoil = rng.random() < 0.5
    for name in list(files):
        if spoil and rng.random() < 0.6:
            files[name] = spoilt(rng, files[name])
        if rng.random() < 0.06:
            packed = name + rng.choice((".gz", ".zst"))
            files[packed] = _packed(files.pop(name), packed)
            args = [packed if own == name else own for own in args]
    if rng.random() < 0.5:
        args += _shown(rng, command)
    if rng.random() < 0.05:
        args = _shaken(rng, args)
    return Case(files, args)


def _ids(rng: random.Random) -> list[str]:
    form = rng.choice(("q{}", "{}", "1/2/{}", "q{:03d}", "Frage {}"))
    return [form.format(number) for number in range(1, rng.choice((2, 5, 12, 12)) + 1)]


def _gold(rng: random.Random, ids: list[str]) -> pl.DataFrame:
    columns: dict[str, list[Any]] = {
        "question": list(ids),
        "correct": [rng.choice("AB") for _ in ids],
    }
    if rng.random() < 0.5:
        columns["topic"] = [rng.choice(("t1", "t2", "t10", "")) for _ in ids]
    if rng.random() < 0.3:
        columns["options"] = ["A|B|C" for _ in ids]
    if rng.random() < 0.2:
        columns[rng.choice(NASTY) or "x"] = [rng.choice(NASTY) for _ in ids]
    return pl.DataFrame(columns)


def _run(rng: random.Random, ids: list[str]) -> pl.DataFrame:
    said = ("A", "B", "A", "B", "", "I don't know", "C")
    columns: dict[str, list[Any]] = {
        "question": list(ids),
        "answer": [rng.choice(said) for _ in ids],
    }
    if rng.random() < 0.5:
        columns["confidence"] = [rng.choice((0.1, 0.5, 0.5, 0.9, 1.0, None)) for _ in ids]
    if rng.random() < 0.2:
        columns["run"] = [rng.choice(("a", "b", "*")) for _ in ids]
    if rng.random() < 0.15:
        words = ("declined", "error", "empty", "zzz" if rng.random() < 0.1 else "limit")
        columns["why"] = ["" if said else rng.choice(words) for said in columns["answer"]]
    if rng.random() < 0.15:
        yes = ("YES", "maybe" if rng.random() < 0.1 else "YES")
        columns["answered"] = [rng.choice(yes) if said else "NO" for said in columns["answer"]]
    if rng.random() < 0.15:
        columns[rng.choice(NASTY) or "x"] = [rng.choice(NASTY) for _ in ids]
    frame = pl.DataFrame(columns, strict=False)
    if rng.random() < 0.15:
        frame = _other_types(rng, frame)
    return frame


def _other_types(rng: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    """One column as something else than text: what Parquet and JSON may hold."""
    place = rng.randrange(frame.width)
    values = frame.to_series(place).to_list()
    texts = ["" if value is None else str(value) for value in values]
    other: list[Any] = rng.choice(
        (
            [text.encode() for text in texts],
            [{"a": text} for text in texts],
            [[text] for text in texts],
            [float(number) + 0.5 for number in range(len(texts))],
            [bool(number % 2) for number in range(len(texts))],
            [None for _ in texts],
            [10**18 for _ in texts],
        )
    )
    return frame.with_columns(pl.Series(frame.columns[place], other, strict=False).alias("__x"))[
        [*(c for c in frame.columns if c != frame.columns[place]), "__x"]
    ].rename({"__x": frame.columns[place]})


def written(rng: random.Random, frame: pl.DataFrame, stem: str) -> tuple[str, bytes]:
    """A table as a file of some format; text where the format holds nothing else."""
    format = rng.choice(FORMATS)
    out = io.BytesIO()
    plain = frame.select(
        pl.Series(name, ["" if v is None else str(v) for v in frame[name].to_list()])
        for name in frame.columns
    )
    rows = frame.to_dicts()
    if format in ("csv", "tsv"):
        plain.write_csv(out, separator="," if format == "csv" else "\t")
    elif format == "parquet":
        frame.write_parquet(out)
    elif format == "json":
        out.write(json.dumps(rows, default=str).encode())
    elif format == "jsonl":
        out.write(b"\n".join(json.dumps(row, default=str).encode() for row in rows))
    else:
        out.write(_xml(plain).encode())
    return f"{stem}.{format}", out.getvalue()


def _xml(frame: pl.DataFrame) -> str:
    from xml.sax.saxutils import quoteattr

    gold = "correct" in frame.columns
    lines = ["<test-set><topic><reading-test>" if gold else "<output run_id='a'>"]
    for row in frame.iter_rows(named=True):
        own = quoteattr(row.get("question", "q1"))
        if gold:
            right = quoteattr(row["correct"])
            lines.append(f"<q q_id={own}><answer a_id={right} correct='Yes'>x</answer></q>")
        else:
            said = quoteattr(row.get("answer", ""))
            lines.append(f"<question q_id={own} answered='YES'><answer a_id={said}/></question>")
    return "\n".join([*lines, "</reading-test></topic></test-set>" if gold else "</output>"])


def _log(rng: random.Random, ids: list[str]) -> tuple[str, bytes, str]:
    """Something like a log of a tool, with the name of its reader."""
    tool = rng.choice(("inspect", "simpleqa", "promptfoo", "deepeval", "openai-evals", "squad"))
    samples = [{"id": own, "target": "A", "scores": {"match": {"value": "C"}}} for own in ids]
    shapes: dict[str, Any] = {
        "inspect": {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": samples},
        "simpleqa": {"": None} if rng.random() < 0.5 else {"grade": "A", "id": ids},
        "promptfoo": {"results": {"version": 3, "results": [{"success": True}, None, 3]}},
        "deepeval": {"testCases": [{"name": own, "success": True} for own in ids]},
        "openai-evals": {"spec": {"run_id": 1}},
        "squad": {"data": [{"paragraphs": [{"qas": [{"id": own} for own in ids]}]}]},
    }
    return f"log.{rng.choice(('json', 'jsonl', 'eval'))}", json.dumps(shapes[tool]).encode(), tool


def spoilt(rng: random.Random, data: bytes) -> bytes:
    """Bytes with something wrong: cut, doubled, with marks, other bytes or nasty texts in them."""
    if not data:
        return rng.choice((b"", b"\0", b"\xef\xbb\xbf"))
    at, to = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    nasty = rng.choice(NASTY).encode("utf-8", "replace")
    ways: tuple[Callable[[], bytes], ...] = (
        lambda: data[:at],
        lambda: data[:at] + data[to:],
        lambda: data + data[at:to],
        lambda: b"\xef\xbb\xbf" + data,
        lambda: (
            data[:at] + rng.choice((b"\xff", b"\0", b'"', b"\r", b"\n", b",", b"}")) + data[at:]
        ),
        lambda: data[:at] + nasty + data[at:],
        lambda: data.replace(rng.choice((b"q1", b"A", b"question", b"answer", b"1")), nasty),
        lambda: data.replace(b"\n", b"\r\n"),
        lambda: data.decode("utf-8", "replace").encode("utf-16"),
        lambda: data.replace(b"0.5", rng.choice((b"NaN", b"1e999", b"0,5", b"-1"))),
        lambda: bytes(rng.randrange(256) for _ in range(60)),
        lambda: b"[" * rng.choice((10, 5_000)) + data,
    )
    return rng.choice(ways)()


def _packed(data: bytes, name: str) -> bytes:
    return gzip.compress(data, mtime=0) if name.endswith("gz") else zstandard.compress(data)


# ---------------------------------------------------------------------------- what is asked for


def _gold_and_runs(rng: random.Random, files: dict[str, bytes]) -> list[str]:
    ids = _ids(rng)
    name, files_of_gold = written(rng, _gold(rng, ids), "gold")
    files[name] = files_of_gold
    args = [name]
    for stem in ("a", "b", "c")[: rng.choice((1, 2, 2, 3))]:
        some = [own for own in ids if rng.random() < 0.95] or ids
        if rng.random() < 0.1:
            some = [f"z{own}" for own in some]
        if rng.random() < 0.06:
            name, data, tool = _log(rng, some)
            args += ["--from", tool] if rng.random() < 0.5 else []
        else:
            name, data = written(rng, _run(rng, some), stem)
        files[name] = data
        args.append(name)
    return args + _reading(rng)


def _reading(rng: random.Random) -> list[str]:
    choices: tuple[list[str], ...] = (
        ["--policy", rng.choice(("missing=wrong", "declined=excluded", "error=unanswered"))],
        ["--match", rng.choice(("id", "text"))],
        ["--column", rng.choice(("question=question", "answer=*", "confidence=question", "x=y"))],
        ["--detect-refusals", "en"] if rng.random() < 0.1 else [],
        ["--align", "position"],
    )
    return rng.choice(choices) if rng.random() < 0.3 else []


def _with(*more: list[str]) -> Maker:
    def made(rng: random.Random, files: dict[str, bytes]) -> list[str]:
        args = _gold_and_runs(rng, files)
        for own in more:
            if rng.random() < 0.35:
                args += [rng.choice(NASTY) if part == "?" else part for part in own]
        return args

    return made


def _judged(rng: random.Random, files: dict[str, bytes]) -> list[str]:
    ids = _ids(rng)
    words = ("right", "wrong", "declined", "correct", "1", "0", "zzz")
    frame = _run(rng, ids).with_columns(
        pl.Series(rng.choice(("outcome", "grade")), [rng.choice(words) for _ in ids])
    )
    name, files_of = written(rng, frame, "judged")
    files[name] = files_of
    return ["--judged", name, *(["--by", "topic"] if rng.random() < 0.2 else [])]


def _counts(rng: random.Random, files: dict[str, bytes]) -> list[str]:
    rows = range(rng.choice((1, 3)))
    numbers = (0, 1, 5, 40, -1, 2**60, 1.5)
    names = ("right", "wrong", "unanswered", "questions")
    columns: dict[str, list[Any]] = {"run": [f"r{row}" for row in rows]}
    columns |= {name: [rng.choice(numbers) for _ in rows] for name in names}
    name, data = written(rng, pl.DataFrame(columns, strict=False), "counts")
    files[name] = data
    return ["--counts", name]


def _scores(rng: random.Random, files: dict[str, bytes]) -> list[str]:
    systems = [rng.choice((*NASTY, "a", "b")) or "c" for _ in range(3)]
    columns: dict[str, list[Any]] = {"topic": ["t1", "t2", "t3"]}
    columns |= {name: [rng.choice((0.1, 0.5, 1.0, None)) for _ in range(3)] for name in systems}
    name, data = written(rng, pl.DataFrame(columns, strict=False), "scores")
    files[name] = data
    return ["--scores", name]


def _any_input(*more: list[str], takes: Sequence[Maker]) -> Maker:
    def made(rng: random.Random, files: dict[str, bytes]) -> list[str]:
        if rng.random() < 0.7:
            return _with(*more)(rng, files)
        return rng.choice(takes)(rng, files)

    return made


def _ranking(rng: random.Random, files: dict[str, bytes]) -> list[str]:
    grades = ("0", "1", "2", "-1", "x")
    lines = [f"q{q} 0 d{d} {rng.choice(grades[:3])}" for q in (1, 2) for d in (1, 2, 3)]
    files["qrels.txt"] = "\n".join(lines).encode()
    lines = [f"q{q} Q0 d{d} {d} {rng.random():.2f} a" for q in (1, 2, 3) for d in (1, 2, 3)]
    files["run.txt"] = "\n".join(lines).encode()
    measures = ("AP", "AP'", "NDCG@10", "RR", "P@2", "zzz")
    return ["qrels.txt", "run.txt", "-m", rng.choice(measures)]


def _trec_eval(rng: random.Random, files: dict[str, bytes]) -> list[str]:
    args = _ranking(rng, files)[:2]
    chosen = ("-q", "-c", "-n", "-J", "-N", "-M", "-l", "-m", "-Z")
    values = ("all_trec", "set", "P.5,10", "ndcg_cut.x", "1", "-1", "9" * 20)
    for name in rng.sample(chosen, rng.choice((0, 1, 2))):
        args = [name, *([] if name in ("-q", "-c", "-n", "-J") else [rng.choice(values)]), *args]
    return args


def _cut(rng: random.Random, files: dict[str, bytes]) -> list[str]:
    args = _ranking(rng, files)[:2]
    rules = ("auto", "k", "threshold", "share", "gap", "surprise", "distribution", "expected")
    more: tuple[list[str], ...] = (
        ["--rule", rng.choice(rules)],
        ["--keep", rng.choice(("0.5", "0", "2", "NaN"))],
        ["--budget", rng.choice(("1", "0", "-1", "9" * 20))],
        ["--folds", rng.choice(("2", "1", "0", "99"))],
        ["--maximise", rng.choice(("AP'", "SetF", "zzz"))],
        ["-o", rng.choice(("short.run", "short.csv", "cut.json"))],
        ["--explain"],
        ["--rule-file", "rule.json"],
    )
    return args + [part for own in rng.sample(more, rng.choice((0, 1, 2))) for part in own]


def _published(rng: random.Random, files: dict[str, bytes]) -> list[str]:
    rows = range(3)
    columns: dict[str, list[Any]] = {"run": [f"r{row}" for row in rows]}
    columns |= {name: [rng.choice((1, 5, 20)) for _ in rows] for name in ("R", "W", "U")}
    columns["c@1"] = [rng.choice((0.66, 0.5, 7.5, -3, None)) for _ in rows]
    name, data = written(rng, pl.DataFrame(columns, strict=False), "table")
    files[name] = data
    return [name, "-n", str(rng.choice((1, 26, 120)))]


def _one(command: str) -> Maker:
    def made(rng: random.Random, files: dict[str, bytes]) -> list[str]:
        ids = _ids(rng)
        gold = rng.random() < 0.5 or command == "baseline"
        name, data = written(rng, _gold(rng, ids) if gold else _run(rng, ids), "table")
        files[name] = data
        match command:
            case "convert":
                return [name, f"out.{rng.choice(FORMATS)}"]
            case "baseline":
                return [name, rng.choice(("random", "first", "nca", "majority", "blank", "oracle"))]
            case _:
                return [name, "--most", rng.choice(("0", "3", "9" * 20))]

    return made


@cache
def _saved() -> tuple[bytes, ...]:
    """Results of some kinds as they are saved."""
    import abstain as ab

    gold = pl.DataFrame({"question": list("abcdef"), "correct": list("ABABAB")})
    run = gold.rename({"correct": "answer"}).with_columns(confidence=pl.Series([0.5, 0.9] * 3))
    other = run.with_columns(answer=pl.Series([*"AABB", "", ""]))
    read = ab.read(gold, {"a": run, "b": other})
    return tuple(own.to_json().encode() for own in (read.score(), read.compare(), read.curve()))


def _report(rng: random.Random, files: dict[str, bytes]) -> list[str]:
    saved = rng.choice(_saved())
    if rng.random() < 0.5:
        numbers = (b"0.5", b"1", b"6", b"null", b'"a"', b"true")
        saved = saved.replace(rng.choice(numbers), rng.choice((*numbers, b"[]", b"-1", b"1e308")))
    files["saved.json"] = saved
    return ["saved.json", "-o", "page.html"]


def _editions(rng: random.Random, files: dict[str, bytes]) -> list[str]:
    _report(rng, files)
    files["other.json"] = rng.choice(_saved())
    more: tuple[list[str], ...] = (
        ["--by", rng.choice(NASTY)],
        ["--on", "role=main"],
        ["-m", "accuracy"],
        [],
    )
    return ["one=saved.json", "two=other.json", *rng.choice(more)]


COMMANDS: dict[str, Maker] = {
    "editions": _editions,
    "score": _any_input(
        ["--by", "topic"], ["--by", "?"], ["-m", "?"], ["--interval"], takes=(_judged, _counts)
    ),
    "validate": _with(["--max-runs", "1"]),
    "compare": _any_input(["-m", "accuracy"], ["--trials", "100"], takes=(_judged, _scores)),
    "curve": _with(["--digits", "2"]),
    "tune": _with(["--maximise", "c@1"]),
    "meta": _any_input(["--trials", "5"], takes=(_counts, _scores, _judged)),
    "rank": _ranking,
    "trec_eval": _trec_eval,
    "cut": _cut,
    "demo": lambda rng, files: [rng.choice(NASTY)],
    "audit": _published,
    "convert": _one("convert"),
    "baseline": _one("baseline"),
    "refusals": _one("refusals"),
    "report": _report,
    "campaign": lambda rng, files: [*_gold_and_runs(rng, files), "-o", "folder"],
    "explain": lambda rng, files: [rng.choice((*NASTY, "c@1", "F(beta=2)", "P@10"))],
    "measures": lambda rng, files: [],
    "pan": _with(),
    "squad": _with(),
}
"""Of every command, what makes its files and its arguments."""

RARE = ("explain", "measures", "pan", "squad", "demo")
DRAWN = sorted([name for name in COMMANDS if name not in RARE] * 5 + list(RARE))
"""The commands as they are drawn: those that read most are drawn most."""


def _shown(rng: random.Random, command: str) -> list[str]:
    if command in (
        "convert",
        "report",
        "campaign",
        "explain",
        "baseline",
        "trec_eval",
        "cut",
        "demo",
    ):
        return []
    looks = ("table", "json", "csv", "markdown", "latex", "github")
    return ["-f", rng.choice(looks), *(["-o", "result.out"] if rng.random() < 0.4 else [])]


def _shaken(rng: random.Random, args: list[str]) -> list[str]:
    """Arguments of which one is gone, doubled or something else."""
    at = rng.randrange(len(args))
    return args[:at] + rng.choice(([], [args[at]] * 2, [rng.choice(NASTY)])) + args[at + 1 :]


# ------------------------------------------------------------------------------- what must hold


def failure_of(case: Case, folder: Path) -> str:
    """What is wrong with how a case ends; nothing, as it should be."""
    from abstain.cli import run

    for name, data in case.files.items():
        (folder / name).write_bytes(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run(case.args)
        except BaseException as error:
            return f"{type(error).__name__} came through: {str(error)[:200]}"
    said = err.getvalue()
    if code not in (0, 1, 2):
        return f"exit {code}: {said[:300]}"
    if len(said) > MOST_SAID or "Traceback" in said:
        return f"stderr has {len(said):,} characters: {said[:300]}"
    if code == 2 and not said.strip():
        return "exit 2 without a word"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    if grown > MOST_GROWTH:
        return f"took {grown >> 20:,} MiB"
    return _left(case, folder, code)


def _left(case: Case, folder: Path, code: int) -> str:
    """What a command left that it should not have: drafts, changed inputs, a part of an output."""
    for name, data in case.files.items():
        if not (folder / name).exists() or (folder / name).read_bytes() != data:
            return f"changed {name}"
    new = {path.name for path in folder.iterdir()} - set(case.files)
    hidden = sorted(name for name in new if name.startswith("."))
    if hidden:
        return f"left {hidden[0]}"
    if code == 2 and new:
        return f"exit 2, and yet wrote {sorted(new)[0]}"
    empty = sorted(name for name in new if (folder / name).stat().st_size == 0)
    return f"wrote an empty {empty[0]}" if empty else ""


def failures(seeds: range) -> Iterator[Failed]:
    """The cases of some seeds that fail."""
    root = Path(tempfile.mkdtemp(prefix="abstain-fuzz-"))
    try:
        for seed in seeds:
            folder = root / str(seed)
            folder.mkdir()
            case = case_of(seed)
            if why := failure_of(case, folder):
                yield Failed(seed, why, case)
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main() -> None:
    """Run so many cases and say how many failed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("cases", type=int, nargs="?", default=1_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--case", type=int)
    given = parser.parse_args()
    if given.case is not None:
        case = case_of(given.case)
        print("abstain", *map(repr, case.args))
        for name, data in case.files.items():
            print(f"{name}: {data[:400]!r}")
        given.first, given.cases = given.case, 1
    os.environ.setdefault("RUST_BACKTRACE", "0")
    began, failed = time.monotonic(), 0
    for found in failures(range(given.first, given.first + given.cases)):
        failed += 1
        print(f"case {found.seed}: {found.why}\n  {found.case.args}", flush=True)
    took = time.monotonic() - began
    print(f"{given.cases:,} cases, {failed:,} failed, {took:.0f} s")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
