"""Correlations against scipy, on random, tied, constant and gappy scores."""

import numpy as np
import pytest
import scipy.stats

from engine.stats import correlation as c

SCIPY = {"pearson": scipy.stats.pearsonr, "spearman": scipy.stats.spearmanr, "kendall": scipy.stats.kendalltau}


def cases():
    rng = np.random.default_rng(3)
    for n in (2, 3, 5, 17, 64, 100, 1000):
        yield rng.normal(size=n), rng.normal(size=n)
        x = rng.integers(0, 4, size=n).astype(float)
        x[:2] = 0, 1
        yield x, np.where(rng.random(n) < 0.3, x, rng.integers(0, 3, size=n)) + np.arange(n) % 2
    x = rng.normal(size=50)
    yield x, x
    yield x, -x
    yield x * 1e-200, x**3 * 1e200
    yield x + 1e8, x


@pytest.mark.parametrize("name", c.COEFFICIENTS)
def test_equals_scipy(name):
    for x, y in cases():
        if name == "pearson" and np.abs(y).max() > 1e100:
            assert c.pearson(x, y).value == pytest.approx(c.pearson(x * 1e200, y * 1e-200).value, abs=1e-12)
            continue
        want = SCIPY[name](x, y)[0]
        found = c.COEFFICIENTS[name](x, y)
        assert found.undefined is None and found.n == len(x)
        assert found.value == pytest.approx(want, abs=1e-7 if np.abs(x).min() > 1e7 else 1e-12)


@pytest.mark.parametrize("name", c.ROWS)
def test_rows_equal_single_correlations(name):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 5, size=(40, 9)).astype(float), rng.integers(0, 4, size=(40, 9)).astype(float)
    x[3] = 2.0
    found = c.ROWS[name](x, y)
    assert np.isnan(found[3])
    for row in [0, 1, 2, *range(4, 40)]:
        assert found[row] == pytest.approx(SCIPY[name](x[row], y[row])[0], abs=1e-12)


def test_ranks_equal_scipy():
    values = np.random.default_rng(1).integers(0, 6, size=(30, 25)).astype(float)
    assert np.array_equal(c.rank_rows(values), scipy.stats.rankdata(values, axis=1))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 33, 200])
def test_inversions_equal_counting(n):
    values = np.random.default_rng(n).integers(0, max(1, n // 3) + 1, size=n)
    assert c.inversions(values) == sum(values[i] > values[j] for i in range(n) for j in range(i + 1, n))


@pytest.mark.parametrize("name", c.COEFFICIENTS)
def test_undefined_says_why(name):
    correlate = c.COEFFICIENTS[name]
    for x, y, word in [
        ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], "first set"),
        ([1.0, 2.0, 3.0], [0.1, 0.1, 0.1], "second set"),
        ([2.0, 2.0], [1.0, 1.0], "both"),
        ([1.0], [1.0], "only 1 pair"),
        ([], [], "no pair"),
        ([1.0, np.nan, np.nan], [1.0, 2.0, 3.0], "only 1 pair"),
    ]:
        found = correlate(np.array(x), np.array(y))
        assert np.isnan(found.value) and word in found.undefined


def test_missing_pairs_do_not_count_and_are_reported():
    x = np.array([1.0, 2.0, np.nan, 4.0, 3.0])
    y = np.array([1.0, np.nan, 7.0, 3.0, 2.0])
    assert c.kendall(x, y) == c.Correlation(1.0, 3)


def test_infinite_scores_rank_but_have_no_pearson():
    x, y = np.array([1.0, 2.0, np.inf]), np.array([1.0, 2.0, 3.0])
    assert c.spearman(x, y).value == pytest.approx(1.0)
    assert "infinite" in c.pearson(x, y).undefined


def test_levels():
    metric = np.array([[1.0, 2.0, 9.0], [2.0, 3.0, np.nan], [3.0, 4.0, 5.0]])
    human = np.array([[1.0, 2.0, np.nan], [2.0, 2.0, 4.0], [3.0, 1.0, 2.0]])
    means = [1.5, 2.5, 4.0], [1.5, 2.0, 2.0]
    assert c.system_level(metric, human, "pearson").value == pytest.approx(scipy.stats.pearsonr(*means)[0])
    pairs = [1, 2, 2, 3, 3, 4, 5], [1, 2, 2, 2, 3, 1, 2]
    assert c.segment_level(metric, human).value == pytest.approx(scipy.stats.kendalltau(*pairs)[0])
    by_segment = c.segment_mean_level(metric, human, "pearson")
    assert by_segment.n == 2  # the third segment has one output with both scores
    assert by_segment.value == pytest.approx((1.0 + scipy.stats.pearsonr([2, 3, 4], [2, 2, 1])[0]) / 2)
    assert c.segment_mean_level(metric[:1], human[:1]).undefined


def test_tau_b_of_many_scores_is_quick():
    x = np.random.default_rng(2).integers(0, 500, size=100_000).astype(float)
    y = x + np.random.default_rng(3).normal(scale=300, size=100_000)
    assert c.kendall(x, y).value == pytest.approx(scipy.stats.kendalltau(x, y)[0], abs=1e-12)


def test_known_values_of_wmt21_zh_en(data):
    pytest.importorskip("sacrebleu")
    import sacrebleu

    frame = read_mqm(data)
    metric = sacrebleu.CHRF()
    frame["chrf"] = [metric.sentence_score(hyp, [ref]).score for hyp, ref in zip(frame["hyp"], frame["refA"], strict=True)]
    assert c.kendall(frame["chrf"].to_numpy(), frame["mqm"].to_numpy()).value == pytest.approx(0.179, abs=5e-4)
    table = frame.pivot(index="system", columns="seg_id", values=["chrf", "mqm"])
    level = c.system_level(table["chrf"].to_numpy(), table["mqm"].to_numpy())
    assert level.value == pytest.approx(0.357, abs=5e-4)


def read_mqm(data):
    import pandas as pd

    files = sorted((data / "mt" / "wmt21_zhen").glob("*joined.tsv.gz"))
    if not files:
        pytest.skip("no table in mt/wmt21_zhen")
    return pd.read_csv(files[0], sep="\t", quoting=3, keep_default_na=False, na_values={"mqm": ["", "None"]})
