"""What kind of file is this? Decided by its content; the name is only a hint."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.corpus.decode import decode, report_lone_returns
from engine.corpus.delimited import read_delimited
from engine.corpus.files import Blob, is_zip, zip_names
from engine.corpus.findings import Findings, Refused, refuse
from engine.corpus.grid import Grid
from engine.corpus.json_records import read_json
from engine.corpus.json_text import looks_like_json
from engine.corpus.scores import ScoreFile, recognise_scores
from engine.corpus.sgm import looks_like_sgm
from engine.corpus.wmt_xml import looks_like_xml
from engine.corpus.xlsx import is_workbook, read_xlsx


@dataclass(frozen=True)
class Piece:
    """A file and what it turned out to be: exactly one of the fields after `file` is set.

    Attributes
    ----------
    text : plain text, decoded.
    sgm, xml : markup, decoded.
    grid : a table (TSV, CSV, XLSX, JSON, JSONL).
    scores : nothing but scores.
    archive : the bytes of a zip archive.
    """

    file: str
    text: str | None = None
    sgm: str | None = None
    xml: str | None = None
    grid: Grid | None = None
    scores: ScoreFile | None = None
    archive: bytes | None = None


def recognise(blob: Blob, findings: Findings) -> Piece:
    """Read a file as what it is.

    Raises
    ------
    Refused : what cannot be read, with the reason.
    """
    file = blob.name
    data = blob.read()
    if not data:
        raise refuse("empty-file", file, "The file is empty.", "Give a file that holds at least one line.")
    if is_zip(data):
        return _zip(data, file, findings)
    text = decode(data, file, findings)
    if not text.strip("\n\r"):
        if not text:
            raise refuse(
                "empty-file", file, "The file holds nothing but a byte order mark.", "Give a file that holds at least one line."
            )
        return Piece(file, text=text)
    if looks_like_sgm(text) and not text.lstrip().startswith("<?xml"):
        return Piece(file, sgm=text)
    if looks_like_xml(text):
        return Piece(file, xml=text)
    if looks_like_json(text, file):
        report_lone_returns(text, file, findings)
        return Piece(file, grid=read_json(text, file, findings))
    scores = recognise_scores(text, file, findings)
    if scores is not None:
        return Piece(file, scores=scores)
    tables = Findings()
    try:
        grid = read_delimited(text, file, tables)
    except Refused:
        report_lone_returns(text, file, findings)
        findings.extend(tables.done())
        raise
    if grid is None:
        return Piece(file, text=text)
    report_lone_returns(text, file, findings)
    findings.extend(tables.done())
    return Piece(file, grid=grid)


def _zip(data: bytes, file: str, findings: Findings) -> Piece:
    names = zip_names(data)
    if is_workbook(names):
        return Piece(file, grid=read_xlsx(data, file, findings))
    if any(re.search(r"(^|/)data\.pkl$|\.npy$", name) for name in names):
        raise refuse(
            "pickle",
            file,
            "This is a saved model or array (it holds Python pickles); reading it could run any program, so it was not opened.",
            "Export the texts as JSONL, TSV or plain text.",
        )
    for marker, what in (
        ("word/document.xml", "a Word document"),
        ("ppt/presentation.xml", "a presentation"),
        ("mimetype", "an OpenDocument or EPUB file"),
        ("xl/workbook.bin", "a binary workbook (.xlsb)"),
    ):
        if marker in names:
            raise refuse(
                "binary",
                file,
                f"This is {what}, which cannot be read.",
                "Save the table as .xlsx or CSV (UTF-8), or the text as plain text (UTF-8).",
            )
    return Piece(file, archive=data)
