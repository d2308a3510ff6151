"""WMT and NIST SGM, which is not XML: bare ampersands, any case, attributes with or without quotes."""

from __future__ import annotations

import re

from engine.corpus.findings import Findings, refuse
from engine.corpus.keyed import Part, Parts

_SET = {"srcset": "source", "refset": "reference", "tstset": "system"}
_START = re.compile(r"<(srcset|refset|tstset)\b", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(srcset|refset|tstset|doc|seg)\b((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)")
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
_BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});)")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def looks_like_sgm(text: str) -> bool:
    """Whether a text is SGM with a source, reference or test set."""
    return text.lstrip("\ufeff \t\r\n").startswith("<") and _START.search(text[:4000]) is not None


def read_sgm(text: str, file: str, parts: Parts, findings: Findings) -> None:
    """Add the segments of an SGM file to `parts`.

    Raises
    ------
    Refused : entity declarations, segments outside of a document, a segment that is cut off.
    """
    declared = re.search(r"<!ENTITY", text, re.IGNORECASE)
    if declared:
        raise refuse(
            "xml-entities",
            file,
            "The file declares entities; they were not expanded.",
            "Delete the declarations.",
            text.count("\n", 0, declared.start()) + 1,
        )
    _Scanner(text, file, parts).run()
    bare = [text.count("\n", 0, match.start()) + 1 for match in _BARE.finditer(text)][:50]
    if bare:
        findings.lines(
            "bare-ampersands",
            file,
            sorted(set(bare)),
            "Ampersands stand for themselves in {lines}, as SGM allows; they were read so.",
            "Nothing needs to be done.",
            "note",
        )


def unescape(text: str) -> str:
    """Replace character references; what only looks like one is kept."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    name = match[1]
    if name in _NAMED:
        return _NAMED[name]
    number = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else match[0]


class _Scanner:
    """Goes from tag to tag and remembers the set, document and segment it is in."""

    def __init__(self, text: str, file: str, parts: Parts) -> None:
        self.text, self.file, self.parts = text, file, parts
        self.kind: str | None = None
        self.set_attributes: dict[str, str] = {}
        self.part: Part | None = None
        self.document, self.documents, self.segments = "", 0, 0
        self.line, self.counted = 1, 0

    def run(self) -> None:
        """Read the whole text."""
        opened: tuple[re.Match[str], dict[str, str]] | None = None
        for tag in _TAG.finditer(self.text):
            closing, name = bool(tag[1]), tag[2].lower()
            if opened is not None:
                self._segment(opened[0], opened[1], tag.start())
                opened = None
            if name in _SET and not closing:
                self.kind, self.set_attributes = _SET[name], _attributes(tag[3])
                self.parts.set_languages(self.set_attributes.get("srclang"), self.set_attributes.get("trglang"))
            elif name == "doc" and not closing:
                self._document(_attributes(tag[3]))
            elif name == "seg" and not closing:
                opened = (tag, _attributes(tag[3]))
        if opened is not None:
            raise refuse(
                "cut-off",
                self.file,
                "The last segment is not closed: the file seems to be cut off.",
                "Restore the end of the file.",
                self._line_of(opened[0].start()),
            )

    def _line_of(self, position: int) -> int:
        self.line += self.text.count("\n", self.counted, position)
        self.counted = position
        return self.line

    def _document(self, attributes: dict[str, str]) -> None:
        self.documents += 1
        self.segments = 0
        self.document = attributes.get("docid") or f"document {self.documents}"
        if self.kind is None:
            return
        name = attributes.get("sysid") or self.set_attributes.get("sysid") or self.set_attributes.get("refid") or ""
        self.part = self.parts.part(self.kind, "" if self.kind == "source" else unescape(name) or _stem(self.file), self.file)

    def _segment(self, tag: re.Match[str], attributes: dict[str, str], end: int) -> None:
        line = self._line_of(tag.start())
        if self.part is None:
            raise refuse(
                "not-sgm",
                self.file,
                "A segment stands outside of a document.",
                "Put segments into <doc> and that into <srcset>, <refset> or <tstset>.",
                line,
            )
        self.segments += 1
        text = " ".join(self.text[tag.end() : end].split("\n")).strip()
        self.part.add((self.document, attributes.get("id") or str(self.segments)), unescape(text), line)


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): value.strip("\"'") for name, value in _ATTRIBUTE.findall(text)}


def _stem(file: str) -> str:
    return file.rpartition("/")[2].rsplit(".", 1)[0]
