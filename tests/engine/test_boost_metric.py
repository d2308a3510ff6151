"""BoostedMetric is a metric like any other: its numbers, its name, its direction, iterated and scored by the scorer."""

import gzip

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from engine.boost.boost import BoostOptions, boost, calibrate
from engine.boost.effect import aggregate_frame, segment_frame, system_frame
from engine.boost.grid import correlate
from engine.boost.metric import BoostedMetric, Setting, make_metric
from engine.boost.rows import explained_rows, human_group
from engine.corpus.types import SYSTEM_LEVEL, Corpus, Segment
from engine.errors import InputError
from engine.explain.explain import explain_corpus, explain_segments
from engine.explain.options import ExplainOptions
from engine.metrics import registry
from engine.scoring.scorer import Scorer
from engine.scoring.store import Store

LIME = ExplainOptions(explainer="lime", samples=40)
SEGMENTS = [
    Segment("quelle", ("the cat sat on the mat today",), "the cat sat on a mat"),
    Segment("quelle", ("the dog ran over the hill", "a dog ran across a hill"), "one dog ran over the hill quickly"),
    Segment("quelle", ("they were not at home",), "they were at home"),
]


def small_corpus():
    rng = np.random.default_rng(0)
    words = SEGMENTS[0].references[0].split() + SEGMENTS[1].references[0].split() + ["big", "small", "red", "blue", "tree"]
    references = [" ".join(rng.choice(words, 10)) for _ in range(24)]
    rows, systems = [], {}
    for place in range(4):
        texts = []
        for index, reference in enumerate(references):
            changed = [str(rng.choice(words)) if rng.random() < 0.1 + 0.2 * place else word for word in reference.split()]
            texts.append(" ".join(changed))
            wrong = sum(a != b for a, b in zip(changed, reference.split()))
            rows.append({"segment": index, "system": f"s{place}", "criterion": "adequacy", "score": -wrong + rng.normal()})
        systems[f"s{place}"] = tuple(texts)
    return Corpus("small", systems, tuple((text,) for text in references), human=pd.DataFrame(rows))


@pytest.mark.parametrize("p", [-2.0, 0.0, 0.7, 5.0, float("inf")])
def test_the_score_is_the_mixture_of_the_paper(p):
    metric, scorer = registry.make_metric("chrf"), Scorer()
    boosted = BoostedMetric(metric, LIME, Setting(p=p, w=0.4), scorer)
    found = scorer.segment_scores(boosted, SEGMENTS)
    for score, explanation in zip(found, explain_segments(SEGMENTS, metric, LIME, scorer)):
        importances = np.concatenate([side.importances for side in explanation.sides])
        low = importances.min()
        values = importances + (abs(low) if low <= 0 else 0) + 1e-9
        if p == 0:
            mean = np.exp(np.log(values).mean())
        else:
            mean = values.max() if np.isinf(p) else np.mean(values**p) ** (1 / p)
        assert score == pytest.approx(0.4 * explanation.score + 0.6 * mean, rel=1e-9)
    table = scorer.statistics(boosted, SEGMENTS)
    assert boosted.corpus_score(table) == pytest.approx(found.mean())
    assert boosted.corpus_score(table, np.array([[2.0, 1.0, 0.0]])) == pytest.approx((2 * found[0] + found[1]) / 3)


def test_all_references_count_and_only_the_hypothesis_where_asked():
    metric, scorer = registry.make_metric("chrf"), Scorer()
    explanation = explain_segments(SEGMENTS[1:2], metric, LIME, scorer)[0]
    assert len(explanation.sides) == 3
    own = Setting(p=float("inf"), w=0.0, sides="hypothesis")
    found = BoostedMetric(metric, LIME, own, scorer).statistics(SEGMENTS[1:2])[0, 1]
    values = explanation.side("hypothesis").importances
    assert found == pytest.approx(values.max() + (abs(values.min()) if values.min() <= 0 else 0) + 1e-9)
    everyone = BoostedMetric(metric, LIME, Setting(p=float("inf"), w=0.0), scorer).statistics(SEGMENTS[1:2])[0, 1]
    values = explanation.importances
    assert everyone == pytest.approx(values.max() + (abs(values.min()) if values.min() <= 0 else 0) + 1e-9)


def test_with_all_weight_on_the_score_it_is_the_original():
    scorer = Scorer()
    for name in ("bleu", "ter"):
        original = registry.make_metric(name)
        found = scorer.segment_scores(BoostedMetric(original, LIME, Setting(w=1.0), scorer), SEGMENTS)
        assert found == pytest.approx(scorer.segment_scores(original, SEGMENTS))


def test_an_error_rate_stays_an_error_rate():
    scorer = Scorer()
    metric = make_metric("boosted:p=1,w=0.5,explainer=erasure,metric=ter", scorer=scorer)
    assert not metric.spec.higher_is_better
    importances = explain_segments(SEGMENTS, metric.metric, metric.explain, scorer)
    table = metric.statistics(SEGMENTS)
    for row, explanation in zip(table, importances):
        values = -explanation.importances  # what a word does against errors
        shifted = values + (abs(values.min()) if values.min() <= 0 else 0) + 1e-9
        assert row[1] == pytest.approx(-shifted.mean(), rel=1e-9)
    good, bad = metric.segment_scores(
        metric.statistics([Segment(None, ("a b c d e f",), "a b c d e f"), Segment(None, ("a b c d e f",), "z y c x w v")])
    )
    assert good < bad


def test_a_name_makes_the_same_metric_again():
    name = "boosted:p=-0.5,w=0.4,explainer=lime,samples=40,regularisation=softplus,metric=chrf:beta=1"
    metric = make_metric(name)
    again = make_metric(metric.spec.id)
    assert again.spec == metric.spec
    assert again.setting == Setting(-0.5, 0.4, "softplus") and again.explain == LIME
    assert again.metric.spec == registry.make_metric("chrf:beta=1").spec
    nested = make_metric(f"boosted:p=1,w=0.2,explainer=erasure,metric={metric.spec.id}")
    assert make_metric(nested.spec.id).spec == nested.spec and nested.metric.spec == metric.spec
    assert make_metric("bleu").spec.id == "bleu"


def test_the_signature_names_everything_that_decides_the_number():
    base = make_metric("boosted:p=1,w=0.4,metric=chrf").spec
    others = ["p=2,w=0.4", "p=1,w=0.2", "p=1,w=0.4,regularisation=rank", "p=1,w=0.4,explainer=lime", "p=1,w=0.4,sides=hypothesis"]
    specs = [make_metric(f"boosted:{other},metric=chrf").spec for other in others]
    assert len({spec.signature for spec in [base, *specs]}) == 6
    assert specs[1].key == base.key  # another weight needs no new explanation
    assert len({spec.key for spec in [base, *specs]}) == 5
    assert registry.make_metric("chrf").spec.signature in base.signature


@pytest.mark.parametrize(
    "name",
    ["boosted:p=1", "boosted:p=1metric=bleu", "boosted:q=1,metric=bleu", "boosted:w=2,metric=bleu", "boosted:p=nan,metric=bleu"],
)
def test_a_wrong_name_says_what_is_wrong(name):
    with pytest.raises(InputError):
        make_metric(name)


def test_iterated_boosting_is_scored_and_kept():
    store = Store(":memory:")
    scorer = Scorer(store)
    inner = make_metric("boosted:p=1,w=0.4,explainer=erasure,metric=chrf", scorer=scorer)
    outer = BoostedMetric(inner, ExplainOptions(explainer="erasure"), Setting(p=2.0, w=0.6), scorer)
    found = scorer.segment_scores(outer, SEGMENTS)
    drop = explain_segments(SEGMENTS[:1], inner, ExplainOptions(explainer="erasure"), scorer)[0].importances
    values = drop + (abs(drop.min()) if drop.min() <= 0 else 0) + 1e-9
    first = scorer.segment_scores(inner, SEGMENTS[:1])[0]
    assert found[0] == pytest.approx(0.6 * first + 0.4 * np.sqrt(np.mean(values**2)), rel=1e-9)
    assert store.get_statistics(outer.spec.key, SEGMENTS)[1].all()


def test_undefined_stays_undefined():
    metric = make_metric("boosted:p=1,w=0.4,metric=chrf")
    scores = Scorer().segment_scores(metric, [Segment(None, (), "no reference"), Segment(None, ("a b",), None), SEGMENTS[0]])
    assert np.isnan(scores[:2]).all() and not np.isnan(scores[2])
    nothing = Scorer().segment_scores(metric, [Segment(None, ("",), "")])
    assert np.isnan(nothing).all()  # no words, no power mean


def test_the_metric_and_the_surface_agree_cell_for_cell():
    corpus, scorer = small_corpus(), Scorer()
    explanations = explain_corpus(corpus, registry.make_metric("bleu"), LIME, scorer)
    rows = explained_rows(corpus, explanations)
    group = human_group(corpus, rows, "adequacy")
    for level in ("segment", "system"):
        surface = boost([group], BoostOptions(level=level)).surfaces[0]
        for p, w in [(-3.0, 0.2), (0.0, 0.6), (0.4, 0.0), (12.5, 0.8)]:
            boosted = BoostedMetric(registry.make_metric("bleu"), LIME, Setting(p, w), scorer)
            segments = [corpus.segment(entry.segment, entry.system) for entry in explanations.entries]
            scores, human = scorer.segment_scores(boosted, segments), group.human
            if level == "system":
                scores, human = (values.reshape(24, 4).mean(axis=0) for values in (scores, human))
            assert correlate(scores, human, "kendall")[0] == pytest.approx(surface.cell(p, w)[0], abs=1e-12)


def test_what_a_setting_does_to_outputs_and_systems():
    corpus, scorer = small_corpus(), Scorer()
    for name in ("bleu", "ter"):
        rows = explained_rows(corpus, explain_corpus(corpus, registry.make_metric(name), LIME, scorer))
        group = human_group(corpus, rows, "adequacy")
        frame = segment_frame(rows, 0.5, 0.4, group=group)
        ranks = stats.rankdata(-rows.sign * frame["boosted"].round(10))
        assert frame["boosted_rank"].to_numpy() == pytest.approx(ranks)
        assert (frame["change"] == stats.rankdata(-rows.sign * frame["score"].round(10)) - ranks).all()
        assert len(frame) == 96 and frame["boosted"].to_numpy() == pytest.approx(rows.sign * rows.boosted(0.5, 0.4, "paper"))
        table = system_frame(rows, 0.5, 0.4, group=group)
        assert set(table["system"]) == {"s0", "s1", "s2", "s3"} and table["n"].tolist() == [24] * 4
        assert table.set_index("system")["human_rank"].to_dict() == {"s0": 1, "s1": 2, "s2": 3, "s3": 4}
        assert table["boosted_rank"].tolist() == [1, 2, 3, 4] and (table["change"] == table["rank"] - table["boosted_rank"]).all()
        assert table["system"].tolist() == ["s0", "s1", "s2", "s3"]
        bare = aggregate_frame(rows)
        assert len(bare) == 600 * 4 and bare["collapsed"].between(0, 1).all()
        own = bare[(bare["p"] == 0.5) & (bare["system"] == "s2")]["aggregate"].iloc[0]
        assert own == pytest.approx(table.set_index("system")["aggregate"]["s2"])


def test_system_scores_are_used_where_no_output_has_one():
    corpus = small_corpus()
    means = corpus.human.groupby("system")["score"].mean().reset_index()
    means = means.assign(segment=SYSTEM_LEVEL, criterion="adequacy")
    whole = Corpus("whole", corpus.systems, corpus.references, human=means[list(corpus.human.columns)])
    scorer, options = Scorer(), BoostOptions(level="system", resamples=49, parts=3)
    results = []
    for given in (corpus, whole):
        rows = explained_rows(given, explain_corpus(given, registry.make_metric("bleu"), LIME, scorer))
        group = human_group(given, rows, "adequacy")
        results.append(boost([group], options).surfaces[0].correlation)
        assert calibrate([group], options).held_out[0].original > 0
    assert np.array_equal(*results)
    segment = boost([group], BoostOptions()).surfaces[0]
    assert np.isnan(segment.original) and "correlate at system level" in segment.original_reason
    judged = calibrate([group], BoostOptions(resamples=49), on=[human_group(corpus, rows, "adequacy")])
    assert np.isnan([judged.original, judged.boosted, judged.p_value]).all() and judged.significant == 0
    assert "correlate at system level" in judged.held_out[0].note


def test_the_name_holds_any_mask():
    explain = ExplainOptions(explainer="lime", mask="a,b=50%2C")
    boosted = BoostedMetric(registry.make_metric("chrf"), explain, Setting(p=2.0, w=0.4), Scorer())
    again = make_metric(boosted.spec.id)
    assert (again.explain, again.setting, again.spec) == (explain, boosted.setting, boosted.spec)


def test_wmt17_in_groups(data):
    """Language pairs of real data: the original correlation is the known one, and every pair is judged by the others."""
    with gzip.open(data / "mt" / "wmt17" / "wmt17_toen_da_joined.tsv.gz", "rt", encoding="utf-8", newline="\n") as file:
        table = pd.read_csv(file, sep="\t", quoting=3, keep_default_na=False)
    groups, scorer = [], Scorer()
    for pair in ("cs-en", "de-en", "fi-en"):
        own = table[table["lp"] == pair].reset_index(drop=True)
        human = pd.DataFrame({"segment": own.index, "system": "all", "criterion": "da", "score": own["da_z"].astype(float)})
        corpus = Corpus(pair, {"all": tuple(own["hyp"])}, tuple((text,) for text in own["ref"]), human=human)
        explanations = explain_corpus(corpus, registry.make_metric("chrf"), ExplainOptions(explainer="erasure"), scorer)
        groups.append(human_group(corpus, explained_rows(corpus, explanations), "da", pair))
    found = calibrate(groups, BoostOptions(coefficient="pearson", resamples=199))
    assert [round(row.original, 4) for row in found.held_out] == [0.5121, 0.5159, 0.6638]
    assert all(np.isfinite(row.boosted) for row in found.held_out) and 0 < found.p_value <= 1
