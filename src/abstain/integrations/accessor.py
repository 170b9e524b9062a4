"""`frame.abstain`, for pandas and polars alike: a frame of responses asks for a result."""

from collections.abc import Callable
from typing import Any

from abstain.reading import Reading
from abstain.runs import evaluate, evaluate_judged
from abstain.runs.evaluation import Evaluation


class Accessor:
    """The analyses of an `Evaluation`, asked of a frame: `frame.abstain.score(gold, by="topic")`.

    The frame holds responses, judged against a gold (a path or a frame), or rows that are graded
    already, without one. Options of reading and of the analysis go together.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def read(self, gold: Any = None, **reading: Any) -> Evaluation:
        """The responses, read and judged once."""
        how = Reading.of(**reading)
        if gold is None:
            return evaluate_judged(self._frame, how)
        return evaluate(gold, self._frame, how)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or not callable(getattr(Evaluation, name, None)):
            raise AttributeError(f"a frame's abstain has no analysis '{name}'")

        def ask(gold: Any = None, *args: Any, **options: Any) -> Any:
            asked = [key for key in options if key in Reading.__struct_fields__]
            reading = {key: options.pop(key) for key in asked}
            return getattr(self.read(gold, **reading), name)(*args, **options)

        return ask
