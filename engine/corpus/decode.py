"""From bytes to lines: encodings, byte order marks and line ends, with everything unusual reported."""

from __future__ import annotations

import codecs
import re
from itertools import islice

from engine.corpus.findings import Findings, Refused, Severity, refuse
from engine.corpus.languages import guess_language
from engine.corpus.wide import wide_encoding

_MARKS = (  # longest first: a UTF-32 mark begins with a UTF-16 one
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
_OTHER = ["cp1251", "cp1253", "cp1255", "cp1256", "koi8_r", "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp874"]
_BY_LANGUAGE = {"cs": "cp1250", "pl": "cp1250", "hu": "cp1250", "ro": "cp1250", "tr": "cp1254", "lt": "cp1257", "lv": "cp1257"}
_LETTERS = {  # letters beyond ASCII that texts in these encodings usually hold
    "cp1252": "äöüßéèêëàâçñáíóúãõåæøïîôûùœÿþðýìòÄÖÜÉÈÀÁÓÚÅÆØÇÑ«»–—’‘“”„…€°§·¿¡£ºª",
    "cp1250": "ěščřžýáíéúůťďňąęłśźćńóżőűöüäâîăşţôľĺđßĚŠČŘŽÝÁÍÉÚŮŤĎŇĄĘŁŚŹĆŃÓŻŐŰÖÜ«»–—’‘“”„…€°§·",
    "cp1254": "şğıçöüâîûŞĞİÇÖÜ«»–—’‘“”„…€°§·",
    "cp1257": "ąčęėįšųūžāēģīķļņäöüõåéĄČĘĖĮŠŲŪŽĀĒĢĪĶĻŅÄÖÜÕ«»–—’‘“”„…€°§·",
}
_SAVE = "Save the file as UTF-8."
_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\x0b\x0c\r\x1a\x1b"))
_MANY_CONTROLS = 0.05  # of the bytes; text that is not UTF-8 holds next to none, random bytes hold 10%
_MANY_NULS = 0.9


def decode(data: bytes, file: str, findings: Findings) -> str:
    """Decode a text file and report its encoding where it is not plain UTF-8.

    A byte order mark at the start is removed; nothing else is. Invalid bytes become U+FFFD.

    Raises
    ------
    Refused : the bytes are no text in any encoding.
    """
    for mark, encoding, title in _MARKS:
        if data.startswith(mark) and not (title == "UTF-32" and (len(data) % 4 or not _decodes(data[4:], encoding))):
            severity: Severity = "note" if title == "UTF-8" else "warning"
            findings.add(
                "bom",
                file,
                f"The file begins with a byte order mark ({title}); it is not part of the text.",
                "Nothing needs to be done." if title == "UTF-8" else _SAVE,
                1,
                severity,
            )
            return _damaged(data[len(mark) :], encoding, file, findings)
    wide = wide_encoding(data)
    if wide:
        findings.add("encoding", file, f"The file is {wide[:6].upper()} without a byte order mark.", _SAVE, 1)
        return data.decode(wide)
    if data.count(0) > _MANY_NULS * len(data):
        raise _not_text(data.count(0), len(data), "NUL characters", file)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _not_utf8(data, file, findings)


def split_lines(text: str) -> list[str]:
    r"""Split at "\n" and at nothing else, dropping one "\r" before it; a final "\n" does not begin another line."""
    if not text:
        return []
    lines = text.split("\n")
    last = lines.pop()
    if "\r\n" in text:
        lines = [line[:-1] if line.endswith("\r") else line for line in lines]
    if last:
        lines.append(last)
    return lines


def report_newlines(text: str, file: str, findings: Findings) -> None:
    """Report line ends that are not "\\n", and carriage returns that end no line."""
    returns = text.count("\r")
    if not returns:
        return
    pairs, ends = text.count("\r\n"), text.count("\n")
    if pairs and pairs < ends:
        carried = [line.endswith("\r") for line in text.split("\n")[:-1]]
        line = carried.index(not carried[0]) + 1
        message = (
            f"{pairs:,} lines end in CRLF and {ends - pairs:,} in LF, mixed from line {line} on; both were read as line ends."
        )
        findings.add("newlines", file, message, "Convert the file to one kind of line end.", line)
    elif pairs:
        findings.note("newlines", file, "Lines end in CRLF; the carriage returns are not part of the text.")
    report_lone_returns(text, file, findings)


def report_lone_returns(text: str, file: str, findings: Findings) -> None:
    """Report carriage returns that stand without a line feed."""
    lone = text.count("\r") - text.count("\r\n")
    if lone:
        places = sorted({text.count("\n", 0, match.start()) + 1 for match in islice(re.finditer(r"\r(?!\n)", text), 6)})
        hint = "" if "\n" in text else " All line ends of the file may be of this kind."
        message = "Carriage returns without a line feed stand in {lines}; they were kept inside the text." + hint
        remedy = "Replace them by spaces, or by line feeds where they are meant to end a line."
        findings.lines("lone-cr", file, places, message, remedy, total=lone)


def _known(encoding: str) -> bool:
    try:
        return bool(codecs.lookup(encoding)) and "".encode(encoding) is not None
    except LookupError:
        return False


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeError:
        return False
    return True


def _damaged(data: bytes, encoding: str, file: str, findings: Findings) -> str:
    """Decode; where bytes are invalid put U+FFFD and say on which lines."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        pass
    if encoding == "utf-8":
        marked = data.decode("utf-8", "surrogateescape")
        spots = [match.start() for match in re.finditer("[\udc80-\udcff]+", marked)]
    else:
        marked = data.decode(encoding, "replace")
        spots = [match.start() for match in re.finditer("\ufffd", marked)]
    lines = sorted({marked.count("\n", 0, spot) + 1 for spot in spots[:1000]})
    findings.lines(
        "invalid-bytes",
        file,
        lines,
        "Bytes that are not valid " + encoding.upper() + " stand in {lines}; each became U+FFFD (�).",
        "Restore these lines from the original file, or save the file as UTF-8 again.",
    )
    return data.decode(encoding, "replace")


def _not_utf8(data: bytes, file: str, findings: Findings) -> str:
    """Damaged UTF-8, or another encoding? Text that is mostly valid UTF-8 sequences is the first."""
    try:
        return _surrogates(data.decode("utf-8", "surrogatepass"), file, findings)
    except UnicodeDecodeError:
        pass
    marked = data.decode("utf-8", "surrogateescape")
    invalid = len(re.findall("[\udc80-\udcff]", marked))
    valid = sum(1 for _ in re.finditer("[^\x00-\x7f\udc80-\udcff]", marked))
    if valid > invalid:
        return _damaged(data, "utf-8", file, findings)
    declared = re.match(rb"\s*<\?xml[^>]*encoding\s*=\s*[\"']([A-Za-z0-9._-]+)", data[:300])
    if declared and _known(declared[1].decode()) and _decodes(data, declared[1].decode()):
        return data.decode(declared[1].decode())
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if controls > max(1, _MANY_CONTROLS * len(data)):
        raise _not_text(controls, len(data), "control characters", file)
    encoding = _legacy_encoding(data)
    text = data.decode(encoding, "replace")
    line = next((number for number, part in enumerate(data.split(b"\n"), 1) if not part.isascii()), 1)
    findings.add(
        "encoding",
        file,
        f"The file is not UTF-8; it was read as {_title(encoding)}, judging by its letters (first in line {line}).",
        f"Check the letters beyond ASCII; {_SAVE[0].lower()}{_SAVE[1:]}",
        line,
    )
    return text


def _not_text(count: int, size: int, what: str, file: str) -> Refused:
    return refuse(
        "not-text",
        file,
        f"This is no text: {100 * count / size:.0f}% of it are {what}, and it is in no encoding that is known.",
        "Give the texts as plain text, TSV, CSV or JSONL (UTF-8), or as XLSX.",
    )


def _surrogates(text: str, file: str, findings: Findings) -> str:
    """Mend UTF-8 that writes some characters as two halves (CESU-8, as some databases do); a half without partner is lost."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    halves = [text.count("\n", 0, match.start()) + 1 for match in islice(re.finditer("[\ud800-\udfff]", text), 1000)]
    if len(whole) - whole.count("\ufffd") > len(text) - len(re.findall("[\ud800-\udfff]", text)) - text.count("\ufffd"):
        message = "Some characters are written as surrogate pairs (CESU-8) in {lines}; they were put together."
        findings.lines("encoding", file, sorted(set(halves)), message, _SAVE)
    if whole.count("\ufffd") > text.count("\ufffd"):
        message = "Half characters (lone surrogates) stand in {lines}; each became U+FFFD (�)."
        findings.lines("half-characters", file, sorted(set(halves)), message, "Restore these lines from the original file.")
    return whole


def _legacy_encoding(data: bytes) -> str:
    """The likeliest encoding of text that is not UTF-8; Windows-1252 where several fit equally well."""
    sample = b"\n".join(islice((line for line in data.split(b"\n") if not line.isascii()), 400))[:40_000]
    sample = sample[: sample.rfind(b"\n")] if len(sample) == 40_000 and b"\n" in sample else sample
    runs = [len(run) for run in re.findall(rb"[\x80-\xff]+", sample)]
    if sum(run for run in runs if run >= 3) > 0.3 * sum(runs):  # Latin letters beyond ASCII stand alone, other scripts' do not
        found = _other_encoding(sample, data)
        if found:
            return found
    return _latin_encoding(sample, data)


def _other_encoding(sample: bytes, data: bytes) -> str | None:
    """The encoding of text in a script other than Latin."""
    from charset_normalizer import from_bytes

    matches = from_bytes(sample, cp_isolation=_OTHER, enable_fallback=False)
    return next((match.encoding for match in matches if _decodes(data, match.encoding)), None)


def _latin_encoding(sample: bytes, data: bytes) -> str:
    """The encoding of text in Latin script: by its language, else by which letters it would hold."""
    usual = _BY_LANGUAGE.get(guess_language([sample.decode("cp1252", "replace")]) or "")
    if usual and _decodes(data, usual):
        return usual
    fits = {}
    for encoding, letters in _LETTERS.items():
        if _decodes(data, encoding):
            beyond = [letter for letter in sample.decode(encoding, "replace") if letter > "\x7f"]
            fits[encoding] = sum(letter in letters for letter in beyond) / max(1, len(beyond))
    best = max(fits, key=lambda encoding: fits[encoding], default="latin_1")  # the first of those that fit equally well
    return "cp1252" if fits.get("cp1252", 0.0) >= fits.get(best, 0.0) - 0.02 and "cp1252" in fits else best


def _title(encoding: str) -> str:
    return {"cp1252": "Windows-1252", "latin_1": "ISO 8859-1"}.get(encoding, encoding.upper().replace("CP125", "Windows-125"))
