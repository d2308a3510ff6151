"""Bootstrap and permutation tests: sacrebleu's own numbers, exact enumerations, null data and planted effects."""

import itertools

import numpy as np
import pytest
import scipy.stats

from engine.stats import permutation, resampling


def test_weights_are_counts_of_draws_with_replacement():
    weights = resampling.bootstrap_weights(50, 200, np.random.default_rng(0))
    assert weights.shape == (200, 50) and (weights.sum(axis=1) == 50).all()
    draws = np.random.default_rng(0).choice(50, size=(200, 50), replace=True)
    assert all(np.array_equal(np.bincount(row, minlength=50), found) for row, found in zip(draws, weights, strict=True))


def test_weights_do_not_depend_on_the_pieces():
    whole = resampling.bootstrap_weights(37, 20, np.random.default_rng(4))
    for cells in (1, 37 * 3, 10**6):
        pieces = list(resampling.bootstrap_chunks(37, 20, np.random.default_rng(4), cells))
        assert np.array_equal(np.concatenate(pieces), whole)
        assert max(piece.size for piece in pieces) <= max(cells, 37)


def test_weights_are_multinomial():
    weights = resampling.bootstrap_weights(6, 40_000, np.random.default_rng(1))
    assert weights.mean(axis=0) == pytest.approx(np.ones(6), abs=0.02)
    assert np.cov(weights.T) == pytest.approx(np.eye(6) - 1 / 6, abs=0.03)


@pytest.mark.parametrize(("n", "resamples"), [(0, 3), (5, 0), (1, 2)])
def test_weights_of_small_cases(n, resamples):
    weights = resampling.bootstrap_weights(n, resamples, np.random.default_rng(1))
    assert weights.shape == (resamples, n) and (weights.sum(axis=1) == n).all()


def test_interval():
    values = np.arange(1001.0)
    assert resampling.interval(values) == pytest.approx((25.0, 975.0))
    assert resampling.interval(np.append(values, np.nan), 0.5) == pytest.approx((250.0, 750.0))
    assert np.isnan(resampling.interval(np.array([1.0, np.nan]))).all()


def test_interval_of_a_mean_covers_as_often_as_it_says():
    rng = np.random.default_rng(8)
    inside = 0
    for _ in range(300):
        sample = rng.normal(size=60)
        low, high = resampling.interval(resampling.bootstrap_weights(60, 300, rng) @ sample / 60)
        inside += low <= 0 <= high
    assert inside / 300 == pytest.approx(0.94, abs=0.04)


def read_systems(data):
    folder = data / "mt" / "wmt19" / "de-en"
    texts = {path.name: path.read_text(encoding="utf-8").split("\n") for path in folder.rglob("*") if path.is_file()}
    outputs = {key: lines for name, lines in texts.items() for key in ("Facebook_FAIR", "online-G", "online-X") if key in name}
    reference = next((lines for name, lines in texts.items() if "-ref" in name and "attack" not in name), None)
    if reference is None or len(outputs) < 3:
        pytest.skip("no outputs of these systems in mt/wmt19/de-en")
    count = 300  # a slice: not everything should be significant
    return {name: lines[:count] for name, lines in outputs.items()}, reference[:count]


def corpus_bleu(metric, statistics):
    return lambda weights: np.array([metric._compute_score_from_stats(row.tolist()).score for row in weights @ statistics])


def statistics_of(metric, hypotheses, reference):
    return np.array(metric._extract_corpus_statistics(hypotheses, [reference]), dtype=float)


def test_paired_bootstrap_equals_sacrebleu(data):
    from sacrebleu.metrics import BLEU, CHRF
    from sacrebleu.significance import PairedTest

    systems, reference = read_systems(data)
    named = list(systems.items())
    for metric in (BLEU(), CHRF()):
        _, table = PairedTest(named, {"m": metric}, [reference], test_type="bs", n_samples=300)()
        results = next(value for key, value in table.items() if key != "System")
        baseline = statistics_of(metric, named[0][1], reference)
        for (_, hypotheses), want in zip(named[1:], results[1:], strict=True):
            own = statistics_of(metric, hypotheses, reference)
            scores = corpus_bleu(metric, own), corpus_bleu(metric, baseline)
            found = resampling.paired_bootstrap(*scores, len(reference), 300, np.random.default_rng(12345))
            assert found.delta == pytest.approx(want.score - results[0].score, abs=1e-9)
            assert found.p_value == pytest.approx(want.p_value, abs=1e-12)
            assert found.low < found.delta < found.high


def test_p_values_of_equal_systems_are_uniform():
    chance = np.random.default_rng(3)
    found = []
    for _ in range(400):
        values = chance.normal(size=60)
        drawn = values[chance.integers(60, size=(400, 60))].mean(axis=1)
        found.append(resampling.bootstrap_p_value(drawn, values.mean()))
    assert scipy.stats.kstest(found, "uniform").pvalue > 0.01
    assert 0.02 < np.mean(np.array(found) <= 0.05) < 0.09
    assert resampling.bootstrap_p_value(np.zeros(20), 0.0) == 1.0
    assert np.isnan(resampling.bootstrap_p_value(np.full(5, np.nan), 1.0))


def test_paired_randomisation_equals_sacrebleu(data):
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    systems, reference = read_systems(data)
    named, metric = list(systems.items()), BLEU()
    _, table = PairedTest(named, {"m": metric}, [reference], test_type="ar", n_samples=1000)()
    baseline = statistics_of(metric, named[0][1], reference)
    for (_, hypotheses), want in zip(named[1:], table["BLEU"][1:], strict=True):
        both = np.concatenate([statistics_of(metric, hypotheses, reference), baseline])
        found = permutation.paired_randomisation(corpus_bleu(metric, both), len(reference), 1000, np.random.default_rng(1))
        assert found.p_value == pytest.approx(want.p_value, abs=0.06)


def test_equal_systems_do_not_differ():
    values = np.random.default_rng(0).normal(size=40)

    def mean(weights):
        return weights @ values / weights.sum(axis=1)

    assert resampling.paired_bootstrap(mean, mean, 40, 100, np.random.default_rng(0)).p_value == 1.0
    both = np.concatenate([values, values])
    found = permutation.paired_randomisation(lambda w: w @ both / w.sum(axis=1), 40, 100, np.random.default_rng(0))
    assert abs(found.delta) < 1e-12 and found.p_value == 1.0


def test_undefined_differences_say_so():
    def nothing(weights):
        return np.full(len(weights), np.nan)

    assert np.isnan(resampling.paired_bootstrap(nothing, nothing, 5, 10, np.random.default_rng(0)).p_value)
    found = permutation.paired_randomisation(nothing, 5, 10, np.random.default_rng(0))
    assert np.isnan(found.p_value) and found.undefined


def test_paired_randomisation_approaches_the_exact_test():
    a, b = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0]), np.array([2.0, 0.5, 4.5, 1.0, 3.0, 8.0, 2.5, 4.0])
    signs = np.array(list(itertools.product([1, -1], repeat=8)))
    sums = np.abs(signs @ (a - b))
    exact = np.mean(sums >= sums[0] - 1e-12)
    both = np.concatenate([a, b])
    found = permutation.paired_randomisation(lambda w: w @ both / 8, 8, 20_000, np.random.default_rng(2))
    assert found.p_value == pytest.approx(exact, abs=0.01)


def slow_permute_both(a, b, human, level, coefficient, coins, alternative):
    """The definition, one resample at a time, with scipy's coefficients."""
    functions = {"pearson": scipy.stats.pearsonr, "spearman": scipy.stats.spearmanr, "kendall": scipy.stats.kendalltau}
    coefficient = functions[coefficient]

    def measure(m):
        if level == "system":
            return coefficient(m.mean(axis=1), human.mean(axis=1))[0]
        if level == "segment":
            return coefficient(m.ravel(), human.ravel())[0]
        return np.nanmean([coefficient(m[:, j], human[:, j])[0] for j in range(m.shape[1])])

    a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    observed, reached = measure(a) - measure(b), 0
    for coin in coins:
        x, y = a.copy(), b.copy()
        rows, columns = coin[: len(a)].astype(bool), coin[len(a) :].astype(bool)
        x[rows], y[rows] = y[rows], x[rows].copy()
        x[:, columns], y[:, columns] = y[:, columns], x[:, columns].copy()
        delta = measure(x) - measure(y)
        value, bar = (abs(delta), abs(observed)) if alternative == "two-sided" else (delta, observed)
        reached += not value < bar - 1e-9
    return observed, (1 + reached) / (1 + len(coins))


@pytest.mark.parametrize("level", permutation.LEVELS)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("alternative", permutation.ALTERNATIVES)
def test_permute_both_equals_its_definition(level, coefficient, alternative):
    rng = np.random.default_rng(6)
    human = rng.normal(size=(6, 12)) + np.arange(6)[:, None] / 3
    a, b = human + rng.normal(size=human.shape), 5 + human + 2 * rng.normal(size=human.shape)
    coins = np.random.default_rng(9).integers(0, 2, size=(60, 18), dtype=np.uint8)
    want = slow_permute_both(a, b, human, level, coefficient, coins, alternative)
    found = permutation.permute_both(a, b, human, level, coefficient, 60, np.random.default_rng(9), alternative)
    assert (found.delta, found.p_value) == pytest.approx(want, abs=1e-9)


def test_permute_both_on_null_data_is_not_too_small():
    rng = np.random.default_rng(10)
    values = []
    for _ in range(200):
        human = rng.normal(size=(8, 30))
        a, b = human + rng.normal(size=human.shape), human + rng.normal(size=human.shape)
        values.append(permutation.permute_both(a, b, human, "system", "pearson", 99, rng).p_value)
    assert scipy.stats.kstest(values, "uniform").pvalue > 0.01
    assert np.mean(np.array(values) <= 0.05) < 0.1


def test_permute_both_finds_a_planted_effect_with_gaps():
    rng = np.random.default_rng(11)
    human = rng.normal(size=(10, 80)) + rng.normal(size=(10, 1))
    good, bad = human + 0.1 * rng.normal(size=human.shape), rng.normal(size=human.shape)
    good[0, :5] = np.nan
    found = permutation.permute_both(good, bad, human, "system", "kendall", 499, rng)
    assert found.delta > 0.3 and found.p_value < 0.05
    assert permutation.permute_both(bad, good, human, "system", "kendall", 499, rng).p_value > 0.5


def test_permute_both_undefined_says_so():
    human = np.random.default_rng(1).normal(size=(4, 5))
    found = permutation.permute_both(np.ones((4, 5)), human, human, "segment", "kendall", 9, np.random.default_rng(1))
    assert np.isnan(found.p_value) and "undefined" in found.undefined
    with pytest.raises(ValueError, match="equal shape"):
        permutation.permute_both(human, human, human[:2], "segment", "kendall", 9, np.random.default_rng(1))


def test_tests_report_progress():
    seen = []
    permutation.permute_both(
        *np.random.default_rng(1).normal(size=(3, 4, 6)), "system", "pearson", 20, np.random.default_rng(1),
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert seen[-1] == (20, 20)
