"""Characters and words in texts that deserve a warning, and a quick way to see whether a text may hold any."""

from __future__ import annotations

import re
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


MASKS = ("UNKWORDZ", "[MASK]", "[UNK]", "[PAD]", "[CLS]", "[SEP]", "<mask>", "<unk>", "<pad>", "<s>", "</s>", "<v>", "</v>", "<t>")
"""Words that explainers, models or annotations use as signs."""

CHECKS: dict[str, Check] = {
    "nul": Check("nul", lambda text: "\x00" in text, "{count} contain a NUL character ({where}).", "Delete it; it is no text.", "warning"),
    "control": Check("control-characters", _search("[\x01-\x08\x0e-\x1b\x7f\x80-\x84\x86-\x9f]"), "{count} contain control characters ({where}).",
                     "Delete them; where they stand for letters, the file was read in the wrong encoding.", "warning"),
    "breaks": Check("line-separators", _search("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"), "{count} contain characters that other programs take for line ends (VT, FF, NEL, U+2028 …; {where}); they were kept inside the segment.",
                    "Replace them by spaces.", "warning"),
    "newline": Check("line-breaks", _search("[\r\n]"), "{count} contain line breaks ({where}).", "Nothing needs to be done, unless a text should be one line.", "note"),
    "bom": Check("inner-bom", lambda text: "\ufeff" in text, "{count} contain a byte order mark (U+FEFF; {where}): files were joined without removing it; metrics take it for part of a word.",
                 "Delete it.", "warning"),
    "invisible": Check("invisible-characters", _search("[\u00ad\u200b\u2060-\u2064\u180e]"), "{count} contain invisible characters (zero-width space, soft hyphen …; {where}).",
                       "Delete them where they are not meant.", "note"),
    "bidi": Check("bidi-controls", _search("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]"), "{count} contain controls of writing direction ({where}).",
                  "Nothing needs to be done, unless words look the same but score differently.", "note"),
    "damaged": Check("replacement-characters", lambda text: "\ufffd" in text, "{count} contain the replacement character � ({where}): a letter was lost when the text was converted.",
                     "Restore the letters from the original.", "warning"),
    "masks": Check("mask-words", lambda text: any(mask in text for mask in MASKS), "{count} contain signs that explainers and models use ([MASK], UNKWORDZ, <s> …; {where}).",
                   "Nothing needs to be done: another mask word is taken for such texts; delete marks such as <v> where they are left over.", "note"),
    "entities": Check("character-references", _search("&(?:amp|quot|lt|gt|apos|nbsp|#[0-9]+|#x[0-9a-fA-F]+);"), "{count} contain character references such as &amp;quot; ({where}).",
                      "Unescape the texts, unless all files are written so.", "note"),
}  # fmt: skip

_ASCII = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_OTHER = re.compile("[\x80-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufffd]")


def suspicious(joined: str, count: int) -> list[str]:
    """The checks that may find something in `count` texts that were joined by line feeds."""
    names: list[str] = []
    if _ASCII.search(joined) or (not joined.isascii() and _OTHER.search(joined)):
        names = [name for name, check in CHECKS.items() if name not in ("masks", "entities", "newline") and check.found(joined)]
    if "\r" in joined or joined.count("\n") >= max(1, count):
        names.append("newline")
    if any(mask in joined for mask in MASKS):
        names.append("masks")
    if "&" in joined and CHECKS["entities"].found(joined):
        names.append("entities")
    return names
