"""Masks on sentences that are tagged by hand."""

import numpy as np
import pytest
from muler_texts import tagged

from engine.errors import InputError
from engine.metrics.registry import make_metric
from engine.muler.features import Feature, FeatureTable, parse_selection
from engine.muler.masks import ORACLE, OUTPUT, REFERENCE, CharacterMasks, MaskedTexts, MaskWords, template_of, visible_masks
from engine.muler.options import MulerOptions
from engine.muler.shares import chosen_share
from engine.muler.spans import SpanFinder, Style
from engine.muler.styles import mask_style

WORDS = Style()
READABLE = MaskWords(lambda kind, number: f"{'MXY'[kind]}{number or ''}", False)
NUMBERED = MaskWords(lambda kind, number: f"{'MXY'[kind]}{number}", True)


def table(texts, features: str) -> FeatureTable:
    return FeatureTable(texts, parse_selection(features), MulerOptions(), np.arange(len(texts.texts)))


def masked(
    text: str, feature: str, style: Style = WORDS, kind: int = ORACLE, words=READABLE, numbering="same", tokens=None
) -> str:
    texts = tagged(text)
    family, name = feature.split(":")
    mask = table(texts, feature).mask(Feature(family, name))
    spans = SpanFinder(texts, style).find(mask, family == "ner")
    pieces = [texts.texts[i][a:b] for i, a, b in zip(spans.text, spans.start, spans.end)]
    templates = None if tokens is None else [template_of(piece, tokens) for piece in pieces]
    return MaskedTexts(texts, spans, words, numbering, templates).text(0, kind)


def test_words_are_masked_in_place() -> None:
    assert masked("The/DET dog/NOUN sees/VERB ~ dogs/NOUN", "pos:NOUN") == "The M sees   M"


def test_possessive_endings_go_with_their_word() -> None:
    assert masked("John/PROPN+'s/POS dog/NOUN barks/VERB", "pos:PROPN") == "M dog barks"
    assert masked("the/DET dogs/NOUN+'/POS food/NOUN", "pos:NOUN") == "the M M"
    assert masked("John/PROPN+'s/AUX here/ADV", "pos:PROPN") == "M's here"
    assert masked("Marx/PROPN 's/POS work/NOUN", "pos:PROPN") == "M 's work"


def test_the_article_of_an_entity_stays() -> None:
    text = "in/ADP the/DET/B-GPE United/PROPN/GPE States/PROPN/GPE of/ADP/GPE America/PROPN/GPE"
    assert masked(text, "ner:GPE") == "in the M M M M"
    assert masked("The/DET/B-ORG Times/PROPN/ORG+'s/POS/ORG view/NOUN", "ner:ORG") == "The M view"
    assert masked("on/ADP the/DET/B-DATE 4th/NOUN", "ner:DATE") == "on M 4th", "an article alone is the entity"


def test_an_entity_has_one_mask_for_each_word() -> None:
    assert masked("a/DET 10/NUM/B-DATE+-/PUNCT/DATE+year/NOUN/DATE plan/NOUN", "ner:DATE") == "a M plan"
    assert masked("$/SYM/B-MONEY+5.3/NUM/MONEY million/NUM/MONEY+./PUNCT", "ner:MONEY") == "M M ."
    assert masked("Berlin/PROPN/B-GPE+,/PUNCT Paris/PROPN/B-GPE", "ner:GPE") == "M , M"


def test_masks_stand_apart_where_words_were_separate() -> None:
    assert masked("Yes/INTJ+,/PUNCT go/VERB+!/PUNCT", "pos:PUNCT") == "Yes M go M"
    assert masked("(/PUNCT+so/ADV+)/PUNCT", "pos:PUNCT") == "M so M"
    assert masked("in/ADP 2018/NUM+./PUNCT", "pos:PUNCT") == "in 2018 M"
    assert masked("at/ADP 3/NUM+./PUNCT+5/NUM", "pos:PUNCT") == "at 3M5", "a point between digits is no word of its own"
    assert masked("do/AUX+n't/PART go/VERB", "pos:AUX") == "Mn't go"
    assert masked("well/ADV+-/PUNCT+known/VERB", "pos:VERB") == "well-M"
    assert masked("29/NUM+-/PUNCT+year/NOUN+-/PUNCT+old/ADJ", "pos:NUM") == "M - year-old"


def test_where_only_spaces_separate_masks_stay_glued() -> None:
    assert masked("Yes/INTJ+,/PUNCT go/VERB+!/PUNCT", "pos:PUNCT", Style("none")) == "YesM goM"


def test_what_a_metric_drops_is_not_masked() -> None:
    assert masked("Yes/INTJ+,/PUNCT go/VERB+!/PUNCT", "pos:PUNCT", Style("none", "letters")) == "Yes, go!"
    assert masked("é/NOUN dog/NOUN", "pos:NOUN", Style("none", "ascii")) == "é M"
    assert masked("é/NOUN dog/NOUN", "pos:NOUN", Style("none", "letters")) == "M M"


def test_a_mask_for_each_token_of_the_metric_keeps_marks_inside() -> None:
    tokens = mask_style(make_metric("bleu")).tokens
    assert masked("won/VERB 48:30/NUM today/NOUN", "pos:NUM", tokens=tokens) == "won M : M today"
    assert masked("the/DET U.S./PROPN Army/PROPN", "pos:PROPN", tokens=tokens) == "the M . M . M"
    assert masked("so/ADV .../PUNCT", "pos:PUNCT", tokens=tokens) == "so M M M"
    assert template_of("dog", tokens) == (None,)


def test_numbering_through_the_sentence_and_in_runs() -> None:
    text = "big/ADJ red/ADJ dog/NOUN sees/VERB small/ADJ cats/NOUN"
    assert masked(text, "pos:ADJ") == "M M dog sees M cats"
    assert masked(text, "pos:ADJ", words=NUMBERED, numbering="all") == "M0 M1 dog sees M2 cats"
    assert masked(text, "pos:ADJ", words=NUMBERED, numbering="runs") == "M0 M1 dog sees M0 cats"
    assert masked(text, "pos:ADJ", words=NUMBERED, kind=REFERENCE) == "X0 X1 dog sees X2 cats"
    assert masked(text, "pos:ADJ", words=NUMBERED, kind=OUTPUT) == "Y0 Y1 dog sees Y2 cats"


def test_a_text_without_the_feature_stays_as_it_is() -> None:
    texts = tagged("a/DET dog/NOUN", "so/ADV it/PRON goes/VERB")
    spans = SpanFinder(texts, Style()).find(texts.pos == texts.pos_names.index("NOUN"))
    both = MaskedTexts(texts, spans, READABLE)
    assert both.texts([1, 0, 1], [ORACLE, OUTPUT]) == [["so it goes", "a M", "so it goes"], ["so it goes", "a Y", "so it goes"]]
    assert spans.counts.tolist() == [1, 0]


@pytest.mark.parametrize("han", [False, True])
def test_mask_characters_occur_in_no_text(han: bool) -> None:
    first = CharacterMasks([], han).words(2)
    used = [first.word(kind, number) for kind in (ORACLE, REFERENCE, OUTPUT) for number in range(50)]
    words = CharacterMasks(["a dog", *used], han).words(2)
    again = [words.word(kind, number) for kind in (ORACLE, REFERENCE, OUTPUT) for number in range(50)]
    assert all(len(word) == 2 for word in again)
    assert not set("".join(used)) & set("".join(again))
    assert not set(words.word(ORACLE, 0)) & set(words.word(REFERENCE, 0)) & set(words.word(OUTPUT, 0))


def test_texts_that_use_up_the_private_characters_are_refused() -> None:
    everything = "".join(map(chr, [*range(0xF0000, 0xFFFFE), *range(0x100000, 0x10FFFE)]))
    with pytest.raises(InputError, match="private-use"):
        CharacterMasks([everything]).words()


def test_visible_masks_are_part_of_no_text() -> None:
    first = visible_masks(["plain text"])
    taken = [first.word(kind, number) for kind in (ORACLE, REFERENCE, OUTPUT) for number in (0, 3)]
    words = visible_masks(["plain text", "x".join(taken).upper()])
    for kind in (ORACLE, REFERENCE, OUTPUT):
        word = words.word(kind, 0)
        assert word.isalnum() and word.isascii() and word == word.lower()
        assert not any(word in text for text in taken)
    assert len({words.word(kind, number) for kind in range(3) for number in range(20)}) == 60


def test_mask_like_text_in_the_input_is_text() -> None:
    """What looks like a mask (another program's, or ours from before) is neither masked nor taken for a mask."""
    texts = tagged("NOUN/PROPN X0/PROPN dog/NOUN \U000f0000/X zqj/X")
    words = CharacterMasks(texts.texts).words()
    spans = SpanFinder(texts, Style()).find(texts.pos == texts.pos_names.index("NOUN"))
    text = MaskedTexts(texts, spans, words).text(0, ORACLE)
    assert text == f"NOUN X0 {words.word(ORACLE, 0)} \U000f0000 zqj"
    assert words.word(ORACLE, 0) != "\U000f0000"


def test_a_share_takes_first_letters_until_it_is_reached() -> None:
    texts = tagged("apple/NOUN ball/NOUN cat/NOUN dog/NOUN", "Apple/NOUN zoo/NOUN ätna/NOUN 5th/NOUN cat/VERB")
    noun = texts.pos == texts.pos_names.index("NOUN")
    references = np.array([0])

    def chosen(share: float) -> list[str]:
        mask = chosen_share(texts, noun, references, share)
        return [texts.forms[form] for form in texts.form[mask]]

    assert chosen(1.0) == ["apple", "ball", "cat", "dog", "Apple", "zoo", "ätna", "5th"]
    assert chosen(0.5) == ["apple", "ball", "Apple", "ätna"], "half of the references' four, and the same letters elsewhere"
    assert chosen(0.0) == []


def test_a_random_share_is_seeded_and_treats_a_word_alike_everywhere() -> None:
    texts = tagged(" ".join(f"w{k}/NOUN" for k in range(200)), " ".join(f"W{k}/NOUN" for k in range(200)))
    mask = np.ones(len(texts.start), bool)
    one, same, other = (chosen_share(texts, mask, np.array([0]), 0.3, "words", seed) for seed in (1, 1, 2))
    assert one.sum() == 120 and (one == same).all() and (one != other).any()
    assert (one[:200] == one[200:]).all()
