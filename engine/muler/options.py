"""The options of a breakdown by feature."""

from __future__ import annotations

from dataclasses import dataclass, fields

from engine.options import option

FAMILIES = ("pos", "ner", "morph", "gender", "negation", "number", "punctuation", "frequency", "lexicon")
"""Families of features, in the order in which they are shown."""


@dataclass(frozen=True)
class MulerOptions:
    """How a metric's score is broken down by feature."""

    features: str = option(
        ",".join(FAMILIES),
        f"families ({', '.join(FAMILIES)}) or single features such as pos:NOUN or morph:Tense=Past, separated by commas",
    )
    mode: str = option(
        "corpus",
        "corpus: the metric's own corpus score of the sentences that hold the feature; paper: the mean of their sentence scores",
        choices=("corpus", "paper"),
    )
    sentences: str = option(
        "both",
        "which sentences count, for scores and for add, hit, miss: those with the feature in reference and output (both) or in "
        "at least one of them (either)",
        choices=("both", "either"),
        advanced=True,
    )
    numbering: str = option(
        "same",
        "oracle masks: all alike (same), numbered through the sentence (all) or through each run of neighbouring masks (runs)",
        choices=("same", "all", "runs"),
        advanced=True,
    )
    unit: str = option(
        "token",
        "what one mask stands for: a token of the metric, so that lengths stay (token), or a word as in the paper (word)",
        choices=("token", "word"),
        advanced=True,
        label="One mask for each",
    )
    share: float = option(
        1.0, "share of a feature's occurrences that is masked, chosen by word", low=0.01, high=1.0, advanced=True
    )
    share_by: str = option(
        "letters",
        "how a share is chosen: words by first letter from a to z (letters), or words at random (words)",
        choices=("letters", "words"),
        advanced=True,
        label="Share by",
    )
    minimum: int = option(10, "fewest sentences for which a value is given", low=1)
    resamples: int = option(1000, "bootstrap resamples for the intervals; 0 gives none", low=0, high=100_000)
    seed: int = option(0, "seed of the resampling and of randomly chosen words", low=0)
    lexicon: str = option("", "a file of words and values (word, tab or comma, value), or several separated by commas")
    bins: int = option(3, "into how many bins of equal size numeric lexicon values fall", low=1, high=20, advanced=True)
    rare: int = option(1, "a word is rare where the references hold it at most this often", low=1, advanced=True)
    tagger: str = option(
        "", "spaCy model (a package or a folder); empty: the installed one for the target language", advanced=True
    )

    def signature(self, tagger: str) -> str:
        """What decides the numbers beside the metric: all options but the choice of features, and who made the tags.

        Parameters
        ----------
        tagger : its identity.
        """
        kept = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in ("features", "lexicon")}
        return "|".join(["muler", *(f"{name}:{value}" for name, value in {**kept, "tagger": tagger}.items())])
