"""The fitted distributions and models against scipy and known parameters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from abstain.features.cut.rules import cramer_von_mises, fit_mixture, fit_pareto
from abstain.features.cut.scores import logistic


@pytest.mark.parametrize(("shape", "scale"), [(0.3, 2.0), (0.0, 1.0), (-0.2, 5.0), (0.8, 0.1)])
def test_a_pareto_tail_as_scipy_fits_it(shape: float, scale: float) -> None:
    y = stats.genpareto.rvs(shape, scale=scale, size=600, random_state=3)
    found = fit_pareto(np.array([y]))
    own, _, wide = stats.genpareto.fit(y, floc=0)
    mine = stats.genpareto.logpdf(y, found.shape[0], scale=found.scale[0]).sum()
    assert mine >= stats.genpareto.logpdf(y, own, scale=wide).sum() - 1e-3
    assert found.shape[0] == pytest.approx(own, abs=5e-3)
    assert found.scale[0] == pytest.approx(wide, rel=1e-2)
    assert found.shape[0] == pytest.approx(shape, abs=0.15)


def test_lists_are_fitted_each_by_itself() -> None:
    draw = np.random.default_rng(0)
    both = np.full((2, 300), np.nan)
    both[0], both[1, :90] = draw.exponential(1, 300), draw.exponential(7, 90)
    together = fit_pareto(both)
    for row, length in ((0, 300), (1, 90)):
        alone = fit_pareto(both[row : row + 1, :length])
        assert together.shape[row] == pytest.approx(alone.shape[0], abs=1e-9)
        assert together.scale[row] == pytest.approx(alone.scale[0], rel=1e-9)


def test_cramer_von_mises_as_scipy_has_it() -> None:
    y = -np.sort(-stats.genpareto.rvs(0.2, scale=2, size=80, random_state=1))
    fitted = fit_pareto(np.array([y]))
    law = stats.genpareto(fitted.shape[0], scale=fitted.scale[0])
    expected = stats.cramervonmises(y, law.cdf).statistic
    assert cramer_von_mises(np.array([y]), fitted)[0] == pytest.approx(expected, rel=1e-9)


def likelihood(x: np.ndarray, fitted: tuple[float, ...]) -> float:
    share, mean, deviation, scale = fitted
    normal = stats.truncnorm.pdf(x, -mean / deviation, np.inf, loc=mean, scale=deviation)
    return float(np.log(share * normal + (1 - share) * stats.expon.pdf(x, scale=scale)).sum())


def test_a_mixture_is_as_likely_as_scipy_makes_it_and_finds_its_parameters() -> None:
    draw = np.random.default_rng(5)
    x = np.concatenate([draw.normal(8, 1.5, 800), draw.exponential(1.5, 3200)])
    fitted = tuple(float(part[0]) for part in fit_mixture(x[None], rounds=300))
    start = np.array([0.3, 6.0, 2.0, 2.0])
    bounds = [(0.01, 0.99), (0, 20), (0.1, 10), (0.1, 10)]
    best = optimize.minimize(lambda p: -likelihood(x, tuple(p)), start, bounds=bounds)
    assert likelihood(x, fitted) >= -best.fun - 0.5
    assert list(fitted) == pytest.approx(best.x.tolist(), rel=0.02)
    assert list(fitted) == pytest.approx([0.2, 8, 1.5, 1.5], rel=0.1)


@pytest.mark.parametrize(("shape", "scale"), [(0.5, 2.0), (0.0, 0.01), (-0.1, 300.0)])
def test_a_pareto_tail_is_recovered_from_short_lists(shape: float, scale: float) -> None:
    """Lists of 100, as a run has them: right on average, and each within its standard error.

    That of the shape is (1 + shape) / √n, for shapes well above −½ (Smith 1987).
    """
    y = stats.genpareto.rvs(shape, scale=scale, size=(200, 100), random_state=11)
    found = fit_pareto(y)
    error = (1 + shape) / 10
    assert found.shape.mean() == pytest.approx(shape, abs=0.05)  # its bias is of the order 1/n
    assert found.shape.std() == pytest.approx(error, rel=0.25)
    assert np.median(found.scale) == pytest.approx(scale, rel=0.05)


@pytest.mark.parametrize(
    ("share", "mean", "deviation", "scale"),
    [(0.2, 8.0, 1.5, 1.5), (0.5, 6.0, 1.0, 0.8), (0.1, 30.0, 4.0, 5.0), (0.6, 2.0, 1.2, 0.2)],
    ids=["usual", "half", "few", "cut off"],
)
def test_a_mixture_is_recovered(share: float, mean: float, deviation: float, scale: float) -> None:
    """Also where a good part of the normal distribution is cut off at 0."""
    draw = np.random.default_rng(6)
    size = 20_000
    low = -mean / deviation
    normal = stats.truncnorm.rvs(low, np.inf, mean, deviation, size, random_state=7)
    x = np.where(draw.random(size) < share, normal, draw.exponential(scale, size))
    found = [float(part[0]) for part in fit_mixture(x[None], rounds=500)]
    assert found == pytest.approx([share, mean, deviation, scale], rel=0.06)


def test_a_logistic_model_is_the_most_likely_one() -> None:
    draw = np.random.default_rng(2)
    x = draw.normal(size=(400, 3)) * [1, 5, 0.1] + [0, 3, 0]
    y = draw.random(400) < 1 / (1 + np.exp(-(x @ [1, -0.2, 3] - 0.5)))
    times = draw.integers(1, 4, 400).astype(float)
    model = logistic(x, y, ridge=1.0, times=times)
    middle = np.average(x, axis=0, weights=times)
    scale = np.sqrt(np.average((x - middle) ** 2, axis=0, weights=times))
    z = (x - middle) / scale

    def loss(w: np.ndarray) -> float:
        odds = z @ w[1:] + w[0]
        return float(times @ (np.logaddexp(0, odds) - y * odds) + 0.5 * (w[1:] ** 2).sum())

    best = optimize.minimize(loss, np.zeros(4))
    assert list(model.weights) == pytest.approx((best.x[1:] / scale).tolist(), rel=1e-3)
    expected = 1 / (1 + np.exp(-(z @ best.x[1:] + best.x[0])))
    assert model.chance(x) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("moved", [0.0, 1e4, -1e9])
def test_a_model_of_few_digits_gives_the_chances_of_all_of_them(moved: float) -> None:
    """Wherever scores lie: their middle has as many digits as their spread asks for."""
    draw = np.random.default_rng(4)
    x = draw.normal(size=(300, 2)) * [2, 0.01]
    y = draw.random(300) < 1 / (1 + np.exp(-x[:, 0] - 100 * x[:, 1]))
    plain, away = logistic(x, y, ridge=1.0), logistic(x + moved, y, ridge=1.0)
    assert away.chance(x + moved) == pytest.approx(plain.chance(x), abs=1e-4)
    assert all(len(f"{weight!r}") <= 12 for weight in plain.weights)


def test_a_model_of_what_always_or_never_happens_is_sure() -> None:
    x = np.arange(6.0)[:, None]
    assert logistic(x, np.ones(6, bool), ridge=1).chance(x).min() > 0.999
    assert logistic(x, np.zeros(6, bool), ridge=1).chance(x).max() < 0.001
    assert logistic(x[:0], np.zeros(0, bool), ridge=1).chance(x).max() < 0.001
