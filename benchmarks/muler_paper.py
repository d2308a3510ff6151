"""Our MuLER beside the values of the paper (Karidi et al. 2023): `python -m benchmarks.muler_paper`.

What differs by design: tags are spaCy's (the paper's are stanza's), BLEU's tokens are mteval-v13a's (the paper's are NLTK's), a
mask cannot be mistaken for a word, and MuLER is a ratio of means (see `guarded_means`). The first run tags newstest2019 (a few
minutes); later runs read the tags from the store.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path

import numpy as np

from benchmarks.muler import load_corpus
from engine.corpus.types import Corpus
from engine.metrics.base import Metric
from engine.metrics.registry import make_metric
from engine.muler.features import Feature
from engine.muler.hybrid import hybrid_scores
from engine.muler.lexicons import Lexicon
from engine.muler.maskers import TextMasker
from engine.muler.muler import Prepared, break_down, prepare
from engine.muler.options import MulerOptions
from engine.muler.reduce import muler
from engine.scoring.scorer import Scorer
from engine.scoring.store import open_store

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
PAPER_BLEU = "bleu:smooth_method=none,effective_order=false"
NOUN, VERB = Feature("pos", "NOUN"), Feature("pos", "VERB")
RANGES = {NOUN: (0.225, 0.306), VERB: (0.359, 0.448)}
SYNTHETIC = 10


def main() -> None:
    """Run the chosen parts."""
    parts = {
        "ranges": ranges, "share": share, "hybrid": hybrid, "synthetic": synthetic, "winogender": winogender, "stored": stored,
        "summeval": summeval,
    }  # fmt: skip
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(parts)} (default all)")
    parser.add_argument("--limit", type=int, default=2000, help="first sentences that are used")
    parser.add_argument("--store", default=None, help="where tags are kept")
    arguments = parser.parse_args()
    scorer = Scorer(open_store(arguments.store))
    for name in arguments.parts or parts:
        print(f"\n== {name}")
        parts[name](scorer, arguments.limit)


def paper_options(**changes) -> MulerOptions:
    """The paper's way: mean of sentence scores, one mask for a word."""
    return MulerOptions(**{"features": f"{NOUN.id},{VERB.id}", "mode": "paper", "unit": "word", "resamples": 200} | changes)


MODES = {
    "paper's mode": {},
    "corpus mode, a mask for each token": {"mode": "corpus", "unit": "token"},
}


def ranges(scorer: Scorer, limit: int) -> None:
    """Noun and verb MuLER of all systems of newstest2019 German to English."""
    corpus, metric = load_corpus(["all"], limit), make_metric(PAPER_BLEU)
    results = {name: break_down(corpus, [metric], paper_options(**changes), scorer) for name, changes in MODES.items()}
    ours = {
        name: {feature: [row.muler for row in result.rows if row.feature == feature] for feature in RANGES}
        for name, result in results.items()
    }
    ours["mean of sentence ratios"] = guarded_means(prepare(corpus, paper_options(), scorer), metric, scorer)
    for feature, (low, high) in RANGES.items():
        print(f"{feature.name}, paper: {low:.3f} – {high:.3f} over 16 systems; {limit} sentences at most")
        for name, of in ours.items():
            print(f"  ours, {name}: {min(of[feature]):.3f} – {max(of[feature]):.3f} over {len(of[feature])} systems")
    result = results["paper's mode"]
    print(result.matrix(metric.spec.id).T.round(3).to_string())
    print(result.correlations().round(3).to_string(index=False))


def guarded_means(prepared: Prepared, metric: Metric, scorer: Scorer) -> dict[Feature, list[float]]:
    """What the authors' code calls version 2: the mean of sentences' own ratios, over those with 0 ≤ gain ≤ reach and reach > 0.

    The published values lie nearest to this, the ratio of means nearer to what the code stored as MuLER. Not offered as a mode: a
    mean of ratios hangs on sentences whose reach is nearly 0.
    """
    masker, options = TextMasker(metric, prepared.texts, scorer, "same", "word"), prepared.options
    found: dict[Feature, list[float]] = {}
    for feature in prepared.table.features:
        rows = {name: prepared.rows(prepared.counts(feature, name)) for name in prepared.systems}
        for name, (oracle, anti) in masker.statistics(prepared.cover(feature, options.share), rows).items():
            plain = scorer.statistics(metric, [prepared.texts.segment(row, name) for row in rows[name].tolist()])
            score, most, least = (metric.segment_scores(table) for table in (plain, oracle, anti))
            kept = (most >= score) & (score >= least) & (most > least)
            found.setdefault(feature, []).append(float(((most - score)[kept] / (most - least)[kept]).mean()))
    return found


def share(scorer: Scorer, limit: int) -> None:
    """Half of the nouns, and all."""
    corpus, metric = load_corpus(["Facebook_FAIR.6750"], limit), make_metric(PAPER_BLEU)
    print("Facebook_FAIR.6750, nouns; paper: 50% abl-MuLER .021, MuLER .203; 100% abl-MuLER .054, MuLER .267")
    for part in (0.5, 1.0):
        options = paper_options(features=NOUN.id, share=part)
        row = break_down(corpus, [metric], options, scorer).rows[0]
        ratios = guarded_means(prepare(corpus, options, scorer), metric, scorer)[NOUN][0]
        print(f"  ours: {part:.0%} abl-MuLER {row.abl_muler / 100:.3f}, MuLER {row.muler:.3f} ({row.n} sentences)")
        print(f"        as a mean of sentence ratios MuLER {ratios:.3f}")


def hybrid(scorer: Scorer, limit: int) -> None:
    """A share of the nouns right, the rest wrong."""
    corpus, metric = load_corpus(["Facebook_FAIR.6750", "online-G.0"], limit), make_metric(PAPER_BLEU)
    prepared = prepare(corpus, paper_options(features=NOUN.id), scorer)
    frame = hybrid_scores(prepared, metric, NOUN, [0.0, 0.25, 0.5, 0.75, 1.0], scorer)
    print("MuLER of hybrid systems by share of nouns that are right; by definition 1 at 0% and 0 at 100%, alike for all systems")
    print(frame.pivot(index="share", columns="system", values="muler").round(3).to_string())


def synthetic(scorer: Scorer, limit: int) -> None:
    """Random sets of words as frequent as a feature: MuLER must hardly vary."""
    corpus, metric = load_corpus(["online-G.0"], limit), make_metric(PAPER_BLEU)
    prepared = prepare(corpus, paper_options(features=NOUN.id), scorer)
    lexicon, held = random_features(prepared, SYNTHETIC, np.random.default_rng(0))
    result = break_down(corpus, [metric], paper_options(features="lexicon"), scorer, [lexicon])
    values = np.array([row.muler for row in result.rows])
    print(f"online-G.0, {len(values)} random sets of words, each {held} occurrences in the references; paper: variance near 0")
    print(f"  ours: mean {values.mean():.3f}, variance {values.var():.5f}, {values.min():.3f} – {values.max():.3f}")


def random_features(prepared: Prepared, count: int, rng: np.random.Generator) -> tuple[Lexicon, int]:
    """Word types shared out at random among `count` features of equal frequency: all words of the references."""
    tagged = prepared.texts.tagged
    references = np.isin(tagged.text_of, prepared.texts.members)
    forms, counts = np.unique([form.lower() for form in np.array(tagged.forms)[tagged.form[references]]], return_counts=True)
    order = rng.permutation(len(forms))
    place = np.minimum(np.cumsum(counts[order]) * count // counts.sum(), count - 1)
    return Lexicon("random", {str(forms[form]): f"set {of}" for form, of in zip(order, place)}), int(counts.sum() // count)


def winogender(scorer: Scorer, limit: int) -> None:
    """Female references, male outputs."""
    with open(DATA / "perturb" / "winogender" / "all_sentences.tsv", encoding="utf-8") as file:
        sentences = dict(csv.reader(file, delimiter="\t"))
    female = [name for name in sentences if ".female." in name]
    male = tuple(sentences[name.replace(".female.", ".male.")] for name in female)
    corpus = Corpus("WinoGender", {"male": male}, tuple((sentences[name],) for name in female), languages=(None, "en"))
    print("female → male; paper: BLEU .80, MuLER of gender words 1.0")
    for mode in ("corpus", "paper"):
        row = break_down(corpus, [make_metric("bleu")], MulerOptions(features="gender:words", mode=mode), scorer).rows[0]
        print(f"  ours, {mode} mode: BLEU {row.score / 100:.4f}, MuLER {row.muler:.3f}")


def stored(scorer: Scorer, limit: int) -> None:
    """The arithmetic on oracle, anti-oracle and raw values that the authors' code stored for WMT20."""
    files = json.loads((DATA / "gold" / "muler_wmt20_de-en_results.json").read_text(encoding="utf-8"))
    print("stored results of WMT20 de-en: (max − indices) / (max − min) against the stored MuLER")
    last, others, worst, off = 0, 0, 0.0, []
    for content in files.values():
        item = content[0]
        for place, (name, value) in enumerate(item["bleu"].items()):
            ours = muler(item["bleu_indices"], item["max_bleu"][name], item["min_bleu"][name])
            if place == len(item["bleu"]) - 1:
                last += 1
                worst = max(worst, abs(ours - value) if not np.isnan(ours) else 0.0)
            else:
                others += 1
                off.append(abs(ours - value))
    print(f"  each file keeps one raw value, that of its last feature: there all {last} agree, largest difference {worst:.1e}")
    print(f"  the {others} others were overwritten by the last one's and cannot be checked (median {np.nanmedian(off):.2f} off)")


def summeval(scorer: Scorer, limit: int) -> None:
    """ROUGE-L with one reference and with eleven: in each sentence, masked or not, the reference with the highest F1 counts."""
    with open(DATA / "sum" / "summeval.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file][:limit]
    systems = {name: tuple(row["systems"][name]["hyp"] for row in rows) for name in ("M11", "M22", "M17")}
    metric = make_metric("rouge-l")
    for count in (1, len(rows[0]["refs"])):
        references = tuple(tuple(row["refs"][:count]) for row in rows)
        corpus = Corpus("SummEval", systems, references, languages=("en", "en"))
        options = MulerOptions(features="pos:NOUN,pos:PROPN,pos:VERB,number")
        frame = break_down(corpus, [metric], options, scorer).to_frame()
        print(f"{count} of {len(rows[0]['refs'])} references, {len(rows)} documents")
        print(frame.drop(columns=["metric", "reason"]).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
