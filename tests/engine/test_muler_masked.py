"""Masked texts: quick ways against libraries and plain re-scoring, for every feature."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from engine.corpus.types import Corpus, Segment
from engine.metrics.bertscore import BertScore
from engine.metrics.registry import make_metric
from engine.muler.bertscore import BertScoreMasker
from engine.muler.corpus_texts import CorpusTexts, Cover, corpus_texts
from engine.muler.maskers import QuickBleu, TextMasker, make_masker
from engine.muler.muler import Prepared, prepare
from engine.muler.options import FAMILIES, MulerOptions
from engine.muler.taggers import choose_tagger
from engine.scoring.scorer import Scorer
from engine.scoring.store import Store

SYSTEM = "Facebook_FAIR.6750"


@pytest.fixture(scope="module")
def real(data: Path) -> Prepared:
    """The first 70 sentences of a system of WMT19 with all features."""
    folder = data / "mt" / "wmt19" / "de-en"
    references, outputs = (
        (folder / name).read_text(encoding="utf-8").split("\n")[:70]
        for name in ("newstest2019-deen-ref.en", f"system-outputs/newstest2019.{SYSTEM}.de-en")
    )
    corpus = Corpus("wmt19", {SYSTEM: tuple(outputs)}, tuple((text,) for text in references), languages=("de", "en"))
    return prepare(corpus, MulerOptions(features=",".join(FAMILIES)), Scorer(Store(":memory:")))


def rows_of(prepared: Prepared, feature) -> np.ndarray:
    return prepared.rows(prepared.counts(feature, SYSTEM))


def masked_segments(prepared: Prepared, metric, feature) -> tuple[list[Segment], list[Segment]]:
    masker = TextMasker(metric, prepared.texts, Scorer())
    return masker.segments(masker.masked(prepared.cover(feature)), {SYSTEM: rows_of(prepared, feature)})


def corpus_bleu(outputs: list[str], references: list[str], **settings) -> float:
    return sacrebleu.corpus_bleu(outputs, [references], force=True, **settings).score


JUDGES = {
    "bleu": corpus_bleu,
    "bleu:lowercase=true": partial(corpus_bleu, lowercase=True),
    "bleu:tokenize=none": partial(corpus_bleu, tokenize="none"),
    "bleu:tokenize=intl": partial(corpus_bleu, tokenize="intl"),
    "chrf": lambda outputs, references: sacrebleu.corpus_chrf(outputs, [references]).score,
}


@pytest.mark.parametrize("name", JUDGES)
def test_scores_equal_sacrebleu_on_masked_texts_for_every_feature(real: Prepared, name: str) -> None:
    metric = make_metric(name)
    masker = make_masker(metric, real.texts, Scorer())
    assert isinstance(masker, QuickBleu) == (name.startswith("bleu") and "intl" not in name)
    checked = 0
    for feature in real.table.features:
        rows = rows_of(real, feature)
        if not len(rows):
            continue
        for ours, segments in zip(
            masker.statistics(real.cover(feature), {SYSTEM: rows})[SYSTEM], masked_segments(real, metric, feature)
        ):
            outputs, references = [str(item.hypothesis) for item in segments], [item.references[0] for item in segments]
            assert metric.corpus_score(ours) == pytest.approx(JUDGES[name](outputs, references), abs=1e-9), feature
            checked += 1
    assert checked > 100


@pytest.mark.parametrize("name", ["bleu", "chrf", "rouge-l", "ter", "bertscore"])
def test_the_oracle_is_no_worse_than_the_anti_oracle(real: Prepared, name: str) -> None:
    metric = make_metric(name, ("de", "en"))
    masker = make_masker(metric, real.texts, Scorer())
    sign = 1 if metric.spec.higher_is_better else -1
    slack = 1e-9 if name != "ter" else 2.0  # the search for shifts is greedy
    for feature in real.table.features:
        rows = rows_of(real, feature)
        if len(rows):
            oracle, anti = masker.statistics(real.cover(feature), {SYSTEM: rows})[SYSTEM]
            assert sign * (metric.corpus_score(oracle) - metric.corpus_score(anti)) >= -slack, feature


def test_a_token_mask_keeps_lengths_and_never_helps(real: Prepared) -> None:
    """One mask for each token of BLEU: lengths stay, and nothing that did not match before matches under the anti-oracle."""
    metric = make_metric("bleu")
    masker = make_masker(metric, real.texts, Scorer())
    off = 0
    for feature in real.table.features:
        rows = rows_of(real, feature)
        if not len(rows):
            continue
        plain = metric.statistics([real.texts.segment(row, SYSTEM) for row in rows.tolist()])
        for table in masker.statistics(real.cover(feature), {SYSTEM: rows})[SYSTEM]:
            off += int((table[:, :2] != plain[:, :2]).any(axis=1).sum())
        assert metric.corpus_score(table) <= metric.corpus_score(plain) + 1e-9, feature
    assert off == 0


def test_rouge_on_masked_texts_is_rouge_score_s(real: Prepared) -> None:
    metric, judge = make_metric("rouge-l:use_stemmer=true"), RougeScorer(["rougeL"], use_stemmer=True)
    masker = make_masker(metric, real.texts, Scorer())
    for feature in real.table.features[::7]:
        rows = rows_of(real, feature)
        found = masker.statistics(real.cover(feature), {SYSTEM: rows})[SYSTEM]
        for ours, segments in zip(found, masked_segments(real, metric, feature)):
            expected = [judge.score(item.references[0], item.hypothesis)["rougeL"].fmeasure for item in segments]
            np.testing.assert_allclose(metric.segment_scores(ours), expected, atol=1e-12)


def test_rouge_does_not_see_punctuation(real: Prepared) -> None:
    metric = make_metric("rouge-l")
    masker = make_masker(metric, real.texts, Scorer())
    feature = next(item for item in real.table.features if item.id == "punctuation:all")
    rows = rows_of(real, feature)
    plain = metric.statistics([real.texts.segment(row, SYSTEM) for row in rows.tolist()])
    for table in masker.statistics(real.cover(feature), {SYSTEM: rows})[SYSTEM]:
        np.testing.assert_array_equal(table, plain)


def edited(metric: BertScore, segment: Segment, spans: list[list[tuple[int, int]]], oracle: bool) -> list[float]:
    """Precision, recall and F1 of one pair by the definition: the whole matrix, edited entry by entry."""
    texts = [str(segment.hypothesis), segment.references[0]]
    encoder = metric.encoder()
    found = encoder.embed(list(dict.fromkeys(texts)))
    vectors = [found[text].vectors.cpu().numpy() for text in texts]
    weights = [metric.token_weights(found[text].tokens.ids) for text in texts]
    marked = []
    for text, inside, places in zip(texts, spans, encoder.tokenizer.places(texts)):
        covered = [any(a <= place < b for a, b in inside) for place in range(len(text))]
        marked.append(np.array([any(covered[a:b]) for a, b in places.tolist()]))
    matrix = vectors[0] @ vectors[1].T
    best = []
    for side in (0, 1):
        own, other = marked[side], marked[1 - side]
        table = matrix if side == 0 else matrix.T
        if oracle:
            values = np.where(own, 1.0, table.max(axis=1))
        else:
            values = np.where(own, 0.0, table[:, ~other].max(axis=1, initial=-2.0))
        best.append(float((values * weights[side]).sum() / weights[side].sum()))
    return [*best, 2 * best[0] * best[1] / (best[0] + best[1])]


def test_bertscore_edits_the_matrix(real: Prepared) -> None:
    metric = make_metric("bertscore", ("de", "en"))
    masker = make_masker(metric, real.texts, Scorer())
    assert isinstance(masker, BertScoreMasker)
    everything = np.arange(20)
    nothing = Cover(np.zeros(len(real.texts.tagged.start), bool))
    plain = metric.statistics([real.texts.segment(row, SYSTEM) for row in range(20)])
    for table in masker.statistics(nothing, {SYSTEM: everything})[SYSTEM]:
        np.testing.assert_allclose(table, plain, atol=1e-6)
    for feature in [item for item in real.table.features if item.id in ("pos:NOUN", "ner:PERSON", "punctuation:all")]:
        rows = rows_of(real, feature)[:8]
        cover = real.cover(feature)
        spans = real.texts.finder(masker._finder.style).find(cover.mask, cover.entities)
        pair = masker.statistics(cover, {SYSTEM: rows})[SYSTEM]
        score = metric.statistics([real.texts.segment(row, SYSTEM) for row in rows.tolist()])
        for place, row in enumerate(rows.tolist()):
            where = []
            for text in (int(real.texts.outputs[SYSTEM][row]), int(real.texts.members[row])):
                inside = slice(spans.offsets[text], spans.offsets[text + 1])
                where.append(list(zip(spans.start[inside].tolist(), spans.end[inside].tolist())))
            for table, oracle in zip(pair, (True, False)):
                expected = edited(metric, real.texts.segment(row, SYSTEM), where, oracle)
                np.testing.assert_allclose(table[place, :3], expected, atol=1e-5)
        assert (pair[0][:, :3] >= score[:, :3] - 1e-6).all() and (score[:, :3] >= pair[1][:, :3] - 1e-6).all()


_HAZARDS = (
    "the The cat cats 1,000 1.5 .5 5. 3-4 - -- well-known ... ?! (so) 'tis it's \"quote\" $5 £ € a.b.c u.s. U.S.-led 29-year-old "
    "<skipped> &amp; &amp;lt; &quot;x&quot; 10% 5.3m John's dogs' can't 100:64 04/05/2018 today. ends, \U000f0000 zqj NOUN "
    "今日は 中文，测试 العربية 👩‍👩‍👧 \x01 ，。 １２．５"
)
HAZARDS = _HAZARDS.split(" ")
texts = st.lists(st.tuples(st.sampled_from(HAZARDS), st.sampled_from([" ", " ", " ", "  ", "\n", ""])), max_size=12).map(
    lambda parts: "".join(word + space for word, space in parts)
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.lists(texts, min_size=1, max_size=3), texts), min_size=1, max_size=4), st.randoms())
def test_the_quick_way_is_the_plain_way_on_awkward_texts(cases, random) -> None:
    texts = hazardous(cases)
    n = len(texts.tagged.start)
    mask = np.array([random.random() < 0.4 for _ in range(n)], bool)
    rows = {"s": np.arange(len(cases))}
    for unit in ("token", "word"):
        for name in ("bleu", "bleu:tokenize=none", "bleu:lowercase=true,max_ngram_order=2"):
            metric = make_metric(name)
            quick, plain = make_masker(metric, texts, Scorer(), unit=unit), TextMasker(metric, texts, Scorer(), unit=unit)
            for entities in (False, True):
                cover = Cover(mask, entities)
                for ours, theirs in zip(quick.statistics(cover, rows)["s"], plain.statistics(cover, rows)["s"]):
                    np.testing.assert_array_equal(ours, theirs)


def hazardous(cases) -> CorpusTexts:
    most = max(len(references) for references, _ in cases)
    padded = tuple((*references, *[None] * (most - len(references))) for references, _ in cases)
    corpus = Corpus("awkward", {"s": tuple(output for _, output in cases)}, padded, languages=(None, "en"))
    return corpus_texts(corpus, ["s"], choose_tagger("en", needs_model=False), ())


@pytest.mark.parametrize("name", ["bleu:tokenize=zh", "bleu:tokenize=char", "chrf++", "ter:normalized=true", "rouge-2"])
def test_masks_survive_every_tokenizer(name: str) -> None:
    """Under the oracle a text that is all feature matches itself wholly; under the anti-oracle nothing of it matches."""
    words = ("东京 很 大", "The cat sat there", "x y z w")
    corpus = Corpus(
        "all", {"s": words}, tuple((text,) for text in reversed(words)), languages=(None, "zh" if "zh" in name else "en")
    )
    tagger = choose_tagger("en", needs_model=False)
    made = corpus_texts(corpus, ["s"], tagger, ())
    metric = make_metric(name)
    cover = Cover(np.ones(len(made.tagged.start), bool))
    oracle, anti = make_masker(metric, made, Scorer()).statistics(cover, {"s": np.arange(3)})["s"]
    best, worst = (metric.spec.range[1], 0.0) if metric.spec.higher_is_better else (0.0, 100.0)
    middle = 1  # the same number of words on both sides
    assert metric.segment_scores(oracle)[middle] == pytest.approx(best)
    assert metric.segment_scores(anti)[middle] == pytest.approx(worst)
