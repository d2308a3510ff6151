"""MuLER against re-scoring masked texts with sacrebleu: `python -m benchmarks.muler`.

Both sides of a ratio are timed in the same run, in processor seconds, so that other work on the machine does not count. Both get
the same masks for 35 features (17 parts of speech, 18 entity types). sacrebleu's texts are masked before its clock starts, and it
scores only the sentences that hold the feature; ours starts from tagged texts and pays for everything else, references included.
Tags come from the store and are made on the first run, which takes about half a minute for 2000 sentences and system. How fast
they are made is measured beside the whole spaCy model, on the first 300 references, and so is whether both say the same.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path

import numpy as np

from engine.corpus.demo import load_demo
from engine.corpus.types import Corpus, Segment
from engine.metrics.base import Metric
from engine.metrics.registry import make_metric
from engine.muler.features import UPOS, Feature
from engine.muler.maskers import TextMasker, make_masker
from engine.muler.muler import Prepared, break_down_prepared, prepare
from engine.muler.options import MulerOptions
from engine.muler.taggers import LAYERS, SYNTAX, choose_tagger, run_tagger
from engine.scoring.scorer import Scorer
from engine.scoring.store import open_store

ENTITIES = (
    "CARDINAL", "DATE", "EVENT", "FAC", "GPE", "LANGUAGE", "LAW", "LOC", "MONEY", "NORP", "ORDINAL", "ORG", "PERCENT", "PERSON",
    "PRODUCT", "QUANTITY", "TIME", "WORK_OF_ART",
)  # fmt: skip
FEATURES = (*(Feature("pos", name) for name in UPOS), *(Feature("ner", name) for name in ENTITIES))
ROUNDS, TAGGED = 3, 300
QUIET = {"bleu": {"force": True}, "chrf": {}, "ter": {}}  # no warning about masks that stand apart


def main() -> None:
    """Print one line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=2000, help="first sentences that are used")
    parser.add_argument("--systems", nargs="*", default=["Facebook_FAIR.6750", "online-G.0"], help="of wmt19/de-en, or all")
    parser.add_argument("--metrics", nargs="*", default=["bleu", "chrf"])
    parser.add_argument("--store", default=None, help="where tags are kept")
    arguments = parser.parse_args()
    corpus = load_corpus(arguments.systems, arguments.limit)
    against_spacy([references[0] or "" for references in corpus.references][:TAGGED], corpus.languages[1])
    options = MulerOptions(features=",".join(feature.id for feature in FEATURES), resamples=0)
    prepared, seconds = timed(lambda: prepare(corpus, options, Scorer(open_store(arguments.store))))
    print(
        f"{corpus.name}: {len(corpus)} sentences, {len(corpus.systems)} systems; tagged or read from the store in {seconds:.1f} s"
    )
    for name in arguments.metrics:
        against_sacrebleu(prepared, make_metric(name, corpus.languages))
    whole(prepared, [make_metric(name, corpus.languages) for name in arguments.metrics])


def load_corpus(systems: list[str], limit: int) -> Corpus:
    """Some systems of newstest2019 German to English, else the sample corpus."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data" / "mt" / "wmt19" / "de-en"
    if not folder.is_dir():
        return load_demo("mt").head(limit)
    outputs = {
        path.name.removeprefix("newstest2019.").removesuffix(".de-en"): path for path in (folder / "system-outputs").iterdir()
    }
    names = sorted(outputs) if systems == ["all"] else systems
    return Corpus(
        "newstest2019 de-en",
        {name: lines(outputs[name])[:limit] for name in names},
        tuple((line,) for line in lines(folder / "newstest2019-deen-ref.en")[:limit]),
        lines(folder / "newstest2019-deen-src.de")[:limit],
        languages=("de", "en"),
    )


def lines(path: Path) -> tuple[str, ...]:
    """The lines of a file."""
    return tuple(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))


def timed(work: Callable, clock: Callable[[], float] = time.perf_counter) -> tuple:
    """What some work gives, and its seconds."""
    start = clock()
    result = work()
    return result, clock() - start


def against_spacy(texts: list[str], language: str | None) -> None:
    """Parts of speech, morphology and entities: ours and the whole model's, the latter in batches and text by text."""
    import spacy

    tagger = choose_tagger(language)
    nlp = spacy.load(tagger.model)
    ways: dict[str, Callable[[], list]] = {
        "ours": lambda: run_tagger(tagger, texts, LAYERS),
        "without entities": lambda: run_tagger(tagger, texts, (SYNTAX,)),
        "the whole model": lambda: list(nlp.pipe(texts)),
        "text by text": lambda: [nlp(text) for text in texts],
    }
    run_tagger(tagger, texts[:1], LAYERS)  # loads the model
    found, seconds = {}, {}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            found[name], took = timed(way, time.process_time)
            seconds.setdefault(name, []).append(took)
    ratios = {name: float(np.median(np.divide(took, seconds["ours"]))) for name, took in seconds.items() if name != "ours"}
    pairs = [
        ((pos, morph), (token.pos_, str(token.morph)))
        for ours, doc in zip(found["ours"], found["the whole model"])
        for pos, morph, token in zip(ours.pos, ours.morph, doc, strict=True)
    ]
    wrong = sum(ours != theirs for ours, theirs in pairs)
    told = ", ".join(f"{name} {ratio:.2f} x" for name, ratio in ratios.items())
    print(f"tags: {len(pairs) / np.median(seconds['ours']):.0f} tokens a second; {told}; {wrong} of {len(pairs)} tags differ")


def against_sacrebleu(prepared: Prepared, metric: Metric) -> None:
    """Oracle and anti-oracle scores of all features and systems, ours and sacrebleu's, interleaved."""
    import sacrebleu

    judge = {"bleu": sacrebleu.corpus_bleu, "chrf": sacrebleu.corpus_chrf, "ter": sacrebleu.corpus_ter}[metric.spec.id]
    through_text = TextMasker(metric, prepared.texts, Scorer())
    tasks = []
    for feature in FEATURES:
        rows = {name: prepared.rows(prepared.counts(feature, name)) for name in prepared.systems}
        if any(map(len, rows.values())):
            tasks.append((prepared.cover(feature), rows))
    our_scores(prepared, metric, tasks)  # compiled kernels
    texts = [plain(prepared, through_text, *task) for task in tasks]
    ours, theirs = [], []
    for _ in range(ROUNDS):
        mine, seconds = timed(lambda: our_scores(prepared, metric, tasks), time.process_time)
        ours.append(seconds)
        judged, seconds = timed(
            lambda: sacrebleu_scores(judge, QUIET[metric.spec.id], chain.from_iterable(texts)), time.process_time
        )
        theirs.append(seconds)
    ratios = sorted(b / a for a, b in zip(ours, theirs))
    worst = np.abs(np.array(mine) - np.array(judged)).max()
    seconds = f"ours {np.median(ours):.2f} s, sacrebleu {np.median(theirs):.1f} s: {ratios[len(ratios) // 2]:.0f} x"
    print(f"{metric.spec.name}: {len(judged)} scores of masked texts, {seconds}; largest difference {worst:.1e}")


def sacrebleu_scores(judge: Callable, settings: dict, texts: Iterable[tuple[list[str], list[str]]]) -> list[float]:
    """sacrebleu's scores of outputs and references."""
    return [judge(outputs, [references], **settings).score for outputs, references in texts]


def our_scores(prepared: Prepared, metric: Metric, tasks: list) -> list[float]:
    """Our scores, everything included that follows tagging."""
    masker = make_masker(metric, prepared.texts, Scorer())
    scores = []
    for cover, rows in tasks:
        for pair in masker.statistics(cover, rows).values():
            scores += [float(metric.corpus_score(table)) for table in pair if len(table)]
    return scores


def plain(prepared: Prepared, masker: TextMasker, cover, rows: dict[str, np.ndarray]) -> list[tuple[list[str], list[str]]]:
    """For each system, the outputs and references with the oracle's masks, then with those of the anti-oracle."""
    found = []
    masked = masker.masked(cover)
    for name, chosen in rows.items():
        if len(chosen):
            oracle, anti = masker.segments(masked, {name: chosen})
            found += [columns(oracle), columns(anti)]
    return found


def columns(segments: list[Segment]) -> tuple[list[str], list[str]]:
    """Outputs and references."""
    return [str(segment.hypothesis) for segment in segments], [segment.references[0] for segment in segments]


def whole(prepared: Prepared, metrics: list[Metric]) -> None:
    """The whole breakdown with intervals, once tagged."""
    from dataclasses import replace

    full = replace(prepared, options=replace(prepared.options, resamples=1000))
    for metric in metrics:
        _, seconds = timed(lambda metric=metric: break_down_prepared(full, [metric], Scorer()))
        print(f"{metric.spec.name}: breakdown of {len(prepared.systems)} systems with 1000 resamples in {seconds:.1f} s")


if __name__ == "__main__":
    main()
