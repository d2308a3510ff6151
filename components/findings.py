"""What the import doctor found: grouped by kind, the gravest first, each with file, line and remedy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

import pandas as pd
import streamlit as st

from components.downloads import download_csv
from components.numbers import count
from components.states import plain
from engine.corpus.types import Finding

GRAVITY = {"fatal": 0, "warning": 1, "note": 2}
LOOKS = {
    "fatal": (":red[:material/error:]", "fatal problem"),
    "warning": (":orange[:material/warning:]", "warning"),
    "note": (":gray[:material/info:]", "note"),
}
SHOWN_PER_KIND = 8
TITLES = {
    "bom": "Byte order mark",
    "inner-bom": "Byte order mark inside a text",
    "lone-cr": "Lone carriage returns",
    "nul": "NUL characters",
    "not-json": "Not JSON",
    "not-nfc": "Not in Unicode form NFC",
    "not-xml": "Not XML",
}
_SAY = "Say in the upload box, with the files in it, what each file is."
CONTROLS = {
    "wrong (--langs": "Where that is wrong, set the languages of the upload.",
    "--langs": "Choose the language pair in the upload box, with the files in it.",
    "--columns": "Say in the upload box, with the file in it, which column is what.",
    "--source": _SAY,
    "--reference": _SAY,
    "--system": _SAY,
}
"""A flag of the command line in a remedy → the control on the page that does the same."""


def show_findings(findings: Sequence[Finding], key: str, expanded: bool | None = None) -> None:
    """Draw the findings in one box; nothing at all where there are none.

    `expanded` says whether it is open; when None, it is where anything is worse than a note.
    """
    if not findings:
        return
    ordered = sorted(findings, key=lambda item: (GRAVITY[item.severity], item.kind, item.file, item.line or 0))
    if expanded is None:
        expanded = ordered[0].severity != "note"
    with st.expander(
        f"Import doctor: {summary(ordered)}", expanded=expanded, icon=":material/stethoscope:", key=f"findings-{key}"
    ):
        for (severity, kind), group in groupby(ordered, key=lambda item: (item.severity, item.kind)):
            _one_kind(severity, kind, list(group))
        download_csv(_frame(ordered), "findings", key=f"findings-{key}", label="Findings as CSV")


def summary(findings: Sequence[Finding]) -> str:
    """`1 fatal problem, 2 warnings, 3 notes`."""
    amounts = {severity: sum(item.severity == severity for item in findings) for severity in GRAVITY}
    return ", ".join(count(amount, LOOKS[severity][1]) for severity, amount in amounts.items() if amount)


def _one_kind(severity: str, kind: str, group: list[Finding]) -> None:
    icon, _ = LOOKS[severity]
    places = f" :gray[\u00b7 {len(group):,} places]" if len(group) > 1 else ""
    lines = [f"{icon} **{plain(kind_title(kind))}**{places}"]
    for item in group[:SHOWN_PER_KIND]:
        place = item.file + (f", line {item.line:,}" if item.line is not None else "")
        lines.append((f":gray[{plain(place)}] \u2003" if place else "") + plain(item.message))
    if len(group) > SHOWN_PER_KIND:
        lines.append(f":gray[and {len(group) - SHOWN_PER_KIND:,} more; the download has all of them]")
    remedies = list(dict.fromkeys(filter(None, (on_screen(item.remedy) for item in group))))
    if remedies:
        lines.append(":gray[:material/build:] " + " ".join(plain(remedy) for remedy in remedies[:3]))
    st.markdown("  \n".join(lines))


def kind_title(kind: str) -> str:
    """What a kind of finding is called on screen."""
    text = kind.replace("-", " ")
    return TITLES.get(kind, text[:1].upper() + text[1:])


def on_screen(remedy: str) -> str:
    """A remedy in the page's terms: where it names flags of the command line, the control that does the same."""
    for flag, control in CONTROLS.items():
        if flag in remedy:
            return control
    return re.sub(r"\s*\([^()]*--[^()]*\)", "", remedy)


def _frame(findings: Sequence[Finding]) -> pd.DataFrame:
    columns = ("kind", "severity", "file", "line", "message", "remedy")
    frame = pd.DataFrame([[getattr(item, name) for name in columns] for item in findings], columns=list(columns))
    return frame.astype({"line": "Int64"})
