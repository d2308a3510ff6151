"""The p/w grid against a plain loop over scipy, and what is shown where a correlation is undefined."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.stats

from engine.boost.grid import COEFFICIENTS, REASONS, W_GRID, Items, average, correlate, surfaces, to_frame
from engine.boost.kernels import round_all
from engine.boost.power import P_GRID, Importances, nearest, power_means

SCIPY = {"kendall": scipy.stats.kendalltau, "spearman": scipy.stats.spearmanr, "pearson": scipy.stats.pearsonr}


def plain(items, p, w, coefficient):
    """One cell, the long way."""
    combined = w * items.scores + (1 - w) * items.aggregates[p]
    kept = ~(np.isnan(combined) | np.isnan(items.human))
    combined, human = combined[kept], items.human[kept]
    rounded = np.array([float(f"{value:.10g}") for value in combined])
    if np.ptp(rounded) == 0 or np.ptp(human) == 0:
        return np.nan
    return SCIPY[coefficient](combined if coefficient == "pearson" else rounded, human)[0]


def explained(n, seed, ties=False, gaps=False):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    words = [0.02 + 0.01 * q + rng.normal(0, 0.03, rng.integers(1, 25)) for q in quality]
    scores, human = 0.8 + 0.05 * quality + rng.normal(0, 0.1, n), quality + rng.normal(0, 1, n)
    if ties:
        scores, human = np.round(scores, 1), np.round(human)
        words = [np.round(item, 2) for item in words]
    if gaps:
        scores[3], human[5], words[7] = np.nan, np.nan, np.empty(0)
    return Items("g", scores, power_means(Importances.of(words)).means, human)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize(("ties", "gaps"), [(False, False), (True, False), (True, True)])
def test_the_grid_equals_a_plain_loop(coefficient, ties, gaps):
    items = explained(150, 1, ties, gaps)
    surface = surfaces([items], coefficient)[0]
    assert surface.correlation.shape == (600, 6)
    assert surface.n == (147 if gaps else 150)
    for row in list(range(0, 600, 41)) + [299, 300, 301, 599]:
        for column, w in enumerate(W_GRID):
            assert surface.correlation[row, column] == pytest.approx(plain(items, row, w, coefficient), abs=1e-9)
    assert surface.original == pytest.approx(plain(items, 0, 1.0, coefficient), abs=1e-12)
    assert (surface.correlation[:, 5] == surface.original).all()


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_rows_that_have_nothing_to_do_with_each_other(coefficient):
    """The sort of one cell starts from its neighbour's; unrelated neighbours must not matter."""
    rng = np.random.default_rng(2)
    items = Items("noise", rng.normal(size=300), rng.normal(size=(600, 300)), np.round(rng.normal(size=300), 1))
    surface = surfaces([items], coefficient)[0]
    for row in range(0, 600, 67):
        for column in (0, 2, 4):
            assert surface.correlation[row, column] == pytest.approx(plain(items, row, W_GRID[column], coefficient), abs=1e-9)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_undefined_cells_are_undefined_and_say_why(coefficient):
    rng = np.random.default_rng(3)
    human = rng.normal(size=20)
    same = [np.array([-1.0, 2.0, 3.0])] * 20  # equal power means: w = 0 says nothing, w > 0 is the score's correlation
    items = Items("equal", rng.normal(size=20), power_means(Importances.of(same)).means, human)
    surface = surfaces([items], coefficient)[0]
    assert np.isnan(surface.correlation[:, 0]).all() and (surface.reasons[:, 0] == 1).all()
    assert surface.cell(1.0, 0.0)[1] == REASONS[1]
    assert surface.correlation[:, 1:] == pytest.approx(surface.original, abs=1e-9)
    constant = surfaces([Items("c", np.full(20, 0.5), rng.normal(size=(600, 20)), human)], coefficient)[0]
    assert np.isnan(constant.original) and constant.original_reason == REASONS[1]
    assert not np.isnan(constant.correlation[:, :5]).any() and np.isnan(constant.correlation[:, 5]).all()
    assert not constant.improving.any()
    for scores, judged, reason in [
        (rng.normal(size=20), np.full(20, 3.0), REASONS[2]),
        (np.full(20, np.nan), human, REASONS[3]),
        (np.r_[0.3, np.full(19, np.nan)], human, REASONS[3]),
    ]:
        surface = surfaces([Items("x", scores, rng.normal(size=(600, 20)), judged)], coefficient)[0]
        assert np.isnan(surface.correlation).all() and surface.original_reason == reason
        assert surface.cell(0, 0) == pytest.approx((np.nan, reason), nan_ok=True)


def test_collapsed_aggregates_that_differ_in_the_last_bits_only_are_ties():
    rng = np.random.default_rng(4)
    words = [np.r_[-1.0, rng.uniform(1, 2, 7)] for _ in range(50)]  # at p = -30 every mean is 1e-9 * 8^(1/30)
    items = Items("collapsed", rng.normal(size=50), power_means(Importances.of(words)).means, rng.normal(size=50))
    for coefficient in COEFFICIENTS:
        assert np.isnan(surfaces([items], coefficient)[0].correlation[0, 0])


def test_rounding_to_ten_digits_is_pythons():
    rng = np.random.default_rng(5)
    values = np.concatenate([rng.normal(size=4000) * 10.0 ** rng.integers(-30, 30, 4000), 10.0 ** np.arange(-20.0, 20.0)])
    values = np.concatenate([values, [0.0, 9.99999999996, 99999999999.0, 1e-9, -1.23456789012e-9, 5e-300, 1e300]])
    assert round_all(values) == pytest.approx([float(f"{value:.10g}") for value in values], rel=1e-15)
    ordinary = values[(np.abs(values) > 1e-12) & (np.abs(values) < 1e22)]
    assert round_all(ordinary).tolist() == [float(f"{value:.10g}") for value in ordinary]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_an_aggregate_that_all_but_vanishes_improves_nothing(coefficient):
    rng = np.random.default_rng(9)
    words = [np.r_[-1.0, rng.uniform(0, 1, rng.integers(5, 20))] for _ in range(60)]  # the smallest becomes 1e-9 and decides
    surface = surfaces(
        [Items("x", rng.normal(size=60), power_means(Importances.of(words)).means, rng.normal(size=60))], coefficient
    )[0]
    near = (surface.p < -10) & np.isfinite(surface.correlation[:, 2])
    assert np.abs(surface.correlation[near, 2] - surface.original).max() < 1e-6
    assert not surface.improving[near, 1:].any()


def test_the_original_s_own_cells_never_improve():
    parts = surfaces([explained(30, seed) for seed in range(7)], "pearson")
    assert not average(parts, "mean").improving[:, W_GRID == 1].any()
    assert average(parts, "mean").improving.any()


def test_the_nearest_exponent():
    assert [P_GRID[nearest(P_GRID, p)] for p in (-np.inf, -0.04, 2.06, np.inf)] == [-30.0, 0.0, 2.1, 29.9]


def test_one_correlation_equals_its_cell():
    items = explained(60, 6, ties=True, gaps=True)
    for coefficient in COEFFICIENTS:
        surface = surfaces([items], coefficient)[0]
        combined = 0.4 * items.scores + 0.6 * items.aggregates[123]
        assert correlate(combined, items.human, coefficient)[0] == pytest.approx(surface.cell(P_GRID[123], 0.4)[0], abs=1e-12)


def test_groups_in_order_and_as_a_table():
    groups = [explained(30, 1), explained(30, 2)]
    found = surfaces(groups, "kendall")
    frame = to_frame(found)
    assert list(frame.columns) == ["p", "w", "group", "correlation", "original"]
    assert len(frame) == 2 * 600 * 6
    row = frame[(frame["p"] == -0.3) & (frame["w"] == 0.6)].iloc[1]
    assert row["correlation"] == found[1].cell(-0.3, 0.6)[0] and row["original"] == found[1].original
    assert to_frame([]).empty


def test_threads_may_call_the_grid_at_once():
    groups = [explained(120, seed) for seed in range(4)]
    alone = [surfaces([group], "kendall", threads=1)[0].correlation for group in groups]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda group: surfaces([group], "kendall")[0].correlation, groups))
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(alone, together))


def test_wrong_shapes_and_names_are_refused():
    items = explained(10, 1)
    with pytest.raises(ValueError, match="coefficient"):
        surfaces([items], "tau")
    with pytest.raises(ValueError, match="exponents"):
        surfaces([Items("g", items.scores, items.aggregates[:5], items.human)], "kendall")
