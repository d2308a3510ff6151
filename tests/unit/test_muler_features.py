"""Features, lexicons and taggers: what there is, what is refused and how it is said."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from muler_texts import tagged

from engine.corpus.demo import demo_names, load_demo
from engine.errors import InputError
from engine.muler.features import Feature, FeatureTable, parse_selection
from engine.muler.lexicons import Lexicon, languages_with, parse_lexicon, read_lexicon, word_list
from engine.muler.options import FAMILIES, MulerOptions
from engine.muler.taggers import ENTITIES, LAYERS, SYNTAX, choose_tagger, run_tagger
from engine.muler.tagging import tag_texts
from engine.options import describe
from engine.progress import silent
from engine.scoring.store import Store


def words(table: FeatureTable, feature: str) -> list[str]:
    family, _, name = feature.partition(":")
    mask = table.mask(Feature(family, name))
    return [table.tagged.forms[form] for form in table.tagged.form[mask]]


def table(texts, features: str, references=None, lexicons=(), **options) -> FeatureTable:
    references = np.arange(len(texts.texts)) if references is None else np.array(references)
    return FeatureTable(texts, parse_selection(features), MulerOptions(**options), references, lexicons)


def test_a_selection_is_read() -> None:
    selection = parse_selection("pos, ner:PERSON ,morph:Tense=Past,pos:NOUN")
    assert selection.families == ("pos",)
    assert [feature.id for feature in selection.single] == ["ner:PERSON", "morph:Tense=Past"]
    assert selection.all_families == ("pos", "ner", "morph")
    assert selection.layers == LAYERS and selection.needs_model
    assert parse_selection("gender,negation").layers == (SYNTAX,)
    assert not parse_selection("gender,negation,number,punctuation,frequency,lexicon").needs_model


@pytest.mark.parametrize(
    ("text", "message"), [("posture", "known families"), ("pos:NUON", "NOUN"), (" , ", "no features are chosen")]
)
def test_a_wrong_selection_names_what_there_is(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_selection(text)


def test_every_family_has_features_in_english() -> None:
    text = "She did n't see 20 men , but Mary 's dog saw the United Nations in 1999 . The dog was happy , the dog was free"
    texts = tag_texts([text], choose_tagger("en"), LAYERS)
    lexicon = Lexicon("warmth", {"dog": 3.0, "men": 1.0, "happy": 5.0})
    features = table(texts, ",".join(FAMILIES), lexicons=[lexicon]).features
    assert {feature.family for feature in features} == set(FAMILIES)
    ids = [feature.id for feature in features]
    assert {"pos:NOUN", "morph:Gender=Fem", "morph:Tense=Past", "gender:female", "gender:male", "negation:words"} <= set(ids)
    assert ids == sorted(ids, key=lambda name: FAMILIES.index(name.split(":")[0]))


def test_words_of_each_family() -> None:
    texts = tag_texts(["She does n't know his 3rd wife , nor 12 boys ."], choose_tagger("en"), ())
    of = table(texts, "gender,negation,number,punctuation")
    assert words(of, "gender:words") == ["She", "his", "wife", "boys"]
    assert words(of, "gender:female") == ["She", "wife"]
    assert words(of, "negation:words") == ["n't", "nor"]
    assert words(of, "number:numbers") == ["3rd", "12"]
    assert words(of, "punctuation:all") == [",", "."]
    assert words(of, "punctuation:comma") == [","]


def test_he_and_she_count_as_gender_whatever_their_first_attribute_is() -> None:
    texts = tag_texts(["She saw him and his dog."], choose_tagger("en"), LAYERS)
    of = table(texts, "morph:Gender,morph")
    assert words(of, "morph:Gender=Fem") == ["She"]
    assert words(of, "morph:Gender") == ["She", "him", "his"]
    names = [feature.name for feature in of.features]
    assert "Gender" in names and "Gender=Masc" in names
    assert "Definite" not in names, "an attribute with one value is the same as that value"


def test_frequency_counts_the_words_of_the_references() -> None:
    texts = tagged("a/X a/X a/X b/X b/X c/X", "b/X d/X C/X 5/X")
    of = table(texts, "frequency", references=[0, 0])  # the same reference twice: a 6, b 4, c 2
    assert words(of, "frequency:frequent") == ["a", "a", "a"]
    assert words(of, "frequency:middle") == ["b", "b", "c", "b", "C"]
    assert words(of, "frequency:rare") == ["d"], "numbers are no words"
    assert words(table(texts, "frequency", references=[0], rare=2), "frequency:rare") == ["b", "b", "c", "b", "d", "C"]


def test_a_single_feature_that_does_not_occur_is_kept() -> None:
    texts = tagged("a/X dog/NOUN")
    assert table(texts, "pos:INTJ,pos:NOUN").features == (Feature("pos", "INTJ"), Feature("pos", "NOUN"))
    assert table(texts, "pos").features == (Feature("pos", "NOUN"), Feature("pos", "X"))


def test_a_numeric_lexicon_falls_into_bins_of_equal_size() -> None:
    lexicon = Lexicon("age", {f"w{k}": float(k) for k in range(9)})
    names, classes = lexicon.classes(3)
    assert names == ["0…2", "3…5", "6…8"]
    assert [classes[f"w{k}"] for k in range(9)] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert Lexicon("same", {"a": 1.0, "b": 1.0}).classes(3)[0] == ["1"]
    of = table(tagged("W1/X w8/X w3/X other/X"), "lexicon", lexicons=[lexicon])
    assert [(feature.name, words(of, feature.id)) for feature in of.features] == [
        ("age 0…2", ["W1"]),
        ("age 3…5", ["w3"]),
        ("age 6…8", ["w8"]),
    ]


def test_lexicon_files(tmp_path: Path) -> None:
    file = tmp_path / "warmth.tsv"
    file.write_bytes("\ufeffword\tvalue\r\n# comment\r\nsun\t4.5\r\nice cream\t3\r\nsnow\t1\r\n\r\n".encode())
    lexicon = read_lexicon(file)
    assert (lexicon.name, lexicon.values, lexicon.left_out) == ("warmth", {"sun": 4.5, "snow": 1.0}, 1)
    assert parse_lexicon(b"a,1,2.5\nb,3", "x", "x.csv").values == {"a,1": 2.5, "b": 3.0}
    named = parse_lexicon(b"Hund\tanimal\nRose\tplant", "kind", "kind.tsv")
    assert not named.numeric and named.classes(3) == (["animal", "plant"], {"Hund": 0, "Rose": 1})
    assert parse_lexicon(b"sun;4,5\nsnow;10\n", "x", "x.csv").values == {"sun": 4.5, "snow": 10.0}
    assert parse_lexicon(b"sun\t4,5\nsnow\t10,125\n", "x", "x.tsv").values == {"sun": 4.5, "snow": 10.125}
    assert parse_lexicon(b"1,000\tmany\n2,5\tfew\n", "x", "x.tsv").values == {"1,000": "many", "2,5": "few"}
    assert parse_lexicon(b";\tmark\nword\tword\t\n", "x", "x.tsv").values == {";": "mark", "word": "word"}


def test_words_without_values_are_one_class() -> None:
    lexicon = parse_lexicon(b"# colours\nred\n\nblue\r\n", "colours", "colours.txt")
    assert lexicon.values == {"red": "words", "blue": "words"} and not lexicon.numeric
    of = table(tagged("red/X Blue/X sun/X"), "lexicon", lexicons=[lexicon])
    assert [feature.id for feature in of.features] == ["lexicon:colours words"]
    assert of.mask(of.features[0]).tolist() == [True, True, False]


def test_a_lexicon_of_very_many_classes_costs_no_more_than_those_that_occur() -> None:
    lexicon = Lexicon("many", {f"w{number}": f"class {number}" for number in range(200_000)})
    of = table(tagged("w7/X other/X w9/X"), "lexicon", lexicons=[lexicon])
    assert [feature.name for feature in of.features] == ["many class 7", "many class 9"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\t1\nword\n", r"x.tsv, line 2: 'word' is not a word, a tab and a value"),
        (b"a\t1\t2\t3\nb\t1\t2\t3\n", r"x.tsv, line 1: the line has 4 columns; keep the word and one value"),
        (b"a,1,2.5\nb,3,4\n", r"x.tsv: all lines have more than two columns"),
        (b"a\t1\x00\nb\t2\n", r"x.tsv, line 1: the line holds control characters"),
        (b"a\t1,000\nb\t2,500\n", r"x.tsv: '1,000' may be with decimals or in thousands"),
        (b"a\t1\nb\tlow\n", r"x.tsv, line 2: 'low' is no number"),
        (b"a\t1\nb\t2\na\t3\n", r"x.tsv, line 3: 'a' has another value above \(1.0\)"),
        (b"a\t1\n\xff\t2\n", r"x.tsv, line 2: the lexicon is not UTF-8"),
        (b"\n# nothing\n", "holds no words"),
        (b"ice cream\t1\n", "several words"),
    ],
)
def test_a_bad_lexicon_names_the_line(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_lexicon(data, "x", "x.tsv")
    with pytest.raises(InputError, match="nowhere.tsv"):
        read_lexicon("nowhere.tsv")


def test_shipped_lists_are_lower_case_and_without_contradiction() -> None:
    for family in ("gender", "negation"):
        assert "en" in languages_with(family)
        for language in languages_with(family):
            listed = word_list(language, family)
            assert listed and all(word == word.lower() for word in listed)
    assert set(word_list("en", "gender").values()) == {"female", "male"}


def test_a_language_without_a_list_is_a_note_or_an_error() -> None:
    texts = tag_texts(["ek ghar"], choose_tagger("hi", needs_model=False), ())
    assert "no list of gender words for language 'hi'" in table(texts, "gender,number").notes[0]
    with pytest.raises(InputError, match="load a lexicon instead"):
        table(texts, "gender:female")


def test_one_clear_message_where_no_model_is_installed() -> None:
    with pytest.raises(InputError) as fault:
        choose_tagger("fi")
    assert "none for Finnish is installed" in str(fault.value) and "fi_core_news_sm" in str(fault.value)
    assert "\n" not in str(fault.value)
    with pytest.raises(InputError, match="there is no spaCy model 'nobody'; installed: .*en_core_web"):
        choose_tagger("en", "nobody")
    assert not choose_tagger("fi", needs_model=False).tags
    assert choose_tagger(None).language == "en"


def test_texts_are_tagged_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[list[str], list[str]]] = []

    def counting(tagger, texts, layers):
        asked.append((list(texts), list(layers)))
        return run_tagger(tagger, texts, layers)

    monkeypatch.setattr("engine.muler.tagging.run_tagger", counting)
    tagger, path = choose_tagger("en"), tmp_path / "store.sqlite"
    texts = ["A dog.", "", "A dog.", "Two \ud800 cats\n\nsleep in Rome."]
    first = tag_texts(texts, tagger, (SYNTAX,), Store(path))
    assert asked == [(["A dog.", "", "Two \ud800 cats\n\nsleep in Rome."], [SYNTAX])]
    again = tag_texts([*texts, "New."], tagger, LAYERS, Store(path))
    assert asked[1:] == [(["A dog.", "", "Two \ud800 cats\n\nsleep in Rome."], ["entities"]), (["New."], list(LAYERS))]
    last = len(first.start)
    for name in ("start", "end", "flags"):
        np.testing.assert_array_equal(getattr(again, name)[:last], getattr(first, name))
    assert [again.pos_names[code] for code in again.pos[:last]] == [first.pos_names[code] for code in first.pos]
    tag_texts([*texts, "New."], tagger, LAYERS, Store(path), silent)
    assert len(asked) == 3, "everything comes from the store"
    assert [first.texts[0][a:b] for a, b in zip(first.start[:3], first.end[:3])] == ["A", "dog", "."]


def whole_model(texts: list[str]) -> dict[str, list[list[str]]]:
    """What the model says where all of it is run."""
    import spacy

    docs = list(spacy.load(choose_tagger("en").model).pipe(texts))
    return {
        "pos": [[token.pos_ for token in doc] for doc in docs],
        "morph": [[str(token.morph) for token in doc] for doc in docs],
        "entities": [
            [("B-" if token.ent_iob_ == "B" else "") + token.ent_type_ if token.ent_type_ else "" for token in doc]
            for doc in docs
        ],
    }


def test_tags_are_those_of_the_whole_model() -> None:
    texts = ["I know that he left because it is late .", "There is no one who has what we had .", "Rome.\n\nIn 1999 Mary slept"]
    for name in demo_names():
        corpus = load_demo(name)
        every = (*corpus.systems.values(), [text for group in corpus.references for text in group])
        texts += [text for of in every for text in of[::3] if text]
    wanted = whole_model(texts)
    tags = {tag for of in wanted["pos"] for tag in of}
    assert {"SCONJ", "AUX", "PRON", "DET"} <= tags and len(texts) > 180
    found = run_tagger(choose_tagger("en"), texts, LAYERS)
    for name, of in wanted.items():
        assert [getattr(text, name) for text in found] == of, name
    some = slice(0, 30)
    assert [text.pos for text in run_tagger(choose_tagger("en"), texts[some], (SYNTAX,))] == wanted["pos"][some]
    assert [text.entities for text in run_tagger(choose_tagger("en"), texts[some], (ENTITIES,))] == wanted["entities"][some]


def test_tags_of_an_earlier_version_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first version left out what the parser knows."""
    store, text = Store(tmp_path / "store.sqlite"), "I know that he left ."
    with monkeypatch.context() as before:
        before.setattr("engine.muler.tagging._VERSION", 1)
        before.setattr(
            "engine.muler.tagging.run_tagger",
            lambda *asked: [replace(item, pos=["X"] * len(item.pos)) for item in run_tagger(*asked)],
        )
        tag_texts([text], choose_tagger("en"), (SYNTAX,), store)
    again = tag_texts([text], choose_tagger("en"), (SYNTAX,), store)
    assert [again.pos_names[code] for code in again.pos] == whole_model([text])["pos"][0]


def test_options_describe_themselves() -> None:
    assert all(item.help for item in describe(MulerOptions))


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("ja", "今日は30時、abc。", ["今", "日", "は", "30", "時", "、", "abc", "。"]),
        ("my", "ယန 3", ["ယ", "န", "3"]),
        ("cy", "Mae hi'n braf", ["Mae", "hi'n", "braf"]),
    ],
)
def test_without_rules_for_a_script_without_spaces_each_character_is_a_word(language: str, text: str, words: list[str]) -> None:
    tagger = choose_tagger(language, needs_model=False)
    tokens = run_tagger(tagger, [text], ())[0].tokens
    assert [text[start:end] for start, end, _ in tokens.tolist()] == words
    assert tagger.by_character == (language != "cy")
