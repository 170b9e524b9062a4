"""torchmetrics: a measure of counts as a metric that counts exactly, over batches and devices."""

from __future__ import annotations

from typing import Any

import torch
from torchmetrics import Metric

from abstain.measures import count_measure
from abstain.outcomes import CountsArray


class AbstentionMetric(Metric):
    """A measure of counts of classes; a prediction that is `blank` answers nothing.

    Predictions are labels, or (with a `threshold`) probabilities with a column for each class: the
    likeliest is answered where its probability reaches the threshold. Only whole numbers are
    accumulated, so that batches, epochs and processes add up exactly.
    """

    is_differentiable = False
    full_state_update = False

    def __init__(
        self,
        measure: str = "c@1",
        *,
        blank: int = -1,
        threshold: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.measure, self.blank, self.threshold = count_measure(measure), blank, threshold
        self.add_state("counts", torch.zeros(6, dtype=torch.long), dist_reduce_fx="sum")

    @property
    def higher_is_better(self) -> bool:
        return self.measure.higher_is_better

    def update(self, preds: torch.Tensor, target: torch.Tensor) -> None:
        """Count a batch: right, wrong and, of blanks, the candidates where there are some."""
        silent, labels = preds == self.blank, preds
        if self.threshold is not None:
            sure, labels = preds.max(dim=-1)
            silent = sure < self.threshold
        right = labels == target
        unknown = silent if self.threshold is None else torch.zeros_like(silent)
        split = silent & ~unknown
        kinds = (right & ~silent, ~right & ~silent, right & split, ~right & split)
        counted = [mask.sum() for mask in (*kinds, torch.zeros_like(silent), unknown)]
        self.counts += torch.stack(counted).to(self.counts)

    def compute(self) -> torch.Tensor:
        """The score of everything that was counted; NaN where it is undefined."""
        table = self.counts.cpu().numpy()[None]
        return torch.tensor(float(self.measure(CountsArray(table))[0]), dtype=torch.float64)
