"""Whole breakdowns: systems whose values are known, counts by hand, several references, segments, shares and hybrids."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sacrebleu import corpus_bleu, corpus_chrf, corpus_ter

from engine.corpus.demo import load_demo
from engine.corpus.types import Corpus
from engine.errors import Cancelled, InputError
from engine.metrics.registry import make_metric
from engine.muler.features import Feature
from engine.muler.hybrid import hybrid_scores
from engine.muler.lexicons import Lexicon
from engine.muler.muler import break_down, break_down_prepared, prepare
from engine.muler.options import MulerOptions
from engine.muler.results import COLUMNS, joined
from engine.muler.segments import contributions, feature_segments, scored_as_text, scored_texts, word_spans
from engine.scoring.scorer import Scorer
from engine.scoring.store import Store

ANIMALS = Feature("lexicon", "animals animal")
LEXICON = Lexicon("animals", dict.fromkeys(("cat", "dog", "cow", "hen"), "animal"))
REFERENCES = tuple(f"the {animal} number {number} sat on the old mat ." for number in range(6) for animal in ("cat", "dog"))


def corpus(references=REFERENCES, **systems) -> Corpus:
    groups = tuple(text if isinstance(text, tuple) else (text,) for text in references)
    return Corpus("made", systems, groups, languages=(None, "en"))


def broken(made: Corpus, names=("bleu",), lexicons=(LEXICON,), store=None, **options):
    options = {"features": "lexicon", "resamples": 50} | options
    return break_down(made, [make_metric(name) for name in names], MulerOptions(**options), Scorer(store), lexicons)


ALL = ("bleu", "chrf", "ter", "rouge-l", "bertscore")


def test_a_system_equal_to_the_reference_misses_nothing() -> None:
    result = broken(corpus(same=REFERENCES), ALL)
    for row in result.rows:
        assert row.muler == pytest.approx(0, abs=1e-6) and row.n == 12 and row.reason is None, row.metric
        assert row.score == pytest.approx(row.oracle) and row.abl_muler == pytest.approx(0, abs=1e-4)
        assert (row.add, row.hit, row.miss, row.in_references, row.in_output) == (0, 12, 0, 12, 12)


def test_a_system_that_exchanges_the_feature_misses_everything() -> None:
    swapped = tuple(text.replace("cat", "hen").replace("dog", "cow") for text in REFERENCES)
    for mode in ("corpus", "paper"):
        for row in broken(corpus(wrong=swapped), ("bleu", "ter", "rouge-l"), mode=mode).rows:
            assert row.muler == pytest.approx(1), row.metric
            assert (row.low, row.high) == pytest.approx((1, 1))
            assert row.oracle == pytest.approx({"BLEU": 100, "TER": 0}.get(row.metric.upper(), 1))


def test_only_sentences_with_the_feature_count() -> None:
    outputs = tuple("nothing of it" for _ in range(8)) + REFERENCES[8:]
    row = broken(corpus(system=(*outputs,)), minimum=4).rows[0]
    assert row.n == 4 and row.score == pytest.approx(100)
    row = broken(corpus(system=(*outputs,)), minimum=4, sentences="either").rows[0]
    assert row.n == 12 and row.score < 50


def test_add_hit_and_miss_by_hand() -> None:
    references = ("a cat", "a cat", "a cat", "the mat", "a dog and a cow", "the mat")
    outputs = ("a dog", "a cat , a dog", "no such thing", "the mat", "a cow", "a hen")
    row = broken(corpus(references, s=outputs), minimum=1).rows[0]
    assert (row.n, row.add, row.hit, row.miss, row.in_references, row.in_output) == (3, 1, 1, 1, 5, 5)
    row = broken(corpus(references, s=outputs), minimum=1, sentences="either").rows[0]
    assert (row.n, row.add, row.hit, row.miss, row.in_references, row.in_output) == (5, 2, 1, 2, 5, 5)


@pytest.mark.parametrize("sentences", ["both", "either"])
def test_add_hit_and_miss_are_counted_in_the_sentences_that_are_scored(sentences: str) -> None:
    """Commas counted by a pattern, in sentences that have some on both sides, or on one."""
    made, count = load_demo("mt"), re.compile(r",(?!\d)").findall
    result = broken(made, features="punctuation:comma", resamples=0, lexicons=(), sentences=sentences)
    for row in result.rows:
        pairs = [(len(count(output)), len(count(group[0]))) for output, group in zip(made.systems[row.system], made.references)]
        held = [pair for pair in pairs if (all if sentences == "both" else any)(pair)]
        order = [np.sign(output - reference) for output, reference in held]
        assert (row.n, row.add, row.hit, row.miss) == (len(held), order.count(1), order.count(0), order.count(-1))
        assert min(row.add, row.hit, row.miss) > 0


def test_too_few_sentences_and_a_metric_that_does_not_see_it() -> None:
    few = broken(corpus(REFERENCES[:9], s=REFERENCES[:9])).rows[0]
    assert few.n == 9 and np.isnan([few.score, few.oracle, few.muler, few.low, few.abl_muler]).all()
    assert few.reason == "only 9 sentences have it in both the reference and the output and can be scored; 10 are needed"
    none = broken(corpus(REFERENCES, s=("nothing",) * 12)).rows[0]
    assert none.n == 0 and none.reason == "no sentence has it in both the reference and the output"
    made = corpus(REFERENCES, s=REFERENCES)
    dots = broken(made, ("rouge-l",), features="punctuation:full stop").rows[0]
    assert dots.n == 12 and np.isnan(dots.muler) and dots.score == dots.oracle == 1
    assert dots.reason == "oracle and anti-oracle are equal: the metric does not see this feature here"


def test_a_negative_value_names_the_word_that_the_tagger_reads_differently() -> None:
    """With `set` a noun in the references and a verb in the outputs, masking takes a match away."""
    references = tuple(f"A new set of {k} keys is here ." for k in range(2, 14))
    outputs = tuple(f"They set the {k} keys down here ." for k in range(2, 14))
    result = broken(corpus(references, s=outputs), features="pos:NOUN", resamples=0)
    (row,) = result.rows
    if row.muler < 0:
        assert row.reason.startswith("below 0, as the oracle is worse than the output as it is: the tagger reads 'set' as a noun")
        assert "as a verb in the output (segment" in row.reason
    else:
        pytest.skip("the tagger reads this otherwise")


def test_missing_outputs_and_references_do_not_count() -> None:
    references = tuple(
        (text, None) if k % 2 else (None, None) if k == 0 else (text, "a hen") for k, text in enumerate(REFERENCES)
    )
    outputs = tuple(None if k == 1 else text for k, text in enumerate(REFERENCES))
    row = broken(corpus(tuple(references), s=outputs)).rows[0]
    assert row.n == 10 and row.muler == pytest.approx(0)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "rouge-l", "bertscore"])
def test_several_references(name: str) -> None:
    """The metric's own rule for several references holds on masked texts; the feature may be in any of them."""
    references = tuple((text.replace("cat", "kitten"), text) for text in REFERENCES)
    swapped = tuple(text.replace("cat", "hen") for text in REFERENCES)
    result = broken(corpus(references, same=REFERENCES, wrong=swapped), (name,))
    same, wrong = result.rows
    assert (same.n, same.hit, same.miss, same.add) == (12, 12, 0, 0), "one or two animals in the references: both are a hit"
    assert same.muler == pytest.approx(0, abs=1e-6) and wrong.muler > 0
    assert wrong.in_references == 18


def test_several_references_equal_sacrebleu() -> None:
    references = tuple((text.replace("cat", "kitten"), text.replace("mat", "rug")) for text in REFERENCES)
    outputs = tuple(text.replace("old", "new").replace("dog", "cow") for text in REFERENCES)
    (row,) = broken(corpus(references, s=outputs)).rows
    for value, masks in ((row.oracle, ("M", "M")), (row.anti_oracle, ("X", "Y"))):
        columns = [[_mask(group[k], masks[0]) for group in references] for k in (0, 1)]
        expected = corpus_bleu([_mask(text, masks[1]) for text in outputs], columns, force=True).score
        assert value == pytest.approx(expected)


def _mask(text: str, mask: str) -> str:
    return " ".join(mask if word in LEXICON.values else word for word in text.split())


def test_female_references_and_male_outputs(data: Path) -> None:
    """WinoGender: BLEU .80, gender MuLER 1.0 (Karidi et al. 2023)."""
    with open(data / "perturb" / "winogender" / "all_sentences.tsv", encoding="utf-8") as file:
        sentences = dict(csv.reader(file, delimiter="\t"))
    female = [name for name in sentences if ".female." in name]
    male = tuple(sentences[name.replace(".female.", ".male.")] for name in female)
    made = corpus(tuple(sentences[name] for name in female), male=male)
    for mode, expected in (("corpus", 81.08), ("paper", 79.94)):
        (row,) = broken(made, features="gender:words", mode=mode).rows
        assert row.n == 240 and row.score == pytest.approx(expected, abs=0.005) and row.muler == pytest.approx(1)


def test_two_systems_and_all_systems() -> None:
    half = tuple(text.replace("cat", "hen") for text in REFERENCES)
    swapped = tuple(text.replace("dog", "cow") for text in half)
    result = broken(corpus(good=REFERENCES, half=half, bad=swapped), ("bleu", "ter"))
    frame = result.to_frame()
    assert tuple(frame.columns) == COLUMNS and len(frame) == 6
    assert result.matrix("bleu").loc[ANIMALS.id].tolist() == pytest.approx([0, 0.5, 1], abs=0.05)
    assert set(result.correlations().correlation.round(1)) == {1.0}, "turned for TER"
    difference = result.differences("bad", "half").iloc[0]
    assert difference.delta == pytest.approx(result.rows[2].muler - result.rows[1].muler)
    assert 0 < difference.low <= difference.delta <= difference.high and difference.p_value < 0.1
    same = result.differences("half", "half").iloc[0]
    assert (same.delta, same.low, same.high) == (0, 0, 0) and same.p_value == 1


@pytest.mark.parametrize("name", ["bleu", "ter"])
def test_the_interval_of_the_gain(name: str) -> None:
    outputs = [text.replace("cat", "hen") for text in REFERENCES]
    result = broken(corpus(good=REFERENCES, s=tuple(outputs)), (name,), resamples=200)
    good, bad = result.rows
    assert (good.abl_muler, good.abl_low, good.abl_high) == (0, 0, 0)
    assert 0 < bad.abl_low <= bad.abl_muler <= bad.abl_high < np.inf
    difference = result.differences("s", "good", "abl_muler").iloc[0]
    assert (difference.abl_muler_a, difference.delta) == (bad.abl_muler, bad.abl_muler)
    assert (difference.low, difference.high) == pytest.approx((bad.abl_low, bad.abl_high))


def test_breakdowns_of_single_families_joined_are_the_whole() -> None:
    made = corpus(s=REFERENCES, t=REFERENCES[::-1])
    whole = broken(made, features="number,lexicon,punctuation", lexicons=[Lexicon("worth", {"cat": 2.0, "old": 5.0})])
    lexicons = [Lexicon("worth", {"cat": 2.0, "old": 5.0})]
    parts = [broken(made, features=name, lexicons=lexicons) for name in ("number", "punctuation", "lexicon")]
    found = joined(parts)
    pd.testing.assert_frame_equal(found.to_frame(), whole.to_frame())
    pd.testing.assert_frame_equal(found.differences("s", "t"), whole.differences("s", "t"))
    pd.testing.assert_frame_equal(found.lexicon_frame(), whole.lexicon_frame())
    assert (found.overall, found.notes) == (whole.overall, whole.notes)
    with pytest.raises(ValueError, match="no breakdowns"):
        joined([])


def test_the_segments_behind_a_value() -> None:
    outputs = [text.replace("cat", "hen").replace("old mat", "mat") for text in REFERENCES]
    made = corpus(s=tuple(outputs))
    prepared = prepare(made, MulerOptions(features="lexicon", resamples=0), Scorer(), [LEXICON])
    found = feature_segments(prepared, make_metric("bleu"), ANIMALS, "s", Scorer(), limit=6)
    assert found.total == 12 and len(found.segments) == 6
    assert {item.segment % 2 for item in found.segments} == {0}, "those with the wrong animal"
    assert all(first.contribution >= second.contribution > 0 for first, second in zip(found.segments, found.segments[1:]))
    first = found.segments[0]
    assert made.systems["s"][first.segment][slice(*first.output[0])] == "hen"
    assert made.references[first.segment][0][slice(*first.references[0][0])] == "cat"
    assert first.anti_oracle <= first.score < first.oracle and (first.in_output, first.in_references) == (1, (1,))
    oracle, anti = found.masked(first.segment, oracle=True), found.masked(first.segment, oracle=False)
    assert oracle.references[0].startswith("the [animals animal] number")
    assert anti.references[0].startswith("the [X1] number") and str(anti.hypothesis).startswith("the [Y1] number")
    assert word_spans(prepared, ANIMALS, [REFERENCES[0]]) == [((4, 7),)]


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "rouge-l"])
@pytest.mark.parametrize("mode", ["corpus", "paper"])
def test_a_contribution_is_what_the_score_gains(name: str, mode: str) -> None:
    metric = make_metric(name)
    outputs = tuple(text.replace("cat", "hen") for text in REFERENCES)
    raw = metric.statistics(corpus(s=outputs).segments("s"))
    oracle = metric.statistics(corpus(s=REFERENCES).segments("s"))
    gains = contributions(metric, mode, raw, oracle)
    for place in range(len(raw)):
        changed = raw.copy()
        changed[place] = oracle[place]
        before, after = (
            metric.corpus_score(table) if mode == "corpus" else metric.segment_scores(table).mean() for table in (raw, changed)
        )
        assert gains[place] == pytest.approx((after - before) * (1 if metric.spec.higher_is_better else -1), abs=1e-9)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "rouge-l"])
def test_every_one_of_very_many_segments_has_its_part(name: str) -> None:
    metric = make_metric(name)
    references = tuple(f"the cat number {place} sat on the old mat ." for place in range(2500))
    made = corpus(references, s=tuple(text.replace("cat", "hen") for text in references), t=references)
    gains = contributions(metric, "corpus", metric.statistics(made.segments("s")), metric.statistics(made.segments("t")))
    assert len(gains) == 2500 and (gains > 0).all()


def test_a_share_of_the_feature_is_masked() -> None:
    outputs = tuple(text.replace("dog", "cow") for text in REFERENCES)
    whole, part = (broken(corpus(s=outputs), share=share, minimum=5).rows[0] for share in (1.0, 0.5))
    assert whole.n == 12 and whole.muler == pytest.approx(0.5, abs=0.05)
    assert part.n == 6 and part.muler == pytest.approx(0), "only words in c: the cats, which are right"
    assert part.in_references == 6


@pytest.mark.parametrize("name", ["bleu", "rouge-l"])
def test_hybrid_systems_fall_from_one_to_zero(name: str) -> None:
    outputs = tuple(text.replace("old", "new") for text in REFERENCES)
    prepared = prepare(corpus(a=outputs, b=REFERENCES), MulerOptions(features="lexicon"), Scorer(), [LEXICON])
    frame = hybrid_scores(prepared, make_metric(name), ANIMALS, [0.0, 0.5, 1.0], Scorer())
    table = frame.pivot(index="share", columns="system", values="muler")
    np.testing.assert_allclose(table.loc[0.0], 1)
    np.testing.assert_allclose(table.loc[0.5], 0.5, atol=0.05)
    np.testing.assert_allclose(table.loc[1.0], 0, atol=1e-12)


def test_lexicon_differences() -> None:
    lexicon = Lexicon("size", {"cat": 2.0, "dog": 4.0, "cow": 9.0, "the": 100.0})
    outputs = tuple(text.replace("dog", "cow") for text in REFERENCES[:11]) + ("nothing of it",)
    result = broken(corpus(s=outputs), lexicons=(lexicon,))
    (row,) = result.lexicons
    assert row.n == 11, "the last output has no word of the lexicon, and stop words do not count"
    assert row.difference == pytest.approx(5 * 5 / 11)
    assert row.low <= row.difference <= row.high
    assert result.lexicon_frame().iloc[0].lexicon == "size"
    few = broken(corpus(REFERENCES[:5], s=outputs[:5]), lexicons=(lexicon,)).lexicons[0]
    assert np.isnan(few.difference) and few.reason.startswith("only 5 sentences")


def test_a_lexicon_file_among_the_options(tmp_path: Path) -> None:
    file = tmp_path / "animals.tsv"
    file.write_text("cat\tanimal\ndog\tanimal\npolar bear\tanimal\n", encoding="utf-8")
    result = broken(corpus(s=REFERENCES), lexicons=(), lexicon=str(file))
    assert result.features == (ANIMALS,)
    assert "lexicon animals: entries of several words are not looked up (1)" in result.notes
    with pytest.raises(InputError, match="nowhere.tsv"):
        broken(corpus(s=REFERENCES), lexicon="nowhere.tsv")


def test_what_cannot_be_broken_down() -> None:
    with pytest.raises(InputError, match="needs references"):
        broken(Corpus("x", {"s": ("a",)}, ((),)))
    with pytest.raises(InputError, match="no system 'b'; it has s"):
        break_down(corpus(s=REFERENCES), [make_metric("bleu")], MulerOptions(), Scorer(), systems=["b"])


def test_it_can_be_cancelled_and_says_how_far_it_is() -> None:
    seen: list[float] = []

    def stop(done: float, total: float) -> None:
        seen.append(done / total)
        if done / total > 0.8:
            raise Cancelled

    with pytest.raises(Cancelled):
        break_down(corpus(s=REFERENCES), [make_metric("chrf")], MulerOptions(), Scorer(), [LEXICON], progress=stop)
    assert seen == sorted(seen) and len(seen) > 5


def test_numbering_changes_the_oracle_only() -> None:
    references = tuple(f"a cat and a dog sat {k}" for k in range(10))
    outputs = tuple(f"a dog sat and a cat {k}" for k in range(10))
    same, through = (broken(corpus(references, s=outputs), numbering=name).rows[0] for name in ("same", "all"))
    assert through.oracle < same.oracle or through.oracle == pytest.approx(same.oracle)
    assert (through.score, through.anti_oracle) == pytest.approx((same.score, same.anti_oracle))


def test_every_table_says_what_made_its_numbers() -> None:
    lexicon = Lexicon("size", {"cat": 2.0, "dog": 4.0})
    result = broken(corpus(a=REFERENCES, b=REFERENCES, c=REFERENCES), ("bleu", "ter"), (lexicon,), sentences="either", seed=7)
    signatures = {name: make_metric(name).spec.signature for name in ("bleu", "ter")}
    for frame in (result.to_frame(), result.differences("a", "b"), result.correlations()):
        for metric, own in frame.groupby("metric"):
            (made,) = own.signature.unique()
            assert made.startswith(f"{signatures[metric]}|muler|mode:corpus|sentences:either|")
            assert {"numbering:same", "share:1.0", "minimum:10", "resamples:50", "seed:7"} <= set(made.split("|"))
            assert "tagger:blank-en-spacy-" in made
    (made,) = result.lexicon_frame().signature.unique()
    assert made == result.made and made.startswith("muler|mode:corpus|")


def test_results_are_the_same_with_and_without_a_store(tmp_path: Path) -> None:
    made = corpus(s=tuple(text.replace("cat", "hen") for text in REFERENCES))
    options = {"features": "pos,ner,lexicon"}
    plain = broken(made, ("bleu", "chrf"), **options).to_frame()
    for _ in range(2):
        kept = broken(made, ("bleu", "chrf"), store=Store(tmp_path / "s.sqlite"), **options).to_frame()
        pd.testing.assert_frame_equal(kept, plain)


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, engine.muler.muler, engine.muler.segments, engine.muler.hybrid\n"
    code += "print(sorted({'torch', 'transformers', 'spacy', 'numba'} & set(sys.modules)))"
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_the_texts_as_scored_give_the_values_under_sacrebleu(name: str) -> None:
    metric, scorer = make_metric(name), Scorer()
    prepared = prepare(load_demo("mt"), MulerOptions(features="number", resamples=0), scorer, systems=["cobalt"])
    (row,) = break_down_prepared(prepared, [metric], scorer).rows
    found = feature_segments(prepared, metric, row.feature, "cobalt", scorer)
    table = scored_texts(found, metric, scorer)
    score = {"bleu": corpus_bleu, "chrf": corpus_chrf, "ter": corpus_ter}[name]
    for version, wanted in (("as it is", row.score), ("oracle", row.oracle), ("anti-oracle", row.anti_oracle)):
        of = table[table.version == version]
        assert len(of) == row.n
        assert score(list(of.hypothesis), [list(of.reference)]).score == pytest.approx(wanted, abs=1e-9)
    assert scored_as_text(metric) and table.segment.nunique() == found.total
    about = table[["system", "metric", "family", "feature"]].drop_duplicates()
    assert about.values.tolist() == [["cobalt", name, "number", "numbers"]]
    assert table.signature.unique().tolist() == [break_down_prepared(prepared, [metric], scorer).signature(name)]
