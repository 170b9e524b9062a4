"""Cases: files that fit together, spoilt in a few places, and a command with options at random."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import click
import polars as pl
from msgspec import Struct, field

from tests.fuzz.materials import (
    FORMATS,
    gold_of,
    ids_of,
    log_of,
    ranked,
    run_of,
    saved,
    written,
)
from tests.fuzz.spoiling import (
    ABSURD,
    CALLED,
    NASTY,
    NUMBERS,
    packed,
    shaken_json,
    spoilt,
    zipped,
)

Files = dict[str, bytes]
Maker = Callable[[random.Random, Files], list[str]]
"""Makes the files of a case and gives the arguments of its command."""


class Case(Struct, frozen=True):
    """The files of a case, by name, what lies beside them, and the arguments of its command."""

    files: Files
    args: list[str]
    links: dict[str, str] = field(default_factory=dict)
    """Names that lead elsewhere; to nothing, a folder of that name."""
    stdin: bytes = b""


def case_of(seed: int) -> Case:
    """The case of a seed."""
    rng = random.Random(seed)
    files: Files = {}
    command = rng.choice(DRAWN)
    args = COMMANDS[command](rng, files)
    mood = rng.random()  # a quarter is as it should be, the others have something about them
    if mood > 0.25:
        args += [part for _ in range(rng.choice(MORE)) for part in option_of(rng, command)]
    spoil = mood > 0.65
    links: dict[str, str] = {}
    stdin = b""
    for name in list(files):
        if spoil and rng.random() < 0.5:
            files[name] = spoilt(rng, files[name])
        own = name
        if rng.random() < 0.06:
            own = name + rng.choice((".gz", ".zst", ".GZ"))
            files[own] = packed(files.pop(name), own.lower())
            if rng.random() < 0.2:
                files[own] = spoilt(rng, files[own])
        way = rng.random()
        if way < 0.01:
            own, links["link"] = "link", own
        elif way < 0.015:
            del files[own]
            links[own] = rng.choice(("", own, "nowhere", "/dev/null"))
        elif way < 0.025:
            own, stdin = "-", files.pop(own)
        elif way < 0.045 and "/" not in own:
            called = rng.choice((rng.choice(CALLED), own.partition(".")[0]))
            ending = rng.choice(
                (own.partition(".")[2], "zzz", *FORMATS, "arrow", "eval", "zip", "")
            )
            data, own = files.pop(own), f"{called}.{ending}".removesuffix(".")
            files[own] = data
        args = [part.replace(name, own) if _names(part, name) else part for part in args]
    if rng.random() < 0.04:
        args = _shaken(rng, args)
    args = [part.replace("\0", "") for part in args]  # no system hands those over
    return Case(files, [command, *args], links, stdin)


def _names(part: str, name: str) -> bool:
    return part == name or part.endswith(f"={name}")


def _shaken(rng: random.Random, args: list[str]) -> list[str]:
    """Arguments of which one is gone, doubled or something else."""
    if not args:
        return [rng.choice(NASTY)]
    at = rng.randrange(len(args))
    return args[:at] + rng.choice(([], [args[at]] * 2, [rng.choice(NASTY)])) + args[at + 1 :]


# ------------------------------------------------------------------------------------- options

MORE = (0, 0, 0, 1, 1, 1, 2, 3)
"""How many options a case has besides those that it needs."""

COUNTING = (
    *("c@1", "F", "accuracy", "UF", "F(beta=2)", "credit(t=0.5)", "precision", "coverage"),
    *("AUROC", "ECE", "Brier", "risk@coverage(c=0.8)", "AURC", "K1", "CWS"),
)
RANKING = ("AP", "AP'", "NDCG@10", "RR", "P@2", "RBPt(p=0.8)", "NDCGt", "SetF", "map", "P.5,10")
MEANT_WRONG = (
    *("zzz", "", "x", "=", "ECE(bins=0)", "RBP(p=2)", "P@99999999999999999999", "credit(t=nan)"),
    *("F(beta=1e400)", "P@0", "P(rel=-1)@10", "c@1@1", "nowhere.csv", "docx", "missing=", "c.zzz"),
    *("question=", "x=y", "nowhere/out.json", "nowhere/c.json", ".", "zzz=1", "5", "0", "nowhere"),
    *("empty=x", "1999", "out.docx", "=right", "c@1=-1", "99999999999999999999", "spark"),
)
"""Values that mean nothing for any option: one is taken now and then."""
OUTPUTS = (
    *("out.json", "out.csv", "out.md", "out.tex", "out.html", "out.txt", "out", "out.parquet"),
    *("out.jsonl.gz", "folder", "/dev/null", "out.XML"),
)
ATTRIBUTES = ("topic", "topic", "topic", "test", "question", "correct", "run", "type")
VALUES: dict[str, tuple[str, ...]] = {
    "measure": (*COUNTING, *RANKING),
    "by": ATTRIBUTES,
    "cluster": ATTRIBUTES,
    "interval": ("beta", "logit", "delta", "percentile", "bca", "jeffreys", "wilson"),
    "format": ("table", "json", "csv", "markdown", "latex", "github", "html"),
    "from": (*FORMATS, "inspect", "simpleqa", "squad", "trec", "pan", "qa4mre"),
    "pick": ("filter=x", "scorer=match", "gold=gold.csv", "na-prob=a.csv"),
    "column": (
        *("question=question", "answer=*", "confidence=question", "gold:correct=topic"),
        *("run:answer=answer", "doc=query", "right=R", "c@1=all", "rel=doc"),
    ),
    "policy": ("missing=wrong", "declined=excluded", "error=unanswered"),
    "match": ("id", "text", "squad"),
    "align": ("id", "position"),
    "detect-refusals": ("en", "en", "de"),
    "languages": ("en", "de", "en,fr"),
    "grade": ("zzz=wrong", "correct=declined"),
    "engine": ("polars", "duckdb"),
    "master": ("local[1]",),
    "name": ("a=b", "*", ""),
    "test": ("randomisation", "bootstrap", "mcnemar", "t", "wilcoxon", "sign"),
    "correction": ("holm", "bh", "none"),
    "against": ("a", "b", "*"),
    "run": ("a", "b", "*"),
    "show": ("risk", "measure", "reliability", "decision", "roc", "parts"),
    "decision": ("confidence", "given"),
    "part": ("stability", "sensitivity", "power", "agreement"),
    "draws": ("paired", "shared"),
    "stages": ("a,b", "b,a", "a", "a,b,a", "*"),
    "cost": ("1,20", "0.4,8", "1,2,3", "1", "x,1", "0,1"),
    "tune-on": ("topic=t1", "topic=zzz", "topic", "*=x"),
    "on": ("topic=t1", "role=main"),
    "rule": (
        *("auto", "k", "threshold", "share", "gap", "surprise", "distribution", "probability"),
        "expected",
    ),
    "missing": ("empty", "error", "skip"),
    "ties": ("trec", "rank"),
    "nil": ("NIL", "-1", "d1", ""),
    "queries": ("queries.csv", "gold.csv"),
    "sizes": ("auxiliary=44", "counts.csv", "5", "0"),
    "with": ("table.csv",),
    "ignore": ("run", "R", "c@1"),
    "to": FORMATS,
    "title": NASTY,
    "year": ("2020", "2023"),
    "judge-error": ("judge.csv", "gold.csv"),
    "judge-drawn": ("random", "truth", "verdict"),
    "chart": ("c.json", "c.html", "charts"),
}
"""What an option may be given, by its longest name; others get numbers or files."""


@cache
def options(command: str) -> tuple[click.Option, ...]:
    """The options of a command."""
    from abstain.cli import app

    found = app.get_command(click.Context(app), command)
    assert found is not None
    return tuple(own for own in found.params if isinstance(own, click.Option) and not own.hidden)


def option_of(rng: random.Random, command: str) -> list[str]:
    """One of a command's options, with a value that may mean something."""
    known = options(command)
    if not known:
        return []
    own = rng.choice(known)
    name = max(own.opts, key=len)
    if own.is_flag:
        return [rng.choice((*own.opts, *own.secondary_opts))]
    value = rng.choice(_values(rng, command, own, name.lstrip("-")))
    return [f"{name}={value}"] if rng.random() < 0.2 else [name, value]


def _values(rng: random.Random, command: str, own: click.Option, name: str) -> tuple[str, ...]:
    """What to choose a value from: what an option takes, and now and then anything at all."""
    if rng.random() < 0.12:
        return rng.choice((NASTY, ABSURD, MEANT_WRONG))
    if name == "measure":
        return RANKING if command in ("rank", "cut", "trec_eval") else COUNTING
    if name in VALUES:
        return VALUES[name]
    if getattr(own, "writes", False):
        return OUTPUTS
    if isinstance(own.type, click.Path):
        return ("extra.csv",)
    if isinstance(own.type, click.types.FloatParamType):
        return ("0.5", "0.9", "0.05", "0", "1")
    return NUMBERS


# ------------------------------------------------------------------------------------ commands


def _put(files: Files, made: tuple[str, bytes]) -> str:
    files[made[0]] = made[1]
    return made[0]


def _gold_and_runs(rng: random.Random, files: Files, *, sure: bool = False) -> list[str]:
    ids = ids_of(rng)
    args = [_put(files, written(rng, gold_of(rng, ids), "gold"))]
    for stem in ("a", "b", "c")[: rng.choice((1, 2, 2, 3))]:
        some = [own for own in ids if rng.random() < 0.95] or ids
        if rng.random() < 0.03:
            some = [f"z{own}" for own in some]
        if rng.random() < 0.04:
            name, data, tool = log_of(rng, some)
            files[name] = data
            args += [name, *(["--from", tool] if rng.random() < 0.5 else [])]
            continue
        formats = FORMATS[:-1] if sure else FORMATS
        args.append(_put(files, written(rng, run_of(rng, some, sure=sure), stem, formats)))
    return _bundled(rng, files, args) if rng.random() < 0.08 else _called(rng, args)


def _called(rng: random.Random, args: list[str]) -> list[str]:
    if rng.random() < 0.05:
        args[-1] = f"{rng.choice(NASTY)}={args[-1]}"
    return args


def _bundled(rng: random.Random, files: Files, args: list[str]) -> list[str]:
    """The runs in a folder or in an archive."""
    folder = rng.choice(("runs/", "runs/team/"))
    inside = {folder + name: files.pop(name) for name in args[1:] if name in files}
    if rng.random() < 0.3:
        inside[folder + "README.md"] = b"hello"
    if rng.random() < 0.5:
        files.update(inside)
        return [args[0], "runs"]
    files["runs.zip"] = zipped(rng, inside)
    return [args[0], "runs.zip"]


def _judged(rng: random.Random, files: Files) -> list[str]:
    ids = ids_of(rng)
    if rng.random() < 0.3:
        name, files[name], tool = log_of(rng, ids)
        return ["--judged", name, *(["--from", tool] if rng.random() < 0.7 else [])]
    words = (
        "right",
        "wrong",
        "declined",
        "correct",
        "1",
        "0",
        "zzz" if rng.random() < 0.3 else "1",
    )
    frame = run_of(rng, ids, sure=rng.random() < 0.5).with_columns(
        pl.Series(rng.choice(("outcome", "grade")), [rng.choice(words) for _ in ids])
    )
    return ["--judged", _put(files, written(rng, frame, "judged"))]


def _counts(rng: random.Random, files: Files) -> list[str]:
    rows = range(rng.choice((1, 3)))
    odd = rng.random() < 0.5
    numbers = (0, 1, 5, 40, *((-1, 2**60, 1.5, None) if odd else ()))
    names = ("right", "wrong", "unanswered", *(("questions",) if rng.random() < 0.3 else ()))
    columns: dict[str, list[Any]] = {"run": [f"r{row}" for row in rows]}
    columns |= {name: [rng.choice(numbers) for _ in rows] for name in names}
    return ["--counts", _put(files, written(rng, pl.DataFrame(columns, strict=False), "counts"))]


def _scores(rng: random.Random, files: Files) -> list[str]:
    systems = [rng.choice((*NASTY, "a", "b")) or "c" for _ in range(3)]
    values = (0.1, 0.5, 1.0, None, *((1e308, -1e308, 1e-320) if rng.random() < 0.2 else ()))
    columns: dict[str, list[Any]] = {"topic": ["t1", "t2", "t3"]}
    columns |= {name: [rng.choice(values) for _ in range(3)] for name in systems}
    return ["--scores", _put(files, written(rng, pl.DataFrame(columns, strict=False), "scores"))]


def _any_of(*kinds: Maker, sure: bool = False) -> Maker:
    return lambda rng, files: (
        _gold_and_runs(rng, files, sure=sure)
        if rng.random() < 0.7
        else rng.choice(kinds)(rng, files)
    )


def _compare(rng: random.Random, files: Files) -> list[str]:
    _put(files, ("judge.csv", b"true,right,wrong,blank\nright,9,1,0\nwrong,1,9,0\nblank,0,0,9\n"))
    return [*_any_of(_judged, _scores)(rng, files), "--resamples", "100"]


def _meta(rng: random.Random, files: Files) -> list[str]:
    made = _any_of(_counts, _scores, _judged)(rng, files)
    return [*made, "--subsets", "5", "--resamples", "20"]


def _applied(rng: random.Random, files: Files, kind: str) -> list[str]:
    files["rule.json"] = shaken_json(rng, saved()[kind])
    return ["--apply", "rule.json"]


def _tune(rng: random.Random, files: Files) -> list[str]:
    if rng.random() < 0.25:
        kind = rng.choice(("tune rule", "tune rule", "tune", "cut rule"))
        args = _applied(rng, files, kind)
        args.append(_put(files, written(rng, run_of(rng, ids_of(rng), sure=True), "a")))
        return [*args, "--run-file", rng.choice(("out.csv", "out.xml", "out.parquet", "out"))]
    return [*_any_of(_judged, sure=True)(rng, files), "--folds", "2"]


def _cascade(rng: random.Random, files: Files) -> list[str]:
    args = _any_of(_judged, sure=True)(rng, files)
    return args if rng.random() < 0.2 else [*args, "--stages", rng.choice(("a,b", "b,a"))]


def _targets(rng: random.Random, files: Files) -> list[str]:
    args = _any_of(_judged, sure=True)(rng, files)
    told = rng.choice(("a=0.5", "b=0", "a=0.9", f"{rng.choice(NASTY)}=0.1"))
    return args if rng.random() < 0.2 else [*args, "--target", "a=0", "--target", told]


def _ranking(rng: random.Random, files: Files) -> list[str]:
    qrels, run = ranked(rng)
    _put(files, ("queries.csv", b"query,type\nq1,x\nq2,y\n1,x\n"))
    return [_put(files, qrels), _put(files, run)]


def _cut(rng: random.Random, files: Files) -> list[str]:
    args = _ranking(rng, files)
    if rng.random() < 0.25:
        kind = rng.choice(("cut rule", "cut rule", "cut", "tune rule"))
        out = rng.choice(("short.run", "short.csv", "short.parquet", "short.json"))
        return [*_applied(rng, files, kind), args[1], "-o", out]
    return [*args, "--folds", "2"]


def _trec_eval(rng: random.Random, files: Files) -> list[str]:
    return _ranking(rng, files)


def _published(rng: random.Random, files: Files) -> list[str]:
    rows = range(3)
    columns: dict[str, list[Any]] = {"run": [f"r{row}" for row in rows]}
    counts = (1, 5, 20, *((-1, 2**53, 1.5, None) if rng.random() < 0.2 else ()))
    columns |= {name: [rng.choice(counts) for _ in rows] for name in ("R", "W", "U")}
    columns["c@1"] = [rng.choice((0.66, 0.5, 7.5, -3, None)) for _ in rows]
    if rng.random() < 0.2:
        columns[rng.choice(NASTY) or "x"] = [rng.choice(NASTY) for _ in rows]
    name = _put(files, written(rng, pl.DataFrame(columns, strict=False), "table"))
    return [name, "-n", str(rng.choice((1, 26, 120)))]


def _table(rng: random.Random, files: Files, *, gold: bool) -> str:
    ids = ids_of(rng)
    if not gold and rng.random() < 0.15:
        name, files[name], _ = log_of(rng, ids)
        return name
    return _put(files, written(rng, gold_of(rng, ids) if gold else run_of(rng, ids), "table"))


def _convert(rng: random.Random, files: Files) -> list[str]:
    name = _table(rng, files, gold=rng.random() < 0.5)
    ending = rng.choice(FORMATS) + rng.choice(("", "", "", "", ".gz", ".zst"))
    odd = rng.choice((name, "-", "nowhere/out.csv", "out.zzz"))
    return [name, odd if rng.random() < 0.1 else f"out.{ending}"]


def _baseline(rng: random.Random, files: Files) -> list[str]:
    kinds = ("random", "first", "nca", "majority", "blank", "oracle", "zzz")
    return [_table(rng, files, gold=True), rng.choice(kinds)]


def _refusals(rng: random.Random, files: Files) -> list[str]:
    if rng.random() < 0.1:
        return ["--rules", "-l", "en"]
    files["extra.csv"] = b"question,true\nq1,right\nq2,blank\n1,wrong\n"
    return [_table(rng, files, gold=False), "-l", "en"]


def _report(rng: random.Random, files: Files) -> list[str]:
    files["saved.json"] = shaken_json(rng, rng.choice(list(saved().values())))
    return ["saved.json", "-o", "page.html"]


def _editions(rng: random.Random, files: Files) -> list[str]:
    names = ("campaign", "campaign", "score", rng.choice(list(saved())))
    files["saved.json"] = shaken_json(rng, saved()[rng.choice(names)])
    files["other.json"] = saved()[rng.choice(names)]
    files["extra.csv"] = b"edition,registered\none,5\n"
    return [f"{rng.choice(('one',) * 50 + NASTY)}=saved.json", "two=other.json"]


def _campaign(rng: random.Random, files: Files) -> list[str]:
    files["extra.csv"] = rng.choice(
        (b"run,team,status\na,x,main\nb,y,late\n", b"team,pseudonym\na,T1\nb,T1\n", b"run\na\na\n")
    )
    args = [*_gold_and_runs(rng, files), "-o", "folder"]
    more = (["--skip-invalid"], ["--blind"], ["--teams", "teams"], ["--runs-info", "extra.csv"])
    for own in more:
        if rng.random() < 0.15:
            args += own
    return args


def _receive(rng: random.Random, files: Files) -> list[str]:
    gold, *runs = _gold_and_runs(rng, files)
    settings = rng.choice(("", "[limits]\nteam = 1", "late = 'refused'", "counts = 'primary'"))
    files["season.toml"] = f"gold = {json.dumps(gold)}\n{settings}\n".encode(errors="replace")
    runs = [name for name in runs if name in files] or [gold]
    return [*runs, "--team", rng.choice(("a",) * 9 + NASTY), "--into", "."]


def _bundle(rng: random.Random, files: Files) -> list[str]:
    _receive(rng, files)
    return [rng.choice(("codabench", "evalai", "tira", *NASTY)), ".", "-o", "task.zip"]


def _testset(rng: random.Random, files: Files) -> list[str]:
    ending = rng.choice(("csv", "jsonl", "xml", "parquet"))
    return [_table(rng, files, gold=True), "-o", f"set.{ending}"]


COMMANDS: dict[str, Maker] = {
    "score": _any_of(_judged, _counts),
    "decisions": _any_of(_judged),
    "validate": _gold_and_runs,
    "compare": _compare,
    "curve": _any_of(_judged, sure=True),
    "tune": _tune,
    "cascade": _cascade,
    "targets": _targets,
    "meta": _meta,
    "rank": _ranking,
    "trec_eval": _trec_eval,
    "cut": _cut,
    "editions": _editions,
    "demo": lambda rng, files: [rng.choice(NASTY)],
    "audit": _published,
    "convert": _convert,
    "baseline": _baseline,
    "refusals": _refusals,
    "report": _report,
    "campaign": _campaign,
    "explain": lambda rng, files: [rng.choice((*NASTY, *MEANT_WRONG, *COUNTING, *RANKING))],
    "measures": lambda rng, files: [],
    "plugins": lambda rng, files: [],
    "receive": _receive,
    "bundle": _bundle,
    "testset": _testset,
    "seal": lambda rng, files: [_table(rng, files, gold=True)],
    "tasks": lambda rng, files: [rng.choice((*NASTY, "lm-eval")), "-o", "written"],
}
"""Of every command, what makes its files and its arguments."""

RARE = ("explain", "measures", "demo", "plugins", "tasks")
DRAWN = sorted([name for name in COMMANDS if name not in RARE] * 8 + list(RARE))
"""The commands as they are drawn: those that read most are drawn most."""
