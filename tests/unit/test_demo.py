"""The sample corpora: the marks against another reader, the planted scores against a count, the order of the systems."""

import re
import tomllib
from collections import Counter
from statistics import mean

import pytest
import sacrebleu

from engine.corpus import demo
from engine.corpus.demo import demo_names, load_demo, read_marks

NAMES = ("mt", "sum")
LEAST = {"mt": 100, "sum": 20}
KINDS = {
    "mt": {
        "name",
        "number",
        "negation",
        "gender",
        "word order",
        "omission",
        "untranslated",
        "mistranslation",
        "tense",
        "agreement",
    },
    "sum": {"name", "number", "negation", "hallucination", "omission", "repetition", "word order", "agreement"},
}
WEIGHTS = {"major": 5, "minor": 1}


def facts(name):
    return tomllib.loads((demo.FOLDER / name / "corpus.toml").read_text(encoding="utf-8"))


def raw_outputs(name):
    """Per system its outputs as they stand in the files, with the marks."""
    lines = [
        line
        for path in sorted((demo.FOLDER / name).glob("*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    return {
        system: [line[len(system) + 2 :] for line in lines if line.startswith(f"{system}: ")] for system in facts(name)["systems"]
    }


def cut(raw):
    """An output cut at its braces: the text without marks, and per mark its kind, severity and words."""
    first, *rest = raw.split("{")
    text, marks = first, []
    for piece in rest:
        mark, after = piece.split("}")
        head, words, *remedy = mark.split("|")
        kind, severity = head.rsplit(" ", 1)
        assert severity in WEIGHTS and len(remedy) <= 1, raw
        assert words or remedy, f"a mark that marks nothing: {raw}"
        marks.append((kind, severity, words, len(text)))
        text += words + after
    return text, marks


def marks_of(name, kinds=None):
    """Every mark with its place: (segment, system, kind, severity, words, start)."""
    return [
        (segment, system, *mark)
        for system, outputs in raw_outputs(name).items()
        for segment, raw in enumerate(outputs)
        for mark in cut(raw)[1]
        if kinds is None or mark[0] in kinds
    ]


def texts_of(corpus):
    """Every text of a corpus."""
    yield from corpus.sources
    for references in corpus.references:
        yield from references
    for outputs in corpus.systems.values():
        yield from outputs


def means(name):
    """The mean planted score per system, from the test's own count."""
    weights = Counter()
    for _, system, _, severity, _, _ in marks_of(name):
        weights[system] += WEIGHTS[severity]
    return {system: -weights[system] / len(load_demo(name)) for system in load_demo(name).systems}


def test_both_are_known():
    assert demo_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_counts(name):
    corpus = load_demo(name)
    assert len(corpus) >= LEAST[name]
    assert len(corpus.systems) == 3
    assert corpus.reference_count == {"mt": 1, "sum": 2}[name]
    assert all(len(references) == corpus.reference_count for references in corpus.references)
    assert corpus.languages == {"mt": ("de", "en"), "sum": ("en", "en")}[name]
    assert set(corpus.documents) == {path.stem.partition("-")[2] for path in (demo.FOLDER / name).glob("*.txt")}
    assert len(set(corpus.sources)) == len(corpus), "a source occurs twice"


def test_documents_of_mt():
    sizes = Counter(load_demo("mt").documents)
    assert list(sizes) == ["market", "museum", "manual", "weather", "emails", "recipe", "minutes", "story"]
    assert set(sizes.values()) == {14}


@pytest.mark.parametrize("name", NAMES)
def test_spans_hold_the_marked_words(name):
    corpus = load_demo(name)
    found = [
        (
            span.segment,
            span.system,
            span.category,
            span.severity,
            corpus.systems[span.system][span.segment][span.start : span.end],
            span.start,
        )
        for span in corpus.spans
    ]
    assert all(span.side == "hypothesis" for span in corpus.spans)
    assert sorted(found) == sorted(marks_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_the_files_without_marks(name):
    corpus = load_demo(name)
    for system, outputs in raw_outputs(name).items():
        assert [cut(raw)[0] for raw in outputs] == list(corpus.systems[system])


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_clean(name):
    for text in texts_of(load_demo(name)):
        assert text and text == text.strip(), text
        assert not set("{}|") & set(text), text
        assert "  " not in text, text
        assert not re.search(r" [.,;!?]", text), text


@pytest.mark.parametrize("name", NAMES)
def test_omissions_alone_have_no_width(name):
    for span in load_demo(name).spans:
        assert (span.start == span.end) == (span.category == "omission"), span
        assert span.category != "omission" or span.note.startswith("missing: "), span


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_planted(name):
    counts = Counter(kind for _, _, kind, _, _, _ in marks_of(name))
    assert set(counts) == KINDS[name]
    assert name != "mt" or min(counts.values()) >= 6


@pytest.mark.parametrize("name", NAMES)
def test_criteria_do_not_pass_for_human_judgement(name):
    corpus = load_demo(name)
    assert [criterion.name for criterion in corpus.criteria] == [item["name"] for item in facts(name)["criterion"]]
    for criterion in corpus.criteria:
        assert criterion.planted
        assert "not human judgement" in criterion.provenance


@pytest.mark.parametrize("name", NAMES)
def test_scores_equal_a_count(name):
    corpus = load_demo(name)
    assert facts(name)["weights"] == WEIGHTS
    for item in facts(name)["criterion"]:
        want = dict.fromkeys(((segment, system) for segment in range(len(corpus)) for system in corpus.systems), 0)
        for segment, system, _, severity, _, _ in marks_of(name, item.get("kinds")):
            want[segment, system] -= WEIGHTS[severity]
        rows = corpus.human[corpus.human["criterion"] == item["name"]]
        assert len(rows) == len(want)
        assert {(row.segment, row.system): row.score for row in rows.itertuples()} == want
    assert len(corpus.human) == len(corpus.criteria) * len(corpus) * len(corpus.systems)


@pytest.mark.parametrize("name, order", [("mt", ["aurora", "beacon", "cobalt"]), ("sum", ["harbour", "meadow", "quarry"])])
def test_planted_means_rank_the_systems(name, order):
    found = means(name)
    assert sorted(found, key=found.get, reverse=True) == order
    assert len(set(found.values())) == 3


@pytest.mark.parametrize("metric", [sacrebleu.BLEU(), sacrebleu.CHRF()], ids=["BLEU", "chrF"])
def test_metrics_rank_the_translations_too(metric):
    corpus = load_demo("mt")
    references = [[texts[0] for texts in corpus.references]]
    scores = [metric.corpus_score(list(corpus.systems[system]), references).score for system in ("aurora", "beacon", "cobalt")]
    assert scores[0] > scores[1] + 3 > scores[2] + 6


def test_mt_has_segments_for_every_case():
    corpus = load_demo("mt")
    wrong = {(segment, system) for segment, system, *_ in marks_of("mt")}
    share = {system: mean((segment, system) in wrong for segment in range(len(corpus))) for system in corpus.systems}
    assert share["aurora"] < 0.25 < 0.4 < share["beacon"] < 0.65 < 0.75 < share["cobalt"]
    right = [segment for segment in range(len(corpus)) if not any((segment, system) in wrong for system in corpus.systems)]
    assert len(right) >= 5, "segments that all systems get right"

    def chrf(segment, system):
        return sacrebleu.sentence_chrf(corpus.systems[system][segment], list(corpus.references[segment])).score

    places = [(segment, system) for segment in range(len(corpus)) for system in corpus.systems]
    major = {(segment, system) for segment, system, _, severity, _, _ in marks_of("mt") if severity == "major"}
    assert sum(place in major and chrf(*place) > 75 for place in places) >= 5, "severe errors that hardly change the words"
    assert sum(place not in wrong and chrf(*place) < 50 for place in places) >= 5, "good paraphrases"


def test_read_marks():
    text, spans = read_marks(
        "It leaves at {number major|7 p.m.|5 p.m.}{omission minor||from platform 2}, {word order minor|he says always}.", 3, "a"
    )
    assert text == "It leaves at 7 p.m., he says always."
    assert [(span.start, span.end, span.category, span.severity, span.note) for span in spans] == [
        (13, 19, "number", "major", "should be: 5 p.m."),
        (19, 19, "omission", "minor", "missing: from platform 2"),
        (21, 35, "word order", "minor", ""),
    ]
    assert {(span.segment, span.system, span.side) for span in spans} == {(3, "a", "hypothesis")}
    assert read_marks("No marks.", 0, "a") == ("No marks.", [])


@pytest.mark.parametrize(
    "segment, complaint",
    [
        ("source: Ja.\nreference: Yes.\naurora: Yes.\nbeacon: Yes.", "01-bad.txt: a segment has no cobalt: 'source: Ja."),
        ("source: Ja.\nreference: Yes.\naurora: Yes.\nzinc: Yes.", "01-bad.txt: not a line of a segment: 'zinc: Yes.'"),
    ],
)
def test_a_bad_document_is_refused(tmp_path, monkeypatch, segment, complaint):
    (tmp_path / "mt").mkdir()
    (tmp_path / "mt" / "corpus.toml").write_bytes((demo.FOLDER / "mt" / "corpus.toml").read_bytes())
    (tmp_path / "mt" / "01-bad.txt").write_text(segment, encoding="utf-8")
    monkeypatch.setattr(demo, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=re.escape(complaint)):
        load_demo.__wrapped__("mt")
