"""A share of a feature's occurrences, chosen word by word so that reference and output are treated alike."""

from __future__ import annotations

import unicodedata
from hashlib import blake2b

import numpy as np

from engine.muler.tagging import TaggedTexts

_AFTER_Z = 26.0


def chosen_share(
    tagged: TaggedTexts, mask: np.ndarray, references: np.ndarray, share: float, by: str = "letters", seed: int = 0
) -> np.ndarray:
    """The part of a feature's tokens that is masked when only a share of them is.

    Words are taken in order until they make up the share of the feature's occurrences in the references; from then on, a word
    is in or out wherever it stands, on either side.

    Parameters
    ----------
    mask : bool[n_tokens], the feature's tokens.
    references : int64[k], the texts that are references, repeats included.
    share : 0 … 1; 1 takes all.
    by : letters: whole first letters from a to z, then all else, as in the paper's experiment; words: words in random order.
    seed : of that order.

    Source: Karidi et al. 2023, the frequency and hybrid experiments.
    """
    if share >= 1:
        return mask
    if share <= 0:
        return np.zeros_like(mask)
    order = _first_letter if by == "letters" else lambda form: _random(form, seed)
    place = np.array([order(form.lower()) for form in tagged.forms], float)[tagged.form]
    times = np.bincount(references, minlength=len(tagged.texts))[tagged.text_of] * mask
    places, inverse = np.unique(place, return_inverse=True)
    reached = np.cumsum(np.bincount(inverse, weights=times, minlength=len(places)))
    wanted = np.floor(reached[-1] * share) if len(reached) else 0
    last = min(int(np.searchsorted(reached, wanted)), len(places) - 1)
    return mask & (inverse <= last)


def _first_letter(form: str) -> float:
    letter = unicodedata.normalize("NFD", form[:1])[:1]
    return float(ord(letter) - ord("a")) if "a" <= letter <= "z" else _AFTER_Z


def _random(form: str, seed: int) -> float:
    digest = blake2b(f"{seed} {form}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "little"))
