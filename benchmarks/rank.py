"""`abstain rank` beside its peers: run files to means, validation on, seconds, memory, ratios.

    python benchmarks/rank.py [--lines 1000000] [--kinds sorted shuffled] [--repeat 3]
    python benchmarks/rank.py --lines 7000000
    python benchmarks/rank.py --lines --many 100     (the last part alone)

NIST's trec_eval 9.0.8 in C takes part where its source is (`peers/trec_eval-9.0.8.tar.gz` in the
folder `shared` beside the checkout, or in ABSTAIN_SHARED) and a compiler: it is built with -O3 in a
temporary folder. It reads the run and computes AP, RR, NDCG@10 and P@10. With seven million lines
abstain is to be 5 times faster, with half of its memory for a sorted run and no more for others.
`abstain cut` on a million lines is to take at most 6 times what `abstain rank` takes, by processor.
`--many` (100) scores so many runs of 50,000 lines in one call of `abstain rank`, and in as many
calls; 0 leaves that out.

The peers that are installed take part: pytrec-eval-terrier, ir_measures, ranx (they compute
AP, RR, NDCG@10 and P@10; ranx and abstain RBP(p=0.8) too), and polars merely reading the file.
Beside the TREC file abstain is given the same run as CSV (abstain.csv), above all for its memory.
Each measurement is a process of its own: its clock starts after the imports and a warm-up on
a tiny run (so that nobody pays for compiling), its peak memory is the whole process's. Files
are generated once, in a folder of the system's temporary directory, and kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOM = Path(tempfile.gettempdir()) / "abstain-bench-rank"
DOCS = 1000
PEERS = ("abstain", "abstain'", "abstain.csv", "pytrec_eval", "ir_measures", "ranx", "polars")
TREC_EVAL = "trec_eval (C)"
TARGETS = {"pytrec_eval": 4, "ir_measures": 8, "ranx": 10}
OF_C = 5
"""Times faster than trec_eval's C, from so many lines on."""
MANY_LINES, LARGE = 50_000, 7_000_000
CUT_LINES, CUT_OF_RANK = 1_000_000, 6
OF_MANY = 3
"""Times faster in one call than in one for each run."""
SHARED = Path(os.environ.get("ABSTAIN_SHARED", Path(__file__).parents[2] / "shared"))
Means = dict[str, float]
Report = dict[str, Any]


def generate(lines: int, kind: str) -> tuple[Path, Path]:
    """A run of 1,000 documents a query, with some ties, and qrels that judge 60 a query."""
    import numpy as np
    import polars as pl

    qrels, run = ROOM / f"{lines}.qrels", ROOM / f"{lines}.{kind}.run"
    table = _as_csv(run)
    if qrels.exists() and run.exists() and table.exists():
        return qrels, run
    ROOM.mkdir(exist_ok=True)
    rng = np.random.default_rng(7)
    queries = lines // DOCS
    docs = rng.permuted(np.sort(rng.integers(0, 8800, (queries, DOCS + 30)), axis=1), axis=1)
    docs = docs * (DOCS + 30) + np.arange(DOCS + 30)  # distinct in each query
    scores = -np.sort(-np.round(rng.gamma(2.0, 5.0, (queries, DOCS)), 4), axis=1)
    names = np.repeat(np.arange(queries) * 7 + 1001, DOCS)
    rows = pl.DataFrame({"query": names, "Q0": ["Q0"] * len(names), "doc": docs[:, :DOCS].ravel()})
    rows = rows.with_columns(
        rank=np.tile(np.arange(1, DOCS + 1), queries), score=scores.ravel(), run=pl.lit("bm25")
    )
    if kind == "shuffled":
        rows = rows.sample(fraction=1.0, shuffle=True, seed=1)
    rows.write_csv(run, separator=" ", include_header=False)
    rows.select("query", "doc", "score").write_csv(table)
    judged = np.concatenate((np.arange(0, 600, 20), np.arange(DOCS, DOCS + 30)))
    judgments = {
        "query": np.repeat(np.arange(queries) * 7 + 1001, len(judged)),
        "0": np.zeros(queries * len(judged), int),
        "doc": docs[:, judged].ravel(),
        "rel": rng.choice(4, queries * len(judged), p=[0.55, 0.3, 0.1, 0.05]),
    }
    pl.DataFrame(judgments).write_csv(qrels, separator=" ", include_header=False)
    return qrels, run


def _as_csv(run: str | Path) -> Path:
    """Where a run is as CSV."""
    return Path(f"{run}.csv")


MEASURES = ("AP", "RR", "NDCG@10", "P@10", "RBP(p=0.8)")
PRIMED = ("AP'", "RR'", "NDCG'", "RBP'(p=0.8)")


def _means(result: Any) -> Means:
    return {name: result.rows[0].score(name) for name in result.measures}


def ours(qrels: str, run: str) -> Means:
    """The standard measures by abstain."""
    import abstain as ab

    return _means(ab.rank(qrels, run, measures=MEASURES))


def ours_primed(qrels: str, run: str) -> Means:
    """The primed measures by abstain."""
    import abstain as ab

    return _means(ab.rank(qrels, run, measures=PRIMED))


def ours_csv(qrels: str, run: str) -> Means:
    """The standard measures by abstain, the run as CSV."""
    return ours(qrels, str(_as_csv(run)))


def pytrec(qrels: str, run: str) -> Means:
    """pytrec-eval-terrier."""
    pytrec_eval: Any = import_module("pytrec_eval")
    with open(qrels) as file:
        judgments = pytrec_eval.parse_qrel(file)
    with open(run) as file:
        rows = pytrec_eval.parse_run(file)
    names = {"map": "AP", "recip_rank": "RR", "ndcg_cut_10": "NDCG@10", "P_10": "P@10"}
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, set(names))
    scores = evaluator.evaluate(rows)
    return {
        ours: sum(query[theirs] for query in scores.values()) / len(scores)
        for theirs, ours in names.items()
    }


def irm(qrels: str, run: str) -> Means:
    """ir_measures."""
    ir_measures: Any = import_module("ir_measures")
    names = {"AP": "AP", "RR": "RR", "nDCG@10": "NDCG@10", "P@10": "P@10"}
    measures = {ir_measures.parse_measure(theirs): ours for theirs, ours in names.items()}
    judgments = ir_measures.read_trec_qrels(qrels)
    rows = ir_measures.read_trec_run(run)
    means = ir_measures.calc_aggregate(list(measures), judgments, rows)
    return {name: means[measure] for measure, name in measures.items()}


def rnx(qrels: str, run: str) -> Means:
    """ranx."""
    ranx: Any = import_module("ranx")
    names = {
        "map": "AP",
        "mrr": "RR",
        "ndcg@10": "NDCG@10",
        "precision@10": "P@10",
        "rbp.80": "RBP(p=0.8)",
    }
    judgments = ranx.Qrels.from_file(qrels, kind="trec")
    rows = ranx.Run.from_file(run, kind="trec")
    means = ranx.evaluate(judgments, rows, list(names), make_comparable=True)
    return {ours: float(means[theirs]) for theirs, ours in names.items()}


def merely_read(qrels: str, run: str) -> Means:
    """polars, which reads the file and does nothing with it."""
    import polars as pl

    frame = pl.read_csv(run, separator=" ", has_header=False, quote_char=None)
    return {"rows": float(frame.height)}


WORK: dict[str, Callable[[str, str], Means]] = dict(
    zip(PEERS, (ours, ours_primed, ours_csv, pytrec, irm, rnx, merely_read), strict=True)
)


# ------------------------------------------------------------------------------- trec_eval's C


def built() -> Path | None:
    """trec_eval 9.0.8, compiled with -O3 in a temporary folder; says why where it cannot be."""
    source = SHARED / "peers" / "trec_eval-9.0.8.tar.gz"
    if not source.exists() or shutil.which("make") is None or shutil.which("gcc") is None:
        missing = "its source is not here" if not source.exists() else "there is no compiler"
        print(f"trec_eval 9.0.8 in C is left out: {missing}")
        return None
    folder = Path(tempfile.mkdtemp(prefix="abstain-trec-eval-"))
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    where = next(folder.iterdir())
    flags = '-O3 -I. -w -DVERSIONID=\\"9.0.8\\"'
    done = subprocess.run(
        ["make", "trec_eval", f"CFLAGS={flags}"], cwd=where, capture_output=True, check=False
    )
    if done.returncode:
        print("trec_eval 9.0.8 in C is left out: it cannot be built", done.stderr[-200:])
        return None
    return where / "trec_eval"


def of_c(program: Path, qrels: Path, run: Path) -> Report:
    """One process of trec_eval, with the processor time and the memory that the system counted."""
    names = {"map": "AP", "recip_rank": "RR", "ndcg_cut_10": "NDCG@10", "P_10": "P@10"}
    asked = [part for name in ("map", "recip_rank", "ndcg_cut.10", "P.10") for part in ("-m", name)]
    command = [str(program), *asked, str(qrels), str(run)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [line.split() for line in process.stdout.read().splitlines()]
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return {
        "seconds": time.perf_counter() - start,
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss / 1024,
        "means": {names[name]: float(value) for name, _, value in lines},
    }


# ---------------------------------------------------------------------------- one call, or many


def compare_many(runs: int) -> bool:
    """All runs in one call, against a call for each: whole processes, start-up included."""
    qrels, folder = generate_many(runs)
    files = sorted(str(path) for path in folder.glob("*.run"))
    program = [sys.executable, "-P", "-m", "abstain", "rank", str(qrels)]
    quiet = ["-m", "AP", "-m", "NDCG@10", "-f", "csv"]
    timed = {}
    for how, calls in (("one call", [files]), ("a call a run", [[file] for file in files])):
        start, before = time.perf_counter(), os.times()
        for given in calls:
            subprocess.run([*program, *given, *quiet], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        used = after.children_user - before.children_user
        used += after.children_system - before.children_system
        timed[how] = time.perf_counter() - start, used
    print(f"\n{runs:,} runs of {MANY_LINES:,} lines")
    for how, (seconds, cpu) in timed.items():
        print(f"  {how:12s} {seconds:8.2f} s {cpu:8.2f} s of processor")
    times, work = (b / a for a, b in zip(timed["one call"], timed["a call a run"], strict=True))
    print(f"  one call is {times:.2f} times faster, by processor {work:.2f} (at least {OF_MANY})")
    return times >= OF_MANY


def compare_cut(repeat: int) -> bool:
    """`abstain cut` beside `abstain rank` on one run: whole processes, start-up included."""
    files = [str(path) for path in generate(CUT_LINES, "sorted")]
    used: dict[str, list[float]] = {"rank": [], "cut": []}
    for _ in range(repeat):
        for command, seconds in used.items():
            before = os.times()
            program = [sys.executable, "-P", "-m", "abstain", command, *files]
            subprocess.run(program, check=True, stdout=subprocess.DEVNULL)
            after = os.times()
            spent = after.children_user - before.children_user
            seconds.append(spent + after.children_system - before.children_system)
    times = min(used["cut"]) / min(used["rank"])
    print(f"\ncut / rank, {CUT_LINES:,} lines: {times:.2f} by processor (at most {CUT_OF_RANK})")
    return times <= CUT_OF_RANK


def generate_many(runs: int) -> tuple[Path, Path]:
    """Runs of the same queries, each its own documents in part."""
    import numpy as np
    import polars as pl

    qrels, sample = generate(MANY_LINES, "sorted")
    folder = ROOM / f"many-{runs}"
    if folder.exists():
        return qrels, folder
    folder.mkdir(parents=True)
    rows = pl.read_csv(sample, separator=" ", has_header=False, new_columns=list("qzdrst"))
    rng = np.random.default_rng(3)
    for number in range(runs):
        scores = -np.sort(-rng.gamma(2.0, 5.0, (rows.height // DOCS, DOCS)), axis=1)
        own = rows.with_columns(s=scores.ravel().round(4), t=pl.lit(f"run{number}"))
        own.write_csv(folder / f"{number:03}.run", separator=" ", include_header=False)
    return qrels, folder


def measure_here(peer: str, qrels: str, run: str) -> None:
    """In the child: warm up, run, report."""
    tiny_qrels, tiny_run = ROOM / "tiny.qrels", ROOM / "tiny.run"
    WORK[peer](str(tiny_qrels), str(tiny_run))
    start, cpu = time.perf_counter(), time.process_time()
    means = WORK[peer](qrels, run)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    report = {"seconds": seconds, "cpu": cpu, "peak": _peak(), "means": means}
    print(json.dumps(report))


def _peak() -> float:
    """MiB at most in use; the system's count since this program began, not its parent's."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def measured(peer: str, qrels: Path, run: Path) -> Report:
    """One measurement in a process of its own."""
    # -P: or peers would import the benchmarks beside this one for what they are named after
    command = [sys.executable, "-P", __file__, "--child", peer, str(qrels), str(run)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        nothing = dict.fromkeys(("seconds", "cpu", "peak"), float("nan"))
        return nothing | {"error": done.stderr[-300:]}
    report: Report = json.loads(done.stdout.splitlines()[-1])
    return report


def compare(
    lines: int, kind: str, peers: list[str], repeat: int, program: Path | None = None
) -> bool:
    """Measure all peers on one file and print the ratios; whether every aim is met."""
    qrels, run = generate(lines, kind)
    print(f"\n{lines:,} lines, {kind} ({run.stat().st_size / 1e6:.0f} MB)")
    peers = [*peers, *([TREC_EVAL] if program is not None else [])]
    reports: dict[str, list[Report]] = {peer: [] for peer in peers}
    for _ in range(repeat):  # in turns, so that a busy minute is everybody's
        for peer in peers:
            by_c = program is not None and peer == TREC_EVAL
            found = of_c(program, qrels, run) if program and by_c else measured(peer, qrels, run)
            reports[peer].append(found)
    # the best of several is what the work takes; the rest is what others did to the machine
    seconds = {p: min(r["seconds"] for r in rs) for p, rs in reports.items()}
    median = {p: statistics.median(r["seconds"] for r in rs) for p, rs in reports.items()}
    cpu = {p: min(r["cpu"] for r in rs) for p, rs in reports.items()}
    peak = {p: max(r["peak"] for r in rs) for p, rs in reports.items()}
    print(
        "  best of",
        repeat,
        "   seconds (median)   cpu    MB   × abstain's time, cpu, memory   target",
    )
    for peer in peers:
        times = " ".join(f"{m[peer] / m['abstain']:6.2f}" for m in (seconds, cpu, peak))
        target = f"{TARGETS.get(peer, ''):>9}"
        print(
            f"  {peer:14s}{seconds[peer]:10.2f} ({median[peer]:.2f}){cpu[peer]:8.2f}"
            f"{peak[peer]:7.0f}   {times}{target}"
        )
        if "error" in reports[peer][-1]:
            print("    did not run:", reports[peer][-1]["error"].strip().splitlines()[-1:])
    _same_means(reports)
    missed = [
        peer
        for peer, wanted in TARGETS.items()
        if peer in seconds and seconds[peer] / seconds["abstain"] < wanted
    ]
    if TREC_EVAL in seconds:
        faster, work, memory = (m[TREC_EVAL] / m["abstain"] for m in (seconds, cpu, peak))
        print(
            f"  {TREC_EVAL} / abstain: {faster:.2f} by the clock, {work:.2f} by processor, "
            f"{memory:.2f} of memory (at least {OF_C}; 2 sorted, 1 else; from {LARGE:,} lines on)"
        )
        if lines >= LARGE and (faster < OF_C or memory < (2 if kind == "sorted" else 1)):
            missed.append(TREC_EVAL)
    if "polars" in seconds:
        ratio, work = (m["abstain"] / m["polars"] for m in (seconds, cpu))
        print(f"  abstain / polars merely reading: {ratio:.2f}, cpu {work:.2f} (at most 3)")
        missed += ["polars"] if ratio > 3 else []
    if "abstain'" in seconds:
        ratio, work = (m["abstain'"] / m["abstain"] for m in (seconds, cpu))
        print(f"  primed / standard: {ratio:.2f}, cpu {work:.2f} (at most 1.5)")
        missed += ["primed"] if ratio > 1.5 else []
    print(f"  TOO SLOW beside {', '.join(missed)}" if missed else "  ok")
    return not missed


def _same_means(reports: dict[str, list[Report]]) -> None:
    mine = reports["abstain"][0]["means"]
    for peer, runs in reports.items():
        for name, value in runs[0].get("means", {}).items():
            close = 1e-4 if peer == TREC_EVAL else 1e-9  # it prints four decimals
            if name in mine and abs(value - mine[name]) > close:
                print(f"    {peer} gives {name} {value:.9f}, abstain {mine[name]:.9f}")


def main() -> int:
    """Print times, memory and ratios; 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs=3)
    parser.add_argument("--lines", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--many", type=int, default=100)
    parser.add_argument("--kinds", nargs="+", default=["sorted", "shuffled"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=list(PEERS))
    options = parser.parse_args()
    if options.child:
        measure_here(*options.child)
        return 0
    ROOM.mkdir(exist_ok=True)
    (ROOM / "tiny.qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 a 2\n")
    (ROOM / "tiny.run").write_text("1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n2 Q0 c 1 2 t\n2 Q0 a 2 1 t\n")
    _as_csv(ROOM / "tiny.run").write_text("query,doc,score\n1,a,2.5\n1,b,1.5\n2,c,2\n2,a,1\n")
    program = built() if options.lines else None
    good = [
        compare(lines, kind, options.only, options.repeat, program)
        for lines in options.lines
        for kind in options.kinds
    ]
    if program is not None:
        shutil.rmtree(program.parents[1])
    if options.lines:
        good.append(compare_cut(options.repeat))
    if options.many:
        good.append(compare_many(options.many))
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
