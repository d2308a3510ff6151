"""Power means against a 50-digit reference over the whole grid, the four regularisations, and collapse."""

import mpmath
import numpy as np
import pytest
import scipy.stats

from engine.boost import power
from engine.boost.power import P_GRID, REGULARISATIONS, Importances, log_values, power_means

RNG = np.random.default_rng(7)
VECTORS = [
    RNG.normal(0.01, 0.03, 9),  # BERTScore-like, some negative
    RNG.uniform(0.001, 0.2, 6),  # all positive
    RNG.normal(2, 6, 12) * (RNG.random(12) < 0.6),  # BLEU-like: points, many zeros
    np.array([-3.0]),
    np.array([0.25, 0.25, 0.25]),
    np.array([-1e-12, 1e-7, 40.0, 1e-3]),
]


def by_definition(values, regularisation):
    """Regularised importances of one segment, in 50 digits, written down from their definition."""
    exact = [mpmath.mpf(float(value)) for value in values]
    low, high, n = min(exact), max(exact), len(exact)
    if regularisation == "paper":
        return [value + (abs(low) if low <= 0 else 0) + mpmath.mpf("1e-9") for value in exact]
    if regularisation == "minmax":
        share = [(value - low) / (high - low) if high > low else mpmath.mpf(1) for value in exact]
        return [mpmath.mpf("1e-9") + (1 - mpmath.mpf("1e-9")) * item for item in share]
    if regularisation == "softplus":
        return [mpmath.log(1 + mpmath.exp(value)) for value in exact]
    ranks = scipy.stats.rankdata(np.abs(values))
    return [(1 + mpmath.mpf(float(np.sign(v) * r)) / (n + 1)) / 2 for v, r in zip(values, ranks)]


def reference_mean(values, tenths):
    if tenths == 0:
        return mpmath.exp(mpmath.fsum(map(mpmath.log, values)) / len(values))
    p = mpmath.mpf(tenths) / 10
    return (mpmath.fsum(value**p for value in values) / len(values)) ** (1 / p)


@pytest.mark.parametrize("regularisation", REGULARISATIONS)
def test_the_whole_grid_equals_a_50_digit_reference(regularisation):
    found = power_means(Importances.of(VECTORS), P_GRID, regularisation).means
    assert found.shape == (600, len(VECTORS))
    with mpmath.workdps(50):
        for column, vector in enumerate(VECTORS):
            # the doubles that the regularisation makes are the input: an error of one bit in a shift is not the power mean's
            logs = log_values(Importances.of([vector]), regularisation)
            values = [mpmath.exp(mpmath.mpf(float(item))) for item in logs]
            wanted = [reference_mean(values, tenths) for tenths in range(-300, 300)]
            assert max(abs(float(a / b - 1)) for a, b in zip(found[:, column], wanted)) < 1e-13


@pytest.mark.parametrize("regularisation", REGULARISATIONS)
def test_regularised_values_are_those_of_the_definition(regularisation):
    importances = Importances.of(VECTORS)
    logs = log_values(importances, regularisation)
    with mpmath.workdps(50):
        for column, vector in enumerate(VECTORS):
            own = logs[importances.offsets[column] : importances.offsets[column + 1]]
            wanted = by_definition(vector, regularisation)
            scale = max(abs(float(np.abs(vector).max())), 1.0) * 1e-15
            for log, value in zip(own, wanted):
                assert np.exp(log) == pytest.approx(float(value), rel=1e-12, abs=scale if regularisation == "paper" else 0)


def test_softplus_far_below_zero_keeps_its_digits():
    logs = log_values(Importances.of([np.array([-800.0, -30.0, -29.9, 0.0, 800.0])]), "softplus")
    with mpmath.workdps(50):
        wanted = [float(mpmath.log(mpmath.log1p(mpmath.exp(mpmath.mpf(x))))) for x in ("-800", "-30", "-29.9", "0", "800")]
    assert logs == pytest.approx(wanted, rel=1e-12)


def test_the_paper_shift_puts_the_minimum_at_exactly_a_billionth():
    logs = log_values(Importances.of([np.array([-0.7, 0.1]), np.array([0.0, 2.0]), np.array([0.5])]), "paper")
    assert np.exp(logs) == pytest.approx([1e-9, 0.8 + 1e-9, 1e-9, 2 + 1e-9, 0.5 + 1e-9], rel=1e-12)


def test_infinite_and_nearly_zero_exponents():
    vectors = [np.array([0.1, 0.4, 0.2]), np.array([3.0])]
    p = np.array([-np.inf, -1e-7, 0.0, 9e-7, np.inf])
    means = power_means(Importances.of(vectors), p).means
    geometric = [np.exp(np.log(v + 1e-9).mean()) for v in vectors]
    assert means[0] == pytest.approx([0.1 + 1e-9, 3 + 1e-9], rel=1e-14)
    assert means[4] == pytest.approx([0.4 + 1e-9, 3 + 1e-9], rel=1e-14)
    for row in (1, 2, 3):
        assert means[row] == pytest.approx(geometric, rel=1e-14)


def test_small_exponents_lose_no_digits():
    vector = np.array([1e-4, 0.02, 0.3, 0.9])
    for p in (2e-6, -1e-5, 1e-3, -0.05, 0.0999, 0.1, 7.77):
        found = power_means(Importances.of([vector]), np.array([p])).means[0, 0]
        with mpmath.workdps(50):
            values = [mpmath.mpf(float(v)) for v in vector + 1e-9]
            exact = (mpmath.fsum(v ** mpmath.mpf(p) for v in values) / 4) ** (1 / mpmath.mpf(p))
        assert found == pytest.approx(float(exact), rel=1e-13)


def test_means_grow_with_p_and_stay_between_minimum_and_maximum():
    means = power_means(Importances.of(VECTORS), np.concatenate([[-np.inf], P_GRID, [np.inf]])).means
    assert (np.diff(means, axis=0) >= -1e-12 * means[1:]).all()


@pytest.mark.parametrize("regularisation", REGULARISATIONS)
def test_the_fast_way_equals_one_exponent_at_a_time(regularisation):
    segments = [RNG.normal(0.01, 0.05, RNG.integers(0, 60)) for _ in range(80)]
    importances = Importances.of(segments)
    fast = power_means(importances, P_GRID, regularisation, threads=3)
    slow = [power_means(importances, P_GRID[k : k + 1], regularisation) for k in range(0, 600, 37)]
    for k, one in zip(range(0, 600, 37), slow):
        assert fast.means[k] == pytest.approx(one.means[0], rel=1e-13, nan_ok=True)
        assert (fast.collapsed(P_GRID[k]) == one.collapsed(P_GRID[k])).all()
    again = power_means(importances, P_GRID, regularisation, threads=1)
    assert np.array_equal(again.means, fast.means, equal_nan=True)
    part = power_means(importances, P_GRID[250:340], regularisation)
    assert part.means == pytest.approx(fast.means[250:340], rel=1e-13, nan_ok=True)


def test_segments_without_words_or_with_undefined_importances_have_no_mean():
    importances = Importances.of([np.empty(0), np.array([0.1, np.nan]), np.array([0.1, np.inf]), np.array([0.2]), np.empty(0)])
    for p in (P_GRID, np.array([1.0]), np.array([np.inf])):
        found = power_means(importances, p)
        assert np.isnan(found.means[:, [0, 1, 2, 4]]).all() and not np.isnan(found.means[:, 3]).any()
    assert power_means(importances).collapsed_counts().max() == 0
    assert power_means(Importances.of([])).means.shape == (600, 0)


def test_an_original_formula_where_it_can_be_computed():
    """The plain mean(v ** p) ** (1 / p) agrees wherever it neither overflows nor meets p = 0."""
    for _ in range(50):
        vector = RNG.uniform(0.01, 1.0, RNG.integers(1, 30))
        found = power_means(Importances.of([vector])).means[:, 0]
        for k in list(range(0, 299, 23)) + list(range(301, 600, 23)):
            p = P_GRID[k]
            assert found[k] == pytest.approx(np.mean((vector + 1e-9) ** p) ** (1 / p), rel=1e-9)


def test_collapse_under_the_paper_regularisation():
    found = power_means(Importances.of([np.array([-0.01, 0.02, 0.05]), np.array([0.01, 0.02, 0.05]), np.array([-1.0])]))
    assert found.collapsed(-1.0).tolist() == [True, False, True]
    assert found.collapsed(-30.0).tolist() == [True, False, True]
    assert found.collapsed(1.0).tolist() == [False, False, True]  # one word at the floor is at the floor for every p
    assert found.means[found.p == -30.0, 0] == pytest.approx(1e-9 * 3 ** (1 / 30), rel=1e-9)
    counts = found.collapsed_counts()
    assert counts[0] == 2 and counts[-1] == 1
    assert (np.diff(counts) <= 0).all()


def test_collapse_at_both_ends_under_minmax_and_nowhere_under_the_others():
    importances = Importances.of([np.array([-0.01, 0.02, 0.05]), np.array([0.01, 0.02, 0.05])])
    found = power_means(importances, P_GRID, "minmax")
    assert found.collapsed(-2.0).all() and found.collapsed(29.9).all() and not found.collapsed(1.0).any()
    for regularisation in ("softplus", "rank"):
        assert power_means(importances, P_GRID, regularisation).collapsed_counts().max() == 0


def test_parts_of_the_result():
    found = power_means(Importances.of(VECTORS))
    assert np.array_equal(found.at(-3.14), found.means[np.flatnonzero(np.isclose(P_GRID, -3.1))[0]])
    chosen = found.only(np.array([2, 0]))
    assert np.array_equal(chosen.means, found.means[:, [2, 0]])
    with pytest.raises(ValueError, match="regularisation"):
        power_means(Importances.of(VECTORS), P_GRID, "log")


def test_the_grid_is_made_of_whole_numbers():
    assert len(P_GRID) == 600 and P_GRID[0] == -30.0 and P_GRID[-1] == 29.9 and P_GRID[300] == 0.0
    assert power._grid_stretch(P_GRID) == (-300, 299)
    assert power._grid_stretch(np.array([0.0, 0.1, 0.2, 0.35])) is None
