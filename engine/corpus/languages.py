"""Languages: codes and names, what file names and texts say about them, and how scripts write words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from engine.corpus.types import Languages

NAMES: dict[str, str] = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "as": "Assamese", "az": "Azerbaijani", "be": "Belarusian",
    "bg": "Bulgarian", "bn": "Bengali", "bo": "Tibetan", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian",
    "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "gu": "Gujarati",
    "ha": "Hausa", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian",
    "ig": "Igbo", "is": "Icelandic", "it": "Italian", "iu": "Inuktitut", "ja": "Japanese", "jv": "Javanese", "ka": "Georgian",
    "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ko": "Korean", "ku": "Kurdish", "ky": "Kyrgyz", "la": "Latin",
    "lb": "Luxembourgish", "lg": "Ganda", "ln": "Lingala", "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mg": "Malagasy",
    "mi": "Maori", "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay", "mt": "Maltese",
    "my": "Burmese", "nb": "Norwegian Bokmål", "ne": "Nepali", "nl": "Dutch", "nn": "Norwegian Nynorsk", "no": "Norwegian",
    "ny": "Chichewa", "oc": "Occitan", "om": "Oromo", "or": "Odia", "pa": "Punjabi", "pl": "Polish", "ps": "Pashto",
    "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "rw": "Kinyarwanda", "sa": "Sanskrit", "sd": "Sindhi",
    "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian", "sn": "Shona", "so": "Somali", "sq": "Albanian", "sr": "Serbian",
    "st": "Sotho", "su": "Sundanese", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "tg": "Tajik",
    "th": "Thai", "ti": "Tigrinya", "tk": "Turkmen", "tl": "Tagalog", "tn": "Tswana", "tr": "Turkish", "tt": "Tatar",
    "ug": "Uyghur", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese", "wo": "Wolof", "xh": "Xhosa",
    "yi": "Yiddish", "yo": "Yoruba", "zh": "Chinese", "zu": "Zulu",
}  # fmt: skip
"""ISO 639-1 code → English name."""

_THREE = {
    "ara": "ar", "ben": "bn", "bul": "bg", "cat": "ca", "ces": "cs", "cze": "cs", "chi": "zh", "cmn": "zh", "dan": "da",
    "deu": "de", "ell": "el", "eng": "en", "est": "et", "fas": "fa", "fin": "fi", "fra": "fr", "fre": "fr", "ger": "de",
    "guj": "gu", "hau": "ha", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy", "ind": "id", "isl": "is",
    "ita": "it", "jpn": "ja", "kat": "ka", "kaz": "kk", "khm": "km", "kor": "ko", "lao": "lo", "lav": "lv", "lit": "lt",
    "mar": "mr", "mya": "my", "nld": "nl", "nor": "no", "pan": "pa", "pol": "pl", "por": "pt", "pus": "ps", "ron": "ro",
    "rum": "ro", "rus": "ru", "slk": "sk", "slv": "sl", "spa": "es", "srp": "sr", "swa": "sw", "swe": "sv", "tam": "ta",
    "tel": "te", "tha": "th", "tur": "tr", "ukr": "uk", "urd": "ur", "vie": "vi", "xho": "xh", "yor": "yo", "zho": "zh",
    "zul": "zu",
}  # fmt: skip

_UNSPACED = (  # scripts that are written without spaces between words
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0xA9E0, 0xA9FF),  # Myanmar, extended B
    (0xAA60, 0xAA7F),  # Myanmar, extended A
    (0x1780, 0x17FF),  # Khmer
    (0x19E0, 0x19FF),  # Khmer symbols
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),  # Han iteration mark, closing mark, zero
    (0x3031, 0x3035),  # Kana repeat marks
    (0x303B, 0x303B),  # vertical iteration mark
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3100, 0x312F),  # Bopomofo
    (0x31F0, 0x31FF),  # Katakana, phonetic extensions
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF66, 0xFF9F),  # Kana, half width
    (0x1B000, 0x1B16F),  # Kana, supplement
    (0x20000, 0x323AF),  # Han, extensions B to H
)
UNSPACED = "".join(f"{chr(low)}-{chr(high)}" for low, high in _UNSPACED)
"""The inside of a regular-expression character class: all characters of scripts written without spaces."""

_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
_WORD_CHARACTER = re.compile(r"[^\W\d_]")
_STRONG = {"L": False, "R": True, "AL": True}

# The word lists below hold the commonest short words of a language; a text is taken for a language only where they are frequent.
_FUNCTION_WORDS = {
    "en": "the of and to in is that it was for on are with as his they at be this from have or by had not but what we were",
    "de": "der die und das in den von zu mit sich auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie",
    "fr": "le de la et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec aux d l",
    "es": "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me",
    "it": "di che la il un a è e in per una sono ho non con del le della si i da al come più ma lo nel alla gli",
    "pt": "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem",
    "nl": "de van het een en in is dat op te zijn met voor niet aan er om ook als dan maar bij of uit nog naar",
    "cs": "a se v na je že o s z do i to k ve pro za by ale si po jako podle od jsem tak jeho které nebo byl",
    "pl": "w i na z się nie do to że o a jest jak po za od przez co ale dla tak był być tym już jego są",
    "sv": "och i att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan",
    "fi": "ja on ei se että oli hän mutta ovat kun myös joka niin kuin jos mukaan sen tai sekä ole mitä jo nyt",
    "et": "ja on ei et see oli kui ka ning ta mis aga oma või seda kes nii selle ma siis veel pole tema",
    "lt": "ir kad į iš su yra kaip tai buvo bet tik jo apie nuo ar už dėl po savo jau taip šis dar prie",
    "lv": "un ir ka ar no uz par bet kas tas arī vai lai kā pēc tika tik to pie tā savu viņa nav gada",
    "ro": "și de a în la cu nu o pe este că un din care mai pentru se s sa au fost ca prin sunt lui",
    "hu": "a az és hogy nem is egy volt meg de ez csak mint ki el van már vagy még azt ha sem lesz",
    "tr": "ve bir bu da de için ile çok olarak daha olan en gibi ne o kadar sonra ama var ki değil",
    "da": "og i at det er en til af på den for med de som der ikke har et han om var men sig fra jeg kan",
}  # fmt: skip
_LETTER_HINTS = (  # letters that settle a language among those which share a script
    ("uk", "іїєґ"), ("be", "ў"), ("sr", "ђћџљњј"), ("mk", "ѓќѕ"), ("kk", "әғқңөұүһ"),
    ("ps", "ټډړږښګڼۍېۀ"), ("ur", "ٹڈڑںھہۓے"), ("fa", "پچژگی"),
)  # fmt: skip


def code(text: str | None) -> str | None:
    """The ISO 639-1 code that `text` stands for (`de`, `deu`, `de_DE`, `German`), or None."""
    if not text:
        return None
    plain = text.strip().casefold()
    first = re.split(r"[-_. ]", plain, maxsplit=1)[0]
    for candidate in (plain, first):
        if candidate in NAMES:
            return candidate
        if candidate in _THREE:
            return _THREE[candidate]
    named = {name.casefold(): key for key, name in NAMES.items()}
    return named.get(plain) or named.get(first)


def name(language: str | None) -> str:
    """The English name of a language; the code itself where it is not known, "unknown" for None."""
    return "unknown" if language is None else NAMES.get(language, language)


def languages_from_name(file: str) -> Languages:
    """Guess the language pair from a file or folder name (`newstest2019.X.de-en`, `xh-zu.txt`, `newstest2017-enfi_hyp.sgm`)."""
    for part in reversed(file.replace("\\", "/").split("/")):
        for pattern in (_PAIR, _GLUED):
            for match in pattern.finditer(part):
                source, target = code(match[1].lower()), code(match[2].lower())
                if source != target and source in _SEEN_IN_NAMES and target in _SEEN_IN_NAMES:
                    return (source, target)
    return (None, None)


def language_of_suffix(file: str) -> str | None:
    """The language that a file's last suffix names (`newstest2019-deen-ref.en` → `en`)."""
    suffix = file.rsplit("/", 1)[-1].rpartition(".")[2].lower()
    return suffix if suffix in _SEEN_IN_NAMES else None


_NOT_IN_NAMES = frozenset({"am", "as", "az", "be", "bo", "bs", "cy", "eo", "ga", "ig", "jv", "ku", "ky", "la", "lb", "lg", "ln"})
_NOT_IN_NAMES |= {"mg", "mi", "mn", "mt", "nb", "nn", "no", "ny", "oc", "om", "or", "rw", "sa", "sd", "sn", "so", "st", "su"}
_NOT_IN_NAMES |= {"tg", "ti", "tk", "tn", "tt", "ug", "uz", "wo", "yi", "yo"}
_SEEN_IN_NAMES = frozenset(NAMES) - _NOT_IN_NAMES
"""Codes that are read out of file names; the others are words or abbreviations too ("mt", "no", "so")."""
_WMT = "cs|de|en|es|et|fi|fr|gu|ha|hi|hr|is|iu|ja|kk|km|ko|lt|lv|pl|ps|pt|ro|ru|ta|tr|uk|xh|zh|zu|it|nl|bn|ne|si|he"
_PAIR = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2,3})(?:_[A-Z]{2})?[-_]([A-Za-z]{2,3})(?:_[A-Z]{2})?(?![A-Za-z0-9])")
_GLUED = re.compile(rf"(?<![A-Za-z])({_WMT})2?({_WMT})(?![A-Za-z])")


def writes_spaces(text: str) -> bool:
    """False where most letters belong to scripts without spaces between words (Han, Kana, Thai, Lao, Khmer, Myanmar)."""
    if text.isascii():
        return True
    unspaced = len(_UNSPACED_CHARACTER.findall(text))
    return unspaced == 0 or 2 * unspaced <= len(_WORD_CHARACTER.findall(text))


def is_rtl(text: str) -> bool:
    """Whether the text reads from right to left: its first strong character does (Unicode bidirectional algorithm, P2, P3)."""
    if text.isascii():
        return False
    for character in text:
        direction = _STRONG.get(unicodedata.bidirectional(character))
        if direction is not None:
            return direction
    return False


def guess_language(texts: Iterable[str | None], limit: int = 300) -> str | None:
    """Guess the language of texts from their script and their commonest words; None where that is not clear.

    Parameters
    ----------
    texts : any number of texts; the first `limit` that are not missing are read.
    """
    sample = "\n".join(islice((text for text in texts if text), limit))[:200_000].casefold()
    letters = Counter(filter(None, map(_script, _WORD_CHARACTER.findall(sample))))
    total = sum(letters.values())
    if total < 40:
        return None
    script, count = letters.most_common(1)[0]
    if letters["kana"] > 0.05 * total:
        return "ja"
    if count < 0.6 * total:
        return None
    if script in _ONE_LANGUAGE:
        return _ONE_LANGUAGE[script]
    if script in ("cyrillic", "arabic"):
        return _by_letters(sample, script)
    return _by_words(sample) if script == "latin" else None


_ONE_LANGUAGE = {
    "han": "zh", "hangul": "ko", "thai": "th", "lao": "lo", "khmer": "km", "myanmar": "my", "greek": "el", "hebrew": "he",
    "georgian": "ka", "armenian": "hy", "gujarati": "gu", "tamil": "ta", "telugu": "te", "kannada": "kn", "malayalam": "ml",
    "sinhala": "si", "gurmukhi": "pa", "bengali": "bn",
}  # fmt: skip


@lru_cache(maxsize=4096)
def _script(character: str) -> str | None:
    first = unicodedata.name(character, "").partition(" ")[0].lower()
    return {"cjk": "han", "hiragana": "kana", "katakana": "kana"}.get(first, first) or None


def _by_letters(sample: str, script: str) -> str | None:
    """Tell languages apart that share the Cyrillic or the Arabic script."""
    total = len(_WORD_CHARACTER.findall(sample))
    for language, letters in _LETTER_HINTS:
        fits = (language in ("ps", "ur", "fa")) == (script == "arabic")
        if fits and sum(map(sample.count, letters)) > 0.015 * total:
            return language
    if script == "arabic":
        return "ar" if sample.count("ة") + sample.count("ال") > 0.01 * total else None
    return "ru" if sample.count("ы") > 0.003 * total else "bg" if sample.count("ъ") > 0.005 * total else None


def _by_words(sample: str) -> str | None:
    """The language whose commonest words fill the largest share of a Latin-script text, where the lead is clear."""
    words = re.findall(r"[^\W\d_]+", sample)
    counts = Counter(words)
    shares = sorted(
        (
            (sum(counts[word] for word in set(known.split())) / len(words), language)
            for language, known in _FUNCTION_WORDS.items()
        ),
        reverse=True,
    )
    (best, language), (second, _) = shares[:2]
    return language if best >= 0.12 and best >= 1.3 * second else None
