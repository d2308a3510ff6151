"""Texts that are tagged by hand, for the tests of MuLER."""

import numpy as np

from engine.muler.taggers import ALPHABETIC, NUMBER, POSSESSIVE, PUNCTUATION, SPACE, TaggedText, Tagger
from engine.muler.tagging import TaggedTexts, _assemble, _pack

HAND = Tagger("hand", "en", "by hand")


def tagged(*texts: str) -> TaggedTexts:
    """Texts written as `word/POS/ENTITY word/POS+word/POS …`: `+` glues, `~` is a second space, entities begin with `B-`."""
    made = [_read(text) for text in texts]
    known = {layer: {text: _pack(item, layer) for text, item in made} for layer in ("syntax", "entities")}
    return _assemble(tuple(dict.fromkeys(text for text, _ in made)), known, HAND)


def _read(marked: str) -> tuple[str, TaggedText]:
    text, tokens, pos, morph, entities = "", [], [], [], []
    for place, stretch in enumerate(marked.split(" ")):
        text += " " if place else ""
        for item in stretch.split("+"):
            word, tag, entity = (*item.split("/"), "", "")[:3]
            word = " " if word == "~" else word
            flags = SPACE * word.isspace() | ALPHABETIC * word.isalpha() | NUMBER * any(map(str.isdigit, word))
            flags |= PUNCTUATION * (tag == "PUNCT") | POSSESSIVE * (tag == "POS")
            tokens.append((len(text), len(text) + len(word), flags))
            text += word
            pos.append("PART" if tag == "POS" else tag)
            morph.append("")
            entities.append(entity)
    return text, TaggedText(np.array(tokens, np.int32).reshape(-1, 3), pos, morph, entities)
