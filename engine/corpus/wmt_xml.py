"""WMT XML test sets: documents with a source, references and outputs; read without entities and without external references."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from engine.corpus.findings import Findings, refuse
from engine.corpus.keyed import Parts

_ROOT = re.compile(r"(?:\s+|<\?xml[^>]*\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)*+<([A-Za-z_][\w.-]*)", re.DOTALL)
_ROOTS = ("dataset", "collection", "mteval")
_BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)")
_INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_KINDS = {"src": "source", "ref": "reference", "hyp": "system", "srcset": "source", "refset": "reference", "tstset": "system"}
_LINE = "{line}"  # no XML name can be this


def root_of(text: str) -> str | None:
    """The name of an XML text's first element, or None where the text is no XML."""
    match = _ROOT.match(text)
    return match[1].lower() if match and text.lstrip()[:1] == "<" else None


def looks_like_xml(text: str) -> bool:
    """Whether a text is an XML file rather than plain text that begins with "<"."""
    return text.lstrip().startswith(("<?xml", "<!DOCTYPE", "<!--")) or root_of(text) in _ROOTS


def read_xml(text: str, file: str, parts: Parts, findings: Findings) -> None:
    """Add the segments of a WMT XML file to `parts`; references are taken in the order of their names.

    Raises
    ------
    Refused : entity declarations, XML that is broken (with the line), an XML file of another kind.
    """
    root = _parse(text, file, findings)
    if root.tag.lower() not in _ROOTS:
        raise refuse(
            "unknown-xml",
            file,
            f"This is XML of an unknown kind (<{root.tag}>).",
            "Give a WMT test set (<dataset>, with <doc>, <src>, <ref> and <hyp>).",
            1,
        )
    for number, document in enumerate(root.iter("doc"), 1):
        name = document.get("id") or document.get("docid") or f"document {number}"
        blocks = [child for child in document if child.tag.lower() in _KINDS]
        for place, block in enumerate(blocks):
            _add_block(block, name, place, file, parts)
    for block in root:
        if block.tag.lower() in ("srcset", "refset", "tstset"):
            for document in block.iter("doc"):
                _add_block(block, document.get("docid") or "", 0, file, parts, document)
    if not parts.items:
        raise refuse("no-outputs", file, "The XML holds no segments.", "Give <doc> elements with <src>, <ref> and <hyp>.", 1)


def _add_block(block: Element, document: str, place: int, file: str, parts: Parts, segments: Element | None = None) -> None:
    """Add the segments of one <src>, <ref> or <hyp> (or of one document of a set)."""
    kind = _KINDS[block.tag.lower()]
    holder = block if segments is None else segments
    language = block.get("lang") or block.get("trglang")
    parts.set_languages(language if kind == "source" else block.get("srclang"), language if kind != "source" else None)
    name = {
        "source": "",
        "reference": block.get("translator") or block.get("refid") or holder.get("sysid") or "",
        "system": block.get("system") or block.get("sysid") or holder.get("sysid") or "",
    }[kind]
    if kind == "system" and not name:
        name = "system"
    if kind == "reference" and not name and any(key[0] == document for part in parts.of(kind) for key in part.texts):
        name = f"reference {place + 1}"
    part = parts.part(kind, name, file)
    for count, segment in enumerate(holder.iter("seg"), 1):
        text = " ".join("".join(segment.itertext()).split("\n")).strip()
        part.add((document, segment.get("id") or str(count)), text, int(segment.get(_LINE) or 0))


def _parse(text: str, file: str, findings: Findings) -> Element:
    try:
        return _tree(text, file)
    except ParseError as error:
        first = error
    repaired = _INVALID.sub("\ufffd", _BARE.sub("&amp;", text))
    if repaired != text:
        try:
            root = _tree(repaired, file)
        except ParseError:
            pass
        else:
            findings.add(
                "not-xml",
                file,
                f"The file is not valid XML ({_what(first)}); bare ampersands were read as text, and control characters "
                "became U+FFFD (�).",
                "Write & as &amp; and delete control characters.",
                first.position[0],
            )
            return root
    raise refuse(
        "not-xml",
        file,
        f"The XML is broken: {_what(first)}.",
        "Correct it there; if the file ends there, it was cut off.",
        first.position[0],
    )


def _what(error: ParseError) -> str:
    message, _, _ = str(error).partition(": line")
    return f"{message}, column {error.position[1] + 1}"


def _tree(text: str, file: str) -> Element:
    """Parse, with the line of every element; entities and external references are refused."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    builder = _Builder()
    parser = DefusedXMLParser(target=builder, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    builder.expat = parser.parser
    try:
        parser.feed(text)
        return parser.close()
    except DefusedXmlException:
        match = re.search(r"<!(ENTITY|DOCTYPE)", text)
        line = text.count("\n", 0, match.start()) + 1 if match else 1
        raise refuse(
            "xml-entities",
            file,
            "The XML declares entities or refers to other files; this can be used to read files or to exhaust memory.",
            "Delete the declarations.",
            line,
        ) from None


class _Builder(TreeBuilder):
    """Builds the tree and notes the line where each element begins."""

    expat: Any = None

    def start(self, tag: str, attrs: dict[str, str]) -> Element:
        return super().start(tag, attrs | {_LINE: str(self.expat.CurrentLineNumber)})
