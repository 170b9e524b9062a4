"""`bundle`: what a platform needs to host a season: Codabench, EvalAI or TIRA."""

import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from abstain import __version__
from abstain.errors import InputError, check_name, option
from abstain.io.output import json_of, whole
from abstain.measures import Measure, count_measure
from abstain.runs.season import Season, read_season

Platform: TypeAlias = Literal["codabench", "evalai", "tira"]
LEVEL = 0.95
TITLE = 36
"""The letters that Codabench takes as the title or key of a column."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of all files in an archive: the same season gives the same bytes."""


def bundle(
    platform: Platform,
    season: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    force: bool = False,
) -> tuple[str, ...]:
    """Write the archive that a platform asks for; the files in it.

    Its program scores the runs that `validate` finds valid, as `campaign` does, with intervals.
    """
    check_name("platform", platform, get_args(Platform))
    if Path(output).exists() and not force:
        raise InputError(f"is there already; {option('force')} replaces it", str(output))
    opened = read_season(season)
    contents = dict(CONTENTS[platform](opened))
    with whole(output) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return tuple(contents)


def _codabench(season: Season) -> Iterator[tuple[str, str | bytes]]:
    chosen, asked = _measure(season), season.settings
    phase: dict[str, Any] = {"index": 0, "name": "Submission", "tasks": [0]}
    phase["start"] = _time(asked.hosting.opens or datetime.now(UTC))
    if asked.deadline is not None:
        phase["end"] = _time(asked.deadline)
        if phase["end"] <= phase["start"]:
            what = "the deadline is not after [hosting] opens (default: now), expected later"
            raise InputError(what, str(season.folder / "season.toml"))
    limits = {"max_submissions": "team", "max_submissions_per_day": "day"}
    phase |= {name: asked.limits[of] for name, of in limits.items() if of in asked.limits}
    phase["hide_score_output"] = not asked.hosting.shown
    words = {"title": _title(season), "measure": chosen.name, "level": f"{LEVEL:.0%}"}
    pages = ("overview", "evaluation", "terms")
    competition = {
        "version": 2,
        "title": _title(season),
        "image": "logo.png",
        "terms": "terms.md",
        "docker_image": asked.hosting.image,
        "pages": [{"title": page.title(), "file": f"{page}.md"} for page in pages[:2]],
        "tasks": [
            {
                "index": 0,
                "name": _title(season),
                "scoring_program": "scoring_program",
                "reference_data": "reference_data",
            }
        ],
        "phases": [phase],
        "leaderboards": [
            {
                "title": "Results",
                "key": "main",
                "hidden": not asked.hosting.shown,
                # a team chooses its primary run; otherwise its latest one stands
                "submission_rule": "Add_And_Delete" if asked.counts == "primary" else "Force_Last",
                "columns": [
                    {"index": index, **column} for index, column in enumerate(_columns(chosen))
                ],
            }
        ],
    }
    yield "competition.yaml", "".join(_yaml(competition))
    yield "logo.png", _part("logo.png")
    for page in pages:
        yield f"{page}.md", _part(f"{page}.md").decode().format_map(words)
    yield (
        "scoring_program/metadata.yaml",
        "command: python3 /app/program/scoring.py /app/input /app/output\n",
    )
    for name, data in _program(season):
        yield f"scoring_program/{name}", data
    yield f"reference_data/{_gold(season).name}", _gold(season).read_bytes()


def _evalai(season: Season) -> Iterator[tuple[str, str | bytes]]:
    for name, data in _program(season):
        yield "main.py" if name == "scoring.py" else name, data
    yield "__init__.py", "from .main import evaluate\n"
    labels = [column["key"] for column in _columns(_measure(season))]
    yield "leaderboard.json", json_of({"labels": labels, "default_order_by": labels[0]})


def _tira(season: Season) -> Iterator[tuple[str, str | bytes]]:
    yield from _program(season)
    lines = f"FROM {season.settings.hosting.image}", f"RUN pip install abstain=={__version__}"
    yield "Dockerfile", "\n".join((*lines, "COPY . /scoring", ""))
    yield "command.txt", "python3 /scoring/scoring.py $inputRun $inputDataset $outputDir\n"


CONTENTS = {"codabench": _codabench, "evalai": _evalai, "tira": _tira}


def _program(season: Season) -> Iterator[tuple[str, str | bytes]]:
    """The scoring program, and what it knows of the season."""
    chosen, asked = _measure(season), season.settings
    extra = {"corrections": asked.corrections} if asked.corrections else {}
    task = {
        "abstain": __version__,
        "gold": _gold(season).name,
        "measure": chosen.name,
        "key": _key(chosen),
        "level": LEVEL,
        "reading": msgspec.to_builtins(season.reading),
        "files": {option: Path(file).name for option, file in extra.items()},
    }
    yield "scoring.py", _part("scoring.py")
    yield "task.json", json_of(task)
    for file in extra.values():
        yield Path(file).name, (season.folder / file).read_bytes()


def _columns(chosen: Measure) -> Iterator[Mapping[str, Any]]:
    """The columns of a leaderboard, as Codabench declares them: the first one ranks."""
    key, best = _key(chosen), "desc" if chosen.definition.higher_is_better else "asc"
    for end in ("", "low", "high"):
        title = chosen.name[: TITLE - 5]
        yield {
            "title": f"{title} {end}".rstrip(),
            "key": f"{key}_{end}".rstrip("_"),
            "sorting": best,
            "precision": 4,
        }
    for outcome, order in {"right": "desc", "wrong": "asc", "blank": "asc"}.items():
        yield {"title": outcome, "key": outcome, "sorting": order, "precision": 0}


def _key(chosen: Measure) -> str:
    return re.sub(r"\W+", "_", chosen.name.replace("@", "_at_")).strip("_")[: TITLE - 5]


def _measure(season: Season) -> Measure:
    return count_measure(season.settings.measure or "c@1")


def _title(season: Season) -> str:
    return season.settings.title or season.folder.resolve().name


def _gold(season: Season) -> Path:
    if not os.path.isfile(season.gold):
        raise InputError("is no file: a platform takes the gold as one", season.gold)
    return Path(season.gold)


def _time(moment: datetime) -> str:
    """A time as Codabench reads it: UTC, as text, since of a YAML time it keeps the day alone."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def _part(name: str) -> bytes:
    return (files(__package__) / name).read_bytes()


def _yaml(value: Any, indent: str = "") -> Iterator[str]:
    """Nested data as block YAML, whose scalars are written as JSON."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, (Mapping, list)):
                yield f"{indent}{key}:\n"
                yield from _yaml(item, f"{indent}  ")
            else:
                yield f"{indent}{key}: {json.dumps(item, ensure_ascii=False)}\n"
    else:
        for item in value:
            if isinstance(item, Mapping):
                first, *rest = _yaml(item, f"{indent}  ")
                yield f"{indent}- {first.lstrip()}"
                yield from rest
            else:
                yield f"{indent}- {json.dumps(item, ensure_ascii=False)}\n"
