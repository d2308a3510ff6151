"""Every public data set loads, with the counts and numbers that are known of it."""

import gzip
import json
import time
from pathlib import Path

import pytest

from engine.corpus.loaded import Loaded
from engine.corpus.read import Inputs, load, load_or_fail
from engine.corpus.types import SYSTEM_LEVEL, Corpus


def read(*paths: Path, **options) -> Loaded:
    return load(Inputs(paths=tuple(paths), **options))


def corpus_of(loaded: Loaded) -> Corpus:
    assert loaded.corpus is not None, [finding.message for finding in loaded.findings[:3]]
    return loaded.corpus


def counts(corpus: Corpus, level: str = "segment") -> dict[str, int]:
    """Criterion → number of scores of segments, or of systems."""
    at_segments = corpus.human["segment"] != SYSTEM_LEVEL
    rows = corpus.human[at_segments if level == "segment" else ~at_segments]
    return rows.groupby("criterion")["score"].count().to_dict()


def reason(loaded: Loaded) -> tuple[str, str]:
    assert loaded.corpus is None
    assert loaded.findings[0].severity == "fatal"
    return loaded.findings[0].kind, loaded.findings[0].message


def test_wmt17(data):
    path = data / "mt/wmt17/wmt17_toen_da_joined.tsv.gz"
    corpus = corpus_of(read(path))
    assert counts(corpus) == {"da_z": 3920}
    assert len(corpus) == 3559
    for pair, size in {"cs": 560, "de": 560, "fi": 560, "lv": 435, "ru": 560, "tr": 560, "zh": 560}.items():
        one = corpus_of(read(path, languages=(pair, "en")))
        assert one.languages == (pair, "en")
        known = json.loads((data / "gold/expected_numbers_computed.json").read_text())[f"wmt17 {pair}-en n"]
        assert known == size or known == counts(one)["da_z"]
        assert counts(one)["da_z"] == 560
    first = corpus_of(read(path, languages=("cs", "en"))).segment(0, "online-A.0")
    assert first.references[0].startswith("conventional trains consisting of carriages")


@pytest.mark.parametrize(("pair", "lines", "systems"), [("de-en", 2000, 16), ("lt-en", 1000, 11)])
def test_wmt19(data, pair, lines, systems):
    loaded = read(data / "mt/wmt19" / pair)
    corpus = corpus_of(loaded)
    assert (len(corpus), len(corpus.systems), corpus.reference_count) == (lines, systems, 1)
    assert corpus.languages == tuple(pair.split("-"))
    known = json.loads((data / "gold/expected_numbers_computed.json").read_text())
    if pair == "de-en":
        assert set(corpus.systems) == set(known["wmt19 de-en sacreBLEU"])
    assert any("attacked-references" in finding.message for finding in loaded.findings)


def test_wmt19_scores_as_sacrebleu_knows_them(data):
    from sacrebleu import corpus_bleu

    corpus = corpus_of(read(data / "mt/wmt19/de-en"))
    references = [[texts[0] for texts in corpus.references]]
    for system, score in {"Facebook_FAIR.6750": 40.75, "online-G.0": 34.34}.items():
        assert corpus_bleu(list(corpus.systems[system]), references).score == pytest.approx(score, abs=0.005)


def test_wmt21_joined(data):
    corpus = corpus_of(read(data / "mt/wmt21_zhen/wmt21_zhen_mqm_da_joined.tsv.gz"))
    assert (len(corpus), len(corpus.systems)) == (650, 8)
    assert counts(corpus)["mqm"] == 5200
    means = corpus.human.query("criterion == 'mqm'").groupby("system")["score"].mean().round(3).to_dict()
    known = json.loads((data / "gold/expected_numbers_computed.json").read_text())["wmt21 zhen MQM sys means"]
    assert means == pytest.approx(known, abs=6e-4)


def test_wmt21_parts_and_averaged_scores(data):
    folder = data / "mt/wmt21_zhen"
    corpus = corpus_of(read(folder))
    assert counts(corpus)["mqm_avg_score"] == 5200
    both = corpus.human.pivot_table(index=["segment", "system"], columns="criterion", values="score")
    assert (both["mqm"] - both["mqm_avg_score"]).abs().max() < 1e-6
    scores = corpus_of(read(folder / "mqm_newstest2021_zhen.avg_seg_scores.tsv"))
    assert (len(scores), len(scores.systems)) == (1948, 15)


@pytest.mark.parametrize(("pair", "lines", "systems", "rated"), [(("xh", "zu"), 503, 6, 2968), (("zu", "xh"), 509, 5, 2502)])
def test_wmt21_flores(data, pair, lines, systems, rated):
    corpus = corpus_of(read(data / "mt/wmt21_flores", languages=pair))
    assert (len(corpus), len(corpus.systems), corpus.reference_count) == (lines, systems, 1)
    assert counts(corpus) == {"wmt-raw": rated, "wmt-z": rated}
    assert counts(corpus, "system") == {"wmt-raw": systems, "wmt-z": systems}
    known = json.loads((data / "gold/expected_numbers_computed.json").read_text())[f"flores {'-'.join(pair)} human systems"]
    raw = corpus.human.query("criterion == 'wmt-raw' and segment >= 0").groupby("system")["score"].count().to_dict()
    assert raw == {system: rated_here for system, (_, rated_here) in known.items()}
    assert corpus.documents is not None


def test_several_language_pairs_are_offered(data):
    loaded = read(data / "mt/wmt21_flores")
    assert loaded.language_pairs == ("xh-zu", "zu-xh")
    assert corpus_of(loaded).languages == ("xh", "zu")


def test_ted_mqm_equals_the_published_averages(data):
    folder = data / "mt/ted_mqm"
    corpus = corpus_of(read(folder / "mqm_ted_zhen.tsv.gz"))
    lines = (folder / "mqm_ted_zhen.avg_seg_scores.tsv").read_text(encoding="utf-8").split("\n")[1:]
    published = {}
    for line in filter(None, lines):
        system, score, segment = line.split()
        if score != "None":
            published[{"ref-A": "ref", "ref-B": "refB"}.get(system, system), segment] = float(score)
    ours = {(row.system, corpus.ids[row.segment]): row.score for row in corpus.human.itertuples()}
    assert len(published) == len(ours) == 7935
    assert sum(not system.startswith("ref") for system, _ in published) == 6877
    assert all(ours[key] == pytest.approx(score, abs=5.1e-7) for key, score in published.items())
    assert len(corpus.spans) == 5618  # 5269 in outputs (one never closed), 349 in sources
    assert sum(span.side == "source" for span in corpus.spans) == 349
    ratings = gzip.decompress((folder / "mqm_ted_zhen.tsv.gz").read_bytes()).decode().split("\n")
    assert len(ratings) - 2 == 9915


@pytest.mark.parametrize("name", ["de-zh-test21", "et-en-dev", "et-en-test21", "ro-en-dev", "ro-en-test21", "ru-de-test21"])
def test_eval4nlp(data, name):
    folder = data / "qe/eval4nlp21" / name
    loaded = read(folder)
    corpus = corpus_of(loaded)
    known = json.loads((data / "gold/expected_numbers_computed.json").read_text())
    pair = name[:5]
    assert len(corpus) == (known[f"eval4nlp {pair}"]["src"])
    assert counts(corpus) == {"da": len(corpus)}
    assert corpus.languages == tuple(pair.split("-"))
    assert corpus.reference_count == (1 if name.endswith("dev") else 0)
    tagged = {"hypothesis": "tgt-tags", "source": "src-tags"}
    for side, suffix in tagged.items():
        tags = next(folder.glob(f"*.{suffix}")).read_text(encoding="utf-8").split()
        assert sum(span.side == side for span in corpus.spans) == tags.count("1")
    assert not any(finding.kind == "tag-mismatch" for finding in loaded.findings)
    texts = next(iter(corpus.systems.values()))
    for span in corpus.spans[:200]:
        text = texts[span.segment] if span.side == "hypothesis" else corpus.sources[span.segment]
        assert text[span.start : span.end] in text.split()


def test_summeval(data):
    corpus = corpus_of(read(data / "sum/summeval.jsonl"))
    assert (len(corpus), len(corpus.systems), corpus.reference_count) == (100, 16, 11)
    assert counts(corpus) == dict.fromkeys(["coherence", "consistency", "fluency", "relevance"], 1600)
    assert corpus.sources is not None


def test_realsumm(data):
    loaded = read(data / "sum/realsumm_bmx_processed.tsv.gz")
    corpus = corpus_of(loaded)
    assert (len(corpus), len(corpus.systems)) == (100, 25)
    assert counts(corpus) == {"DA": 2500}
    assert any(finding.kind == "constant-source" for finding in loaded.findings)  # DUMMY
    scores = read(data / "sum/realsumm_published_metric_scores.tsv")
    assert scores.corpus is None
    assert scores.table is not None
    assert "no column of system outputs" in scores.table.reason


def test_data_to_text(data):
    corpus = corpus_of(read(data / "d2t/bagel.jsonl"))
    assert (len(corpus), len(corpus.systems), corpus.reference_count) == (404, 1, 2)
    assert counts(corpus) == dict.fromkeys(["informativeness", "naturalness", "quality"], 404)
    corpus = corpus_of(read(data / "d2t/webnlg2020/webnlg2020_en_human.tsv"))
    assert (len(corpus), len(corpus.systems)) == (178, 17)
    assert set(counts(corpus).values()) == {3025}
    corpus = corpus_of(read(data / "d2t/webnlg2020/generationeval"))
    assert (len(corpus), corpus.reference_count) == (1862, 4)
    assert all(references[0] is not None for references in corpus.references)
    assert sum(references[3] is not None for references in corpus.references) == 17


def test_dialogue(data):
    corpus = corpus_of(read(data / "dialogue/topical_chat_usr.json"))
    assert (len(corpus), len(corpus.systems)) == (60, 6)
    assert set(counts(corpus).values()) == {360}
    assert len(counts(corpus)) == 6
    corpus = corpus_of(read(data / "dialogue/dailydialogpp_dev.json.gz"))
    assert (len(corpus), corpus.reference_count, len(corpus.systems)) == (1028, 5, 10)


@pytest.mark.parametrize(("name", "rows"), [("squad", 897), ("vqa", 900), ("wikimovies", 937)])
def test_question_generation_needs_a_mapping_and_guesses_it(data, name, rows):
    path = data / f"qg/answerability_{name}.tsv"
    loaded = read(path)
    assert loaded.corpus is None
    mapping = loaded.table.mapping()
    assert (mapping["reference"], mapping["hypothesis"]) == ("Gold Question", "Modified Question")
    corpus = load_or_fail(Inputs(paths=(path,)), mapping)
    assert len(corpus) == rows
    assert set(counts(corpus).values()) == {rows}


def test_perturbations(data):
    corpus = corpus_of(read(data / "perturb/demetr_base.tsv"))
    assert (len(corpus), list(corpus.systems), corpus.reference_count) == (1000, ["mt"], 1)
    path = data / "perturb/demetr_perturbations.tsv.gz"
    assert read(path).table is not None
    corpus = load_or_fail(Inputs(paths=(path,)), {"segment": "id", "system": "pert_name", "hypothesis": "pert"})
    assert (len(corpus), len(corpus.systems)) == (1000, 35)
    path = data / "perturb/winogender/all_sentences.tsv"
    assert len(load_or_fail(Inputs(paths=(path,)), {"segment": "sentid", "hypothesis": "sentence"})) == 720
    for name in ("templates.tsv", "occupations-stats.tsv"):
        loaded = read(data / "perturb/winogender" / name)
        assert loaded.corpus is None
        assert loaded.table is not None


def test_known_values(data):
    corpus = corpus_of(read(data / "gold/multeval/set1"))
    assert (len(corpus), len(corpus.systems), corpus.reference_count) == (1357, 4, 4)
    assert len(corpus_of(read(data / "gold/multeval/set2"))) == 1999
    assert len(corpus_of(read(data / "gold/multeval/example"))) == 2489
    corpus = corpus_of(read(data / "gold/nlg-eval"))
    assert (len(corpus), corpus.reference_count) == (2, 2)
    folder = data / "gold/bert_score"
    parts = Inputs(references=(folder / "refs.txt", folder / "refs2.txt"), systems={"h": folder / "hyps.txt"})
    assert (len(load_or_fail(parts)), load_or_fail(parts).reference_count) == (10, 2)
    parts = Inputs(references=(folder / "refs_long.txt",), systems={"h": folder / "hyps_long.txt"})
    assert len(load_or_fail(parts)) == 3004


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("gold", "no-data"),
        ("gold/bert_score", "unequal-lengths"),
        ("gold/multeval", "no-outputs"),
        ("gold/expected_numbers_computed.json", "no-records"),
        ("gold/muler_wmt20_de-en_results.json", "no-records"),
        ("gold/multeval/hyps.baseline.opt0.bleu.gold", "no-texts"),
        ("mt/wmt21_flores/human-scores/xh-zu.wmt-raw.sys.score", "no-texts"),
        ("qe/eval4nlp21", "several-corpora"),
        ("sum", "several-corpora"),
        ("qg", "several-corpora"),
        ("dialogue", "several-corpora"),
    ],
)
def test_what_is_no_single_corpus_is_refused_with_the_reason(data, path, kind):
    assert reason(read(data / path))[0] == kind


def test_rankings_are_told_from_scores(data):
    loaded = read(data / "mt/wmt19/lt-en/darr_lt-en.tsv.gz")
    assert loaded.corpus is None
    assert "ranks pairs of systems" in loaded.table.reason


def test_every_file_is_read_or_refused_quickly(data):
    started = time.process_time()
    for path in sorted(path for path in data.rglob("*") if path.is_file() and path.stat().st_size < 2_000_000):
        if "system-outputs" in path.parts or "metric-scores" in path.parts:
            continue
        loaded = read(path)
        assert loaded.corpus or loaded.table or loaded.findings[0].severity == "fatal", path
        assert all(finding.message.endswith(".") and finding.remedy.endswith(".") for finding in loaded.findings)
    assert time.process_time() - started < 60
