"""Characters and words in texts that deserve a warning, and a quick way to see whether a text may hold any."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from engine.corpus.findings import Severity


@dataclass(frozen=True)
class Check:
    """One thing to look for in texts. `message` has {count} and {where}."""

    kind: str
    found: Callable[[str], bool]
    message: str
    remedy: str
    severity: Severity


def _search(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.search(text) is not None


MASKS = (
    "UNKWORDZ",
    "[MASK]",
    "[UNK]",
    "[PAD]",
    "[CLS]",
    "[SEP]",
    "<mask>",
    "<unk>",
    "<pad>",
    "<s>",
    "</s>",
    "<v>",
    "</v>",
    "<t>",
)
"""Words that explainers, models or annotations use as signs."""

CHECKS: dict[str, Check] = {
    "nul": Check(
        "nul",
        lambda text: "\x00" in text,
        "A NUL character stands in {count} ({where}).",
        "Delete it; it is no text.",
        "warning",
    ),
    "control": Check(
        "control-characters",
        _search("[\x01-\x08\x0e-\x1b\x7f\x80-\x84\x86-\x9f]"),
        "Control characters stand in {count} ({where}).",
        "Delete them; where they stand for letters, the file was saved in another encoding than it says.",
        "warning",
    ),
    "breaks": Check(
        "line-separators",
        _search("[\x0b\x0c\x1c-\x1f\x85\u2028\u2029]"),
        "Characters that other programs take for line ends (VT, FF, NEL, U+2028 …) stand in {count} ({where}); they were kept.",
        "Replace them by spaces.",
        "warning",
    ),
    "newline": Check(
        "line-breaks",
        _search("[\r\n]"),
        "Line breaks stand in {count} ({where}).",
        "Nothing needs to be done, unless a text should be one line.",
        "note",
    ),
    "bom": Check(
        "inner-bom",
        lambda text: "\ufeff" in text,
        "A byte order mark (U+FEFF) stands inside {count} ({where}); metrics take it for part of a word.",
        "Delete it; it is left over where files were joined.",
        "warning",
    ),
    "invisible": Check(
        "invisible-characters",
        _search("[\u00ad\u180e\u200b\u2060-\u2064]"),
        "Invisible characters (zero-width space, soft hyphen …) stand in {count} ({where}).",
        "Delete them where they are not meant.",
        "note",
    ),
    "bidi": Check(
        "bidi-controls",
        _search("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"),
        "Controls of writing direction stand in {count} ({where}).",
        "Nothing needs to be done, unless words look the same but score differently.",
        "note",
    ),
    "damaged": Check(
        "replacement-characters",
        lambda text: "\ufffd" in text,
        "The replacement character � stands in {count} ({where}): a letter was lost when the text was converted.",
        "Restore the letters from the original.",
        "warning",
    ),
    "masks": Check(
        "mask-words",
        lambda text: any(mask in text for mask in MASKS),
        "Signs that explainers and models use ([MASK], UNKWORDZ, <s> …) stand in {count} ({where}).",
        "Another mask word is taken for such texts; delete marks such as <v> where they are left over.",
        "note",
    ),
    "entities": Check(
        "character-references",
        _search("&(?:amp|quot|lt|gt|apos|nbsp|#[0-9]+|#x[0-9a-fA-F]+);"),
        "Character references such as &amp;quot; stand in {count} ({where}).",
        "Unescape the texts, unless all files are written so.",
        "note",
    ),
    "nfc": Check(
        "not-nfc",
        lambda text: not unicodedata.is_normalized("NFC", text),
        "Accented letters are written in pieces (not in Unicode form NFC) in {count} ({where}); metrics take them for others.",
        "Normalise all files to NFC.",
        "note",
    ),
}
EMPTY = Check(
    "empty-lines",
    lambda text: not text or text.isspace(),
    "Nothing is written in {count} ({where}).",
    "Restore them, where a text is meant.",
    "warning",
)

_COMPOSABLE = re.compile("[\u0300-\U0010ffff]")
_ASCII = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_OTHER = re.compile("[\x80-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufffd]")


def suspicious(joined: str, count: int) -> list[str]:
    """The checks that may find something in `count` texts that were joined by line feeds."""
    names: list[str] = []
    if _ASCII.search(joined) or (not joined.isascii() and _OTHER.search(joined)):
        names = [
            name for name, check in CHECKS.items() if name not in ("masks", "entities", "newline", "nfc") and check.found(joined)
        ]
    if "\r" in joined or joined.count("\n") >= max(1, count):
        names.append("newline")
    if any(sign in joined for sign in ("[", "<", "UNKWORDZ")) and CHECKS["masks"].found(joined):
        names.append("masks")
    if "&" in joined and CHECKS["entities"].found(joined):
        names.append("entities")
    if _COMPOSABLE.search(joined) and CHECKS["nfc"].found(joined):
        names.append("nfc")
    return names
