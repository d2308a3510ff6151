"""UTF-16 and UTF-32 without a byte order mark, recognised by what they would say."""

from __future__ import annotations

import unicodedata

_LEAST = 16  # bytes; less says too little
_SAMPLE = 4000  # characters looked at
_NO_TEXT = frozenset({"Cc", "Cn", "Co", "Cs"})


def wide_encoding(data: bytes) -> str | None:
    """The encoding of a text in units of two or four bytes (`utf-16-le` …); None for bytes that hold none, as UTF-8 does.

    Every line feed and every space has a NUL byte in these encodings; text in UTF-8 has none, or a stray one.
    """
    nuls = data.count(0)
    if not nuls or len(data) < _LEAST or len(data) % 2:
        return None
    found = {}
    if len(data) % 4 == 0 and len(data) <= 4 * nuls:  # the highest byte of a character is always 0
        found = {encoding: _spaces(data, encoding) for encoding in ("utf-32-le", "utf-32-be")}
    if not any(found.values()):
        found = {encoding: _spaces(data, encoding) for encoding in ("utf-16-le", "utf-16-be")}
    best = max(found, key=lambda encoding: found[encoding])
    return best if found[best] else None


def _spaces(data: bytes, encoding: str) -> int:
    """How many spaces and line ends bytes hold in this encoding; 0 where they are no text.

    A text has assigned characters only and hardly a control. Most bytes that would be a space or a line feed on their own are one
    in this encoding too; in text of one byte per character, which may decode to rare ideographs, they are not.
    """
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return 0
    if "\x00" in text:
        return 0
    sample = text[:_SAMPLE]
    odd = sum(unicodedata.category(character) in _NO_TEXT and character not in "\t\n\r" for character in sample)
    spaces = text.count(" ") + text.count("\n")
    alone = data.count(b" ") + data.count(b"\n")
    return spaces if odd <= 0.01 * len(sample) and alone <= 4 * spaces + len(data) // 64 else 0
