"""Calibration on constructed surfaces whose answer is known, and on held-out data only."""

import numpy as np
import pytest

from engine.boost.boost import BoostOptions, boost, calibrate, folds
from engine.boost.calibrate import choose, splits
from engine.boost.grid import W_GRID, Surface
from engine.boost.power import P_GRID, Importances
from engine.boost.rows import Group, Rows, items
from engine.errors import InputError


def surface(cells, original=0.5, group="g"):
    """A surface that is 0.1 below the original everywhere but in the given cells: {(p, w): correlation}."""
    correlation = np.full((600, 6), original - 0.1)
    correlation[:, 5] = original
    for (p, w), value in cells.items():
        correlation[np.isclose(P_GRID, p), np.isclose(W_GRID, w)] = value
    return Surface(group, "kendall", 10, P_GRID, W_GRID, correlation, np.zeros((600, 6), np.int8), original, "")


def block(low, high, weights, value):
    return {(p, w): value for p in P_GRID if low - 1e-9 <= p <= high + 1e-9 for w in weights}


def test_median_pools_all_improving_cells_and_takes_p_and_w_apart():
    one = surface({(-2.0, 0.0): 0.6, (1.0, 0.2): 0.6, (5.0, 0.8): 0.51})
    two = surface({(20.0, 0.2): 0.9, (25.0, 0.2): 0.9})
    choice = choose([one, two], "median")
    assert (choice.p, choice.w, choice.improving, choice.cells) == (5.0, 0.2, 5, 6000)


def test_a_median_off_the_grid_is_snapped_and_ties_go_to_the_milder_value():
    choice = choose([surface({(3.0, 0.2): 0.6, (3.3, 0.4): 0.6})])
    assert (choice.p, choice.w) == (3.1, 0.4)  # 3.15 lies between 3.1 and 3.2, 0.3 between 0.2 and 0.4
    choice = choose([surface({(-3.0, 0.2): 0.6, (-3.3, 0.8): 0.6})])
    assert choice.p == -3.1 and choice.w == pytest.approx(0.6)  # 0.5 lies between 0.4 and 0.6


def test_groups_without_a_positive_original_correlation_do_not_count():
    bad = surface(block(-30, -20, [0.0], 0.9), original=-0.2)
    undefined = surface(block(-30, -20, [0.0], 0.9), original=np.nan)
    good = surface({(4.0, 0.6): 0.6})
    choice = choose([bad, good, undefined])
    assert (choice.p, choice.w) == (4.0, pytest.approx(0.6))
    assert "1 of 3 calibrating groups left out: the original correlation is undefined" in choice.note
    assert "1 of 3 calibrating groups left out: no positive original correlation" in choice.note


def test_best_is_the_highest_mean_over_the_groups():
    one = surface({(2.0, 0.4): 0.9, (6.0, 0.4): 0.7})
    two = surface({(2.0, 0.4): 0.3, (6.0, 0.4): 0.7})
    for method, p in [("best", 6.0), ("median", 6.0)]:
        choice = choose([one, two], method)
        assert (choice.p, choice.w) == (p, pytest.approx(0.4)), method
    tied = surface({(2.0, 0.4): 0.7, (-1.0, 0.4): 0.7, (0.5, 0.2): 0.7})
    assert (choose([tied], "best").p, choose([tied], "best").w) == (-1.0, pytest.approx(0.4))


@pytest.mark.parametrize("method", ["median", "best", "area"])
def test_a_gain_in_the_last_digits_is_none(method):
    nothing = choose([surface(block(-30.0, -10.0, [0.2, 0.4], 0.5 + 1e-9))], method)
    assert (nothing.w, nothing.improving) == (1.0, 0)
    small = choose([surface(block(-30.0, -10.0, [0.2, 0.4], 0.5 + 1e-9) | {(2.0, 0.6): 0.50001})], method)
    assert (small.p, small.w, small.improving) == (2.0, pytest.approx(0.6), 1)


def test_best_takes_no_cell_that_is_undefined_in_a_group():
    one, two = surface({(2.0, 0.4): 0.9, (6.0, 0.4): 0.7}), surface({(2.0, 0.4): np.nan, (6.0, 0.4): 0.7})
    assert choose([one, two], "best").p == 6.0


def test_area_is_the_centre_of_the_largest_region():
    large = block(1.0, 5.0, [0.2, 0.4, 0.6], 0.55)
    small = block(-20.0, -19.0, [0.0, 0.2], 0.95)
    choice = choose([surface(large | small)], "area")
    assert (choice.p, choice.w) == (pytest.approx(3.0), pytest.approx(0.4))


def test_the_centre_of_a_bent_region_lies_inside_it():
    bent = block(0.0, 10.0, [0.0], 0.6) | block(0.0, 0.2, [0.2, 0.4, 0.6, 0.8], 0.6) | block(0.0, 10.0, [0.8], 0.6)
    found = surface(bent)
    choice = choose([found], "area")
    assert found.cell(choice.p, choice.w)[0] == 0.6


@pytest.mark.parametrize("method", ["median", "best", "area"])
def test_where_nothing_improves_the_original_is_chosen(method):
    choice = choose([surface({})], method)
    assert choice.w == 1.0 and choice.improving == 0 and "no setting improves" in choice.note


def test_nothing_to_calibrate_on():
    with pytest.raises(InputError, match="calibration corpus"):
        choose([])


def test_summeval_splits():
    keys = [document for document in range(100) for _ in range(16)]
    parts = splits(keys, 200)
    assert [len(part) for part in parts] == [208] * 7 + [144]
    assert [row for part in parts for row in part] == list(range(1600))


def test_splits_never_cut_a_document():
    rng = np.random.default_rng(0)
    keys = np.repeat(np.arange(40), rng.integers(1, 30, 40)).tolist()
    parts = splits(keys, 50)
    assert [row for part in parts for row in part] == list(range(len(keys)))
    assert all(keys[a[-1]] != keys[b[0]] for a, b in zip(parts[:-1], parts[1:]))
    assert all(len(part) >= 50 for part in parts[:-1])
    assert splits([], 10) == [] and splits(["a"] * 7, 2) == [range(7)]


def make_rows(seed, systems=4, segments=60, documents=None, strength=0.1):
    """Outputs whose importances know more of their quality than their score does."""
    rng = np.random.default_rng(seed)
    n = systems * segments
    quality = rng.normal(size=n) + np.tile(np.arange(systems), segments) / 3
    words = [0.5 + strength * q + rng.normal(0, 0.1, rng.integers(5, 20)) for q in quality]
    segment = np.repeat(np.arange(segments), systems)
    names = tuple(f"s{k}" for k in range(systems))
    document = segment if documents is None else documents[segment]
    scores = 0.2 * quality + rng.normal(size=n)
    rows = Rows(segment, np.tile(np.arange(systems), segments), document, names, scores, Importances.of(words), 1)
    return Group(f"corpus {seed}", rows, np.arange(n), quality + 0.3 * rng.normal(size=n))


def test_one_corpus_is_judged_part_by_part():
    documents = np.repeat(np.arange(15), 4)[np.random.default_rng(0).permutation(60)]  # documents need not lie together
    group = make_rows(1, documents=documents)
    plan = folds([group], BoostOptions(parts=5))
    judged = np.concatenate([fold.test[0].chosen for fold in plan])
    assert sorted(judged) == list(range(240)) and len(plan) == 5
    for fold in plan:
        trained = np.concatenate([part.chosen for part in fold.train])
        assert not set(trained) & set(fold.test[0].chosen)
        assert not set(group.rows.documents[trained]) & set(group.rows.documents[fold.test[0].chosen])
    reverse = folds([group], BoostOptions(parts=5, judged="rest"))
    assert [sorted(np.r_[fold.train[0].chosen, fold.test[0].chosen]) for fold in reverse] == [list(range(240))] * 5
    assert [len(fold.train[0].chosen) for fold in reverse] == [len(fold.test[0].chosen) for fold in plan]


def test_corpora_are_held_out_one_by_one_and_criteria_with_them():
    one, two = make_rows(1), make_rows(2)
    other = Group("another criterion", one.rows, one.chosen, -one.human)
    plan = folds([one, other, two], BoostOptions())
    assert [(fold.train, fold.test) for fold in plan] == [((two,), (one, other)), ((one, other), (two,))]
    assert folds([one], BoostOptions(), on=[two])[0].train == (two,)


def test_one_document_cannot_be_calibrated_on():
    with pytest.raises(InputError, match="single document"):
        folds([make_rows(1, documents=np.zeros(60, int))], BoostOptions())


@pytest.mark.parametrize("level", ["segment", "system"])
def test_boosting_that_helps_is_found_on_held_out_corpora(level):
    groups = [make_rows(seed, systems=8) for seed in range(5)]
    options = BoostOptions(level=level, coefficient="pearson", resamples=499)
    found = calibrate(groups, options)
    assert found.boosted > found.original
    if level == "segment":
        assert found.p_value < 0.01 and found.significant == 5
    for row, group in zip(found.held_out, groups):
        means = group.rows.means("paper")
        own = items(group, means.means, level)
        boosted = row.w * own.scores + (1 - row.w) * own.aggregates[np.isclose(means.p, row.p)][0]
        assert row.boosted == pytest.approx(np.corrcoef(boosted, own.human)[0, 1], abs=1e-9)
        assert row.original == pytest.approx(np.corrcoef(own.scores, own.human)[0, 1], abs=1e-9)
    assert found.original == pytest.approx(np.mean([row.original for row in found.held_out]))
    assert list(found.to_dict())[:5] == ["p", "w", "original", "boosted", "p_value"]
    assert list(found.to_frame()["group"]) == [group.name for group in groups]


def test_the_choice_of_a_fold_is_that_of_the_other_groups():
    groups = [make_rows(seed) for seed in range(3)]
    found = calibrate(groups, BoostOptions(resamples=0, coefficient="spearman"))
    shown = boost(groups, BoostOptions(coefficient="spearman")).surfaces
    for place, row in enumerate(found.held_out):
        choice = choose([surface for k, surface in enumerate(shown) if k != place])
        assert (row.p, row.w) == (choice.p, choice.w)
        assert row.boosted == pytest.approx(shown[place].cell(choice.p, choice.w)[0], abs=1e-12)
    assert np.isnan(found.p_value) and found.significant is None


def test_importances_that_know_nothing_are_not_significant():
    groups = [make_rows(seed, strength=0.0) for seed in range(4)]
    assert calibrate(groups, BoostOptions(resamples=199)).p_value > 0.05


def test_a_calibration_corpus_decides_alone():
    target, source = make_rows(3), make_rows(4)
    found = calibrate([target], BoostOptions(resamples=0), on=[source])
    choice = choose(boost([source], BoostOptions()).surfaces)
    assert (found.choice.p, found.choice.w) == (choice.p, choice.w) == (found.held_out[0].p, found.held_out[0].w)


def test_the_result_counts_what_collapses():
    group = make_rows(5)
    result = boost([group], BoostOptions())
    collapsing = sum(
        float(part.min()) <= 0 for part in np.split(group.rows.importances.values, group.rows.importances.offsets[1:-1])
    )
    assert result.rows == (240,)
    assert result.collapsed[0][0] == collapsing
    assert list(result.to_frame().columns) == ["p", "w", "group", "correlation", "original"]
