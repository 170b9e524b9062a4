"""What cases are made of: tables that fit together, in all formats, logs, rankings, results."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from tests.fuzz.spoiling import NASTY, shaken_json

FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "xml")
TEXT = ("csv", "csv", "tsv", "jsonl", "json")
DATA = Path(__file__).parents[1] / "formats" / "logs" / "data"


# ---------------------------------------------------------------------------- gold and responses


def ids_of(rng: random.Random) -> list[str]:
    """Some question ids of one form."""
    form = rng.choice(("q{}", "{}", "1/2/{}", "q{:03d}", "Frage {}", "-{}", "{}.0", "a b/{}|"))
    return [form.format(number) for number in range(1, rng.choice((1, 2, 5, 12, 12)) + 1)]


def gold_of(rng: random.Random, ids: list[str]) -> pl.DataFrame:
    """A gold of these questions."""
    columns: dict[str, list[Any]] = {
        "question": list(ids),
        "correct": [rng.choice("AB") for _ in ids],
    }
    if rng.random() < 0.5:
        columns["topic"] = [rng.choice(("t1", "t2", "t10", "")) for _ in ids]
    if rng.random() < 0.3:
        columns["options"] = ["A|B|C" for _ in ids]
    if rng.random() < 0.2:
        columns["test"] = [rng.choice(("1", "2")) for _ in ids]
    if rng.random() < 0.2:
        columns[rng.choice(NASTY) or "x"] = [rng.choice(NASTY) for _ in ids]
    frame = pl.DataFrame(columns)
    return _other_types(rng, frame) if rng.random() < 0.08 else frame


def run_of(rng: random.Random, ids: list[str], *, sure: bool = False) -> pl.DataFrame:
    """Responses to these questions."""
    said = ("A", "B", "A", "B", "", "I don't know", "C")
    columns: dict[str, list[Any]] = {
        "question": list(ids),
        "answer": [rng.choice(said) for _ in ids],
    }
    if sure or rng.random() < 0.5:
        columns["confidence"] = [rng.choice((0.1, 0.5, 0.5, 0.9, 1.0, None)) for _ in ids]
    if rng.random() < 0.1:
        columns["run"] = [rng.choice(("a", "b", "*", "^a$", "a/b")) for _ in ids]
    if rng.random() < 0.15:
        words = ("declined", "error", "empty", "zzz" if rng.random() < 0.1 else "limit")
        columns["why"] = ["" if said else rng.choice(words) for said in columns["answer"]]
    if rng.random() < 0.15:
        yes = ("YES", "maybe" if rng.random() < 0.1 else "YES")
        columns["answered"] = [rng.choice(yes) if said else "NO" for said in columns["answer"]]
    if rng.random() < 0.1:
        columns["candidate"] = ["" if said else rng.choice("AB") for said in columns["answer"]]
    if rng.random() < 0.15:
        columns[rng.choice(NASTY) or "x"] = [rng.choice(NASTY) for _ in ids]
    frame = pl.DataFrame(columns, strict=False)
    return _other_types(rng, frame) if rng.random() < 0.15 else frame


def _other_types(rng: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    """One column as something else than text: what Parquet and JSON may hold."""
    place = rng.randrange(frame.width)
    name = frame.columns[place]
    texts = ["" if value is None else str(value) for value in frame.to_series(place).to_list()]
    numbers = range(frame.height)
    made: tuple[Callable[[], pl.Series], ...] = (
        lambda: pl.Series([text.encode() for text in texts]),
        lambda: pl.Series([{"a": text} for text in texts]),
        lambda: pl.Series([[text] for text in texts]),
        lambda: pl.Series([[[text]] for text in texts]),
        lambda: pl.Series([float(number) + 0.5 for number in numbers]),
        lambda: pl.Series([float("nan") for _ in numbers]),
        lambda: pl.Series([bool(number % 2) for number in numbers]),
        lambda: pl.Series([None for _ in numbers]),
        lambda: pl.Series([None for _ in numbers], dtype=pl.String),
        lambda: pl.Series([10**18 for _ in numbers]),
        lambda: pl.Series(list(numbers), dtype=pl.UInt8),
        lambda: pl.Series([-number for number in numbers], dtype=pl.Int64),
        lambda: pl.Series(texts, dtype=pl.Categorical),
        lambda: pl.Series(texts, dtype=pl.Enum(list(dict.fromkeys(texts)))),
        lambda: pl.Series([decimal.Decimal(n) / 4 for n in numbers], dtype=pl.Decimal(10, 2)),
        lambda: pl.Series([dt.date(2026, 1, 1 + n % 28) for n in numbers]),
        lambda: pl.Series([dt.datetime(2026, 1, 1 + n % 28, 5, tzinfo=dt.UTC) for n in numbers]),
        lambda: pl.Series([dt.timedelta(seconds=n) for n in numbers]),
        lambda: pl.Series([dt.time(n % 24) for n in numbers]),
        lambda: pl.Series([[0.5, 1.0] for _ in numbers], dtype=pl.Array(pl.Float64, 2)),
        lambda: pl.Series([2**64 - 1 for _ in numbers], dtype=pl.UInt64),
        lambda: pl.Series([10**30 for _ in numbers], dtype=pl.Int128),
        lambda: pl.Series([float("inf") for _ in numbers], dtype=pl.Float32),
        lambda: pl.Series([[] for _ in numbers], dtype=pl.List(pl.String)),
        lambda: pl.Series([[{"a": None}] for _ in numbers]),
        lambda: pl.Series([None if n % 2 else True for n in numbers], dtype=pl.Boolean),
        lambda: pl.Series(list(numbers), dtype=pl.Datetime("ns", "Europe/Berlin")),
    )
    columns = frame.get_columns()
    columns[place] = rng.choice(made)().alias(name)
    return pl.DataFrame(columns)


def written(
    rng: random.Random, frame: pl.DataFrame, stem: str, formats: Sequence[str] = FORMATS
) -> tuple[str, bytes]:
    """A table as a file of some format; text where the format holds nothing else."""
    format = rng.choice(formats)
    if rng.random() < 0.02:
        frame = frame.clear() if rng.random() < 0.7 else frame.select()
    out = io.BytesIO()
    plain = frame.select(
        pl.Series(name, ["" if v is None else str(v) for v in frame[name].to_list()])
        for name in frame.columns
    )
    rows = frame.to_dicts()
    if format in ("csv", "tsv"):
        plain.write_csv(out, separator="," if format == "csv" else "\t")
    elif format == "parquet":
        packing = rng.choice(("zstd", "uncompressed", "snappy"))
        frame.write_parquet(out, compression=packing, row_group_size=rng.choice((1, 100)))  # type: ignore[arg-type]
    elif format == "json":
        out.write(json.dumps(rows, default=str).encode())
    elif format == "jsonl":
        out.write(b"\n".join(json.dumps(row, default=str).encode() for row in rows))
    else:
        out.write(_xml(plain).encode("utf-8", "replace"))
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


# ------------------------------------------------------------------------------- logs of tools


def log_of(rng: random.Random, ids: list[str]) -> tuple[str, bytes, str]:
    """Something like a log of a tool, with the name of its reader."""
    tool = rng.choice((*_shapes(ids), "inspect.eval", "lm-eval"))
    if tool == "inspect.eval":
        name = rng.choice(("inspect.eval", "inspect_killed.eval"))
        return name, (DATA / name).read_bytes(), "inspect"
    if tool == "lm-eval":
        path = rng.choice(sorted((DATA / "lm_eval").rglob("*.jsonl")))
        lines = path.read_bytes().splitlines()[:3]
        return path.name, b"\n".join(shaken_json(rng, line) for line in lines), tool
    ending = rng.choice(("json", "jsonl", "eval"))
    made = _shapes(ids)[tool]
    several = made if isinstance(made, list) else [made]
    lines = [json.dumps(own).encode() for own in several]
    at = rng.randrange(len(lines))
    lines[at] = shaken_json(rng, lines[at])
    return f"log.{ending}", b"\n".join(lines), tool


def _shapes(ids: list[str]) -> dict[str, Any]:
    samples = [{"id": own, "target": "A", "scores": {"match": {"value": "C"}}} for own in ids]
    asked = [{"id": own, "question": "?", "answers": [{"text": "A"}]} for own in ids]
    tests = [
        {
            "promptIdx": 0,
            "testIdx": n,
            "success": n % 2 == 0,
            "score": 1.0,
            "provider": {"id": "x"},
            "vars": {"q": own},
            "response": {"output": "A"},
            "failureReason": 0,
            "testCase": {"metadata": {"topic": "a"}},
        }
        for n, own in enumerate(ids)
    ]
    match = {"type": "match", "data": {"correct": True, "expected": "A", "sampled": "A"}}
    prompt = {"question": "?", "reference_answers": ["A"], "should_abstain": False}
    response = {"prompt": prompt, "response": "A", "is_abstention": False}
    return {
        "inspect": {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": samples},
        "simpleqa": [{"id": own, "grade": "A", "predicted_answer": "x"} for own in ids],
        "promptfoo": {"evalId": "e", "results": {"version": 3, "results": tests}},
        "deepeval": json.loads((DATA / "deepeval.json").read_bytes()),
        "openai-evals": [
            {"spec": {"completion_fns": ["m"], "eval_name": "e"}},
            *({"run_id": "r", "sample_id": own, **match} for own in ids),
            {"final_report": {"accuracy": 1.0}},
        ],
        "squad": {"version": "v2.0", "data": [{"paragraphs": [{"context": "", "qas": asked}]}]},
        "abstentionbench": {"responses": [{**response, "is_response_correct": True}] * len(ids)},
        "pan": [{"id": own, "value": 0.7, "same": True} for own in ids],
    }


# ------------------------------------------------------------------------ judgments and rankings


def _document(rng: random.Random, d: int) -> str:
    return rng.choice((f"d{d}", f"d{d}", f"x{d}", "NIL" if d == 1 else f"y{d}"))


def ranked(rng: random.Random) -> tuple[tuple[str, bytes], tuple[str, bytes]]:
    """Judgments and a run, in TREC's columns or as tables."""
    queries = rng.choice(((1, 2), (1, 2, 3, 4, 5, 6), (1,)))
    form = rng.choice(("q{}", "{}", "-{}"))
    grades = rng.choice(((0, 1, 2), (0, 1), (0,), (-1, 0, 3)))
    judged = [(form.format(q), f"d{d}", rng.choice(grades)) for q in queries for d in range(1, 5)]
    listed = [
        (form.format(q), _document(rng, d), d, round(rng.random(), 2))
        for q in (*queries, 99)
        for d in range(1, rng.choice((2, 4, 8)))
    ]
    scores = rng.choice((None, None, None, 0.5, 1e308, -3.0))
    if scores is not None:
        listed = [(q, doc, rank, scores) for q, doc, rank, _ in listed]
    if rng.random() < 0.65:
        odd = rng.choice((" ", " ", "\t", "  "))
        lines = [odd.join((q, "0", doc, str(rel))) for q, doc, rel in judged]
        own = [odd.join((q, "Q0", doc, str(rank), str(s), "a")) for q, doc, rank, s in listed]
        texts = "\n".join(lines).encode(), "\n".join(own).encode()
        return ("qrels.txt", texts[0]), (rng.choice(("run.txt", "run.run")), texts[1])
    qrels = pl.DataFrame(judged, schema=["query", "doc", "rel"], orient="row")
    run = pl.DataFrame(listed, schema=["query", "doc", "rank", "score"], orient="row")
    if rng.random() < 0.1:
        run = _other_types(rng, run)
    formats = ("csv", "tsv", "jsonl", "json", "parquet")
    return written(rng, qrels, "qrels", formats), written(rng, run, "run", formats)


# ---------------------------------------------------------------------------------- saved results


@cache
def saved() -> dict[str, bytes]:
    """A result of every kind, as it is saved, and the rules that `--apply` takes."""
    from abstain.cli import run
    from abstain.report.result import RESULT_KINDS
    from tests.test_every_result import LISTS, QRELS, made

    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in RESULT_KINDS:
            found[kind] = made(kind, folder).to_json().encode()
        judged = [f"{q} 0 {doc} {rel}" for q, own in QRELS.items() for doc, rel in own.items()]
        (folder / "q.txt").write_text("\n".join(judged))
        lines = [f"{q} Q0 {d} 1 {s} a" for q, own in LISTS["long"].items() for d, s in own.items()]
        (folder / "r.txt").write_text("\n".join(lines))
        (folder / "g.csv").write_text("question,correct\nq1,A\nq2,B\nq3,A\nq4,B\nq5,A\n")
        rows = "".join(f"q{n},A,0.{n}\n" for n in range(1, 6))
        (folder / "a.csv").write_text("question,answer,confidence\n" + rows)
        paths = {own: str(folder / own) for own in ("q.txt", "r.txt", "g.csv", "a.csv")}
        for rule, args in {
            "cut": ("cut", paths["q.txt"], paths["r.txt"], "--rule-file"),
            "tune": ("tune", paths["g.csv"], paths["a.csv"], "--threshold-file"),
        }.items():
            run([*args, str(folder / "rule.json"), "-o", str(folder / f"{rule}.json")])
            found[f"{rule} rule"] = (folder / "rule.json").read_bytes()
            (folder / "rule.json").unlink()
    return found
