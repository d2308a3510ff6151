"""What the Features page calls features, families and measures, in words."""

from __future__ import annotations

from engine.muler.features import Feature

FAMILY_TITLES = {
    "pos": "Parts of speech",
    "ner": "Entities",
    "morph": "Morphology",
    "gender": "Gender words",
    "negation": "Negation",
    "number": "Numbers",
    "punctuation": "Punctuation",
    "frequency": "Rare and frequent",
    "lexicon": "Lexicon",
}

VALUES = {"muler": "MuLER", "abl_muler": "abl-MuLER", "scores": "Oracle and anti-oracle"}
"""What the bars show."""

ORDERS = {
    "value": "Largest for A",
    "value-b": "Largest for B",
    "difference": "Largest difference",
    "frequency": "Most frequent",
    "name": "By name",
}

_POS = {
    "ADJ": "Adjectives", "ADP": "Adpositions", "ADV": "Adverbs", "AUX": "Auxiliaries", "CCONJ": "Conjunctions",
    "DET": "Determiners", "INTJ": "Interjections", "NOUN": "Nouns", "NUM": "Numerals", "PART": "Particles",
    "PRON": "Pronouns", "PROPN": "Proper nouns", "PUNCT": "Punctuation tokens", "SCONJ": "Subordinators", "SYM": "Symbols",
    "VERB": "Verbs", "X": "Other words",
}  # fmt: skip
_ENTITIES = {
    "CARDINAL": "Cardinal numbers", "DATE": "Dates", "EVENT": "Events", "FAC": "Buildings, roads", "GPE": "Countries, cities",
    "LANGUAGE": "Languages", "LAW": "Laws", "LOC": "Other places", "MISC": "Other names", "MONEY": "Amounts of money",
    "NORP": "Nationalities, groups", "ORDINAL": "Ordinal numbers", "ORG": "Organisations", "PER": "People",
    "PERCENT": "Percentages", "PERSON": "People", "PRODUCT": "Products", "QUANTITY": "Quantities", "TIME": "Times of day",
    "WORK_OF_ART": "Works of art",
}  # fmt: skip
_MORPHOLOGY = {
    "Number=Sing": "singular", "Number=Plur": "plural", "Tense=Past": "past", "Tense=Pres": "present", "Tense=Fut": "future",
    "Gender=Masc": "masculine", "Gender=Fem": "feminine", "Gender=Neut": "neuter", "Case=Nom": "nominative",
    "Case=Acc": "accusative", "Case=Gen": "genitive", "Case=Dat": "dative", "Definite=Def": "definite",
    "Definite=Ind": "indefinite", "Degree=Pos": "positive", "Degree=Cmp": "comparative", "Degree=Sup": "superlative",
    "Mood=Ind": "indicative", "Mood=Imp": "imperative", "Mood=Sub": "subjunctive", "Mood=Cnd": "conditional",
    "VerbForm=Fin": "finite", "VerbForm=Inf": "infinitive", "VerbForm=Part": "participle", "VerbForm=Ger": "gerund",
    "Aspect=Prog": "progressive", "Aspect=Perf": "perfect", "Aspect=Imp": "imperfective", "Person=1": "I, we",
    "Person=2": "you", "Person=3": "he, she, they", "Poss=Yes": "possessive", "Reflex=Yes": "reflexive",
    "PronType=Art": "article", "PronType=Dem": "demonstrative", "PronType=Prs": "personal", "PronType=Rel": "relative",
    "PronType=Int": "interrogative", "PronType=Ind": "indefinite", "NumType=Card": "cardinal", "NumType=Ord": "ordinal",
    "NumType=Mult": "times", "Voice=Pass": "passive", "Voice=Act": "active", "Polarity=Neg": "negative",
}  # fmt: skip
"""Features and values of Universal Dependencies in plain words."""

_OTHERS = {
    "gender:words": "Gender words",
    "negation:words": "Negation words",
    "number:numbers": "Numbers",
    "frequency:middle": "Words in between",
    "punctuation:all": "All punctuation",
    "punctuation:dash": "Dashes",
}


def feature_title(feature: Feature) -> str:
    """What a feature is called on screen, such as `Verbs`."""
    if feature.id in _OTHERS:
        return _OTHERS[feature.id]
    if feature.family == "pos":
        return _POS.get(feature.name, feature.name)
    if feature.family == "ner":
        return _ENTITIES.get(feature.name, f"Entities {feature.name}")
    if feature.family == "morph":
        words = _MORPHOLOGY.get(feature.name)
        return f"{feature.name} ({words})" if words else feature.name
    name = feature.name[:1].upper() + feature.name[1:]
    if feature.family == "punctuation":
        return f"{name}s"
    return f"{name} words" if feature.family in ("gender", "frequency") else feature.name


def feature_words(feature: Feature) -> str:
    """The same inside a sentence."""
    title = feature_title(feature)
    if feature.family in ("morph", "lexicon"):
        return f"words with {title}" if feature.family == "morph" else f"words of {title}"
    return title if title.split()[0].isupper() else title[:1].lower() + title[1:]


def family_title(family: str) -> str:
    """What a family is called on screen."""
    return FAMILY_TITLES[family]
