"""Permute-both over groups: uniform on null data, small on a planted effect; swaps as by hand, with ties and gaps."""

import numpy as np
import pytest
import scipy.stats

from engine.boost.significance import Pair, bonferroni_dror, compare_groups
from engine.stats.correlation import COEFFICIENTS, segment_level, segment_mean_level
from engine.stats.permutation import permuted_differences


def null_pair(rng, systems=6, segments=20, corpus=0):
    human = rng.normal(size=(systems, segments))
    return Pair(human + rng.normal(size=human.shape), human + rng.normal(size=human.shape), human, corpus)


@pytest.mark.parametrize("level", ["segment", "system"])
def test_p_values_are_uniform_on_null_data(level):
    rng = np.random.default_rng(0)
    found = [compare_groups([null_pair(rng)], level, "kendall", 99, seed).p_value for seed in range(200)]
    assert scipy.stats.kstest(found, "uniform").pvalue > 0.01
    together = [
        compare_groups([null_pair(rng, corpus=k) for k in range(3)], level, "pearson", 99, seed).p_value for seed in range(200)
    ]
    assert scipy.stats.kstest(together, "uniform").pvalue > 0.01


def test_smoothing_keeps_p_above_zero():
    human = np.random.default_rng(1).normal(size=(8, 200)) + np.arange(8)[:, None]
    found = compare_groups(
        [Pair(human + 0.01, np.random.default_rng(2).normal(size=human.shape), human)], "segment", "pearson", 99
    )
    assert found.p_value == found.groups[0].p_value == 0.01


def test_a_planted_effect_is_found_in_its_group_and_over_all():
    rng = np.random.default_rng(3)
    pairs = []
    for corpus in range(4):
        human = rng.normal(size=(10, 60))
        noise = 0.3 if corpus < 2 else 1.5
        pairs.append(
            Pair(human + noise * rng.normal(size=human.shape), human + 1.5 * rng.normal(size=human.shape), human, corpus)
        )
    found = compare_groups(pairs, "segment", "kendall", 999)
    assert found.significant == (True, True, False, False) and found.count == 2
    assert found.p_value < 0.01
    assert [test.p_value < 0.01 for test in found.groups] == [True, True, False, False]


def test_a_group_that_is_undefined_is_left_out_and_not_significant():
    rng = np.random.default_rng(4)
    good = null_pair(rng)
    bad = Pair(good.boosted, good.original, np.zeros_like(good.human), 1)
    found = compare_groups([good, bad], "segment", "kendall", 99)
    assert found.groups[1].undefined and np.isnan(found.groups[1].p_value) and not found.significant[1]
    assert found.p_value == found.groups[0].p_value
    assert np.isnan(compare_groups([bad], "segment", "kendall", 99).p_value)


def test_bonferroni_dror_counts():
    assert bonferroni_dror([0.001, 0.02, 0.04, 0.6]) == (True, False, False, False)  # bounds .004, .06, .08, .6
    assert bonferroni_dror([0.6, 0.01, 0.002, 0.02]) == (False, True, True, True)  # bounds .008, .03, .04, .6
    assert bonferroni_dror([0.04]) == (True,)
    assert bonferroni_dror([0.001, np.nan]) == (True, False)
    assert bonferroni_dror([]) == ()
    # a large early bound holds back all later ones
    assert sum(bonferroni_dror([0.03, 0.03, 0.03])) == 0


@pytest.mark.parametrize("coefficient", sorted(COEFFICIENTS))
@pytest.mark.parametrize("level", ["segment", "segment-mean"])
@pytest.mark.parametrize("ties", [False, True])
def test_swapping_by_the_kernel_equals_swapping_by_hand(coefficient, level, ties):
    rng = np.random.default_rng(5)
    human = rng.normal(size=(5, 24))
    a, b = human + rng.normal(size=human.shape), human + rng.normal(size=human.shape)
    if ties:
        human, a, b = np.round(human), np.round(a), np.round(b)
    human[rng.random(human.shape) < 0.1] = np.nan
    human[:, 3] = 1.0  # a segment without a correlation
    a[2, 5] = np.nan
    delta, found = permuted_differences(a, b, human, level, coefficient, 37, np.random.default_rng(8))
    missing = np.isnan(a + b + human)
    a, b = ((m - np.nanmean(np.where(missing, np.nan, m))) / np.nanstd(np.where(missing, np.nan, m)) for m in (a, b))
    judge = segment_level if level == "segment" else segment_mean_level

    def difference(rows, columns):
        swapped = rows[:, None] != columns[None, :]
        return [
            judge(np.where(missing, np.nan, m), human, coefficient).value
            for m in (np.where(swapped, b, a), np.where(swapped, a, b))
        ]

    coins = np.random.default_rng(8).integers(0, 2, size=(37, 29), dtype=np.uint8)
    wanted = [np.subtract(*difference(coin[:5], coin[5:])) for coin in coins]
    assert found == pytest.approx(wanted, abs=1e-12)
    assert delta == pytest.approx(np.subtract(*difference(np.zeros(5), np.zeros(24))), abs=1e-12)


@pytest.mark.parametrize("coefficient", ["kendall", "spearman"])
def test_more_cells_than_a_short_integer_counts(coefficient):
    rng = np.random.default_rng(7)
    human = np.round(rng.normal(size=(260, 260)), 1)
    a, b = np.round(human + rng.normal(size=human.shape), 2), human + rng.normal(size=human.shape)
    delta, found = permuted_differences(a, b, human, "segment", coefficient, 1, np.random.default_rng(3))
    assert delta == pytest.approx(
        segment_level(a, human, coefficient).value - segment_level(b, human, coefficient).value, abs=1e-9
    )
    coins = np.random.default_rng(3).integers(0, 2, size=520, dtype=np.uint8)
    swapped = coins[:260, None] != coins[None, 260:]
    a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    first, second = (segment_level(np.where(swapped, *pair), human, coefficient).value for pair in ((b, a), (a, b)))
    assert found == pytest.approx([first - second], abs=1e-12)


def test_parts_of_one_corpus_are_swapped_together():
    whole = null_pair(np.random.default_rng(6), segments=30)
    coins = np.random.default_rng([0, whole.corpus]).integers(0, 2, size=(99, 36), dtype=np.uint8)
    wanted, observed = np.zeros(99), 0.0
    parts = [np.arange(30) < 15, np.arange(30) >= 15]
    for keep in parts:
        x, y, human = (m[:, keep] for m in (whole.boosted, whole.original, whole.human))
        x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
        observed += scipy.stats.pearsonr(x.ravel(), human.ravel())[0] - scipy.stats.pearsonr(y.ravel(), human.ravel())[0]
        for k, coin in enumerate(coins):
            swapped = coin[:6, None] != coin[6:][keep][None, :]
            first, second = np.where(swapped, y, x), np.where(swapped, x, y)
            wanted[k] += (
                scipy.stats.pearsonr(first.ravel(), human.ravel())[0] - scipy.stats.pearsonr(second.ravel(), human.ravel())[0]
            )
    pairs = [Pair(*(np.where(keep, m, np.nan) for m in (whole.boosted, whole.original, whole.human))) for keep in parts]
    found = compare_groups(pairs, "segment", "pearson", 99, 0)
    assert found.p_value == pytest.approx((1 + (wanted >= observed - 1e-12).sum()) / 100)
