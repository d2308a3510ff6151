"""Texts with a feature's words marked, as HTML. Every text of the user is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from components.charts import is_dark
from engine.muler.segments import Span
from engine.report.colours import AMOUNT, SYSTEM_A, SYSTEM_B

TONES = {"a": SYSTEM_A, "b": SYSTEM_B, "": AMOUNT}
"""The colour of each kind of text: A, B, and what both share."""


def style() -> str:
    """The style sheet of the texts."""
    dark = is_dark()
    faint, ground, on_tag = ("#8d999e", "#323c41", "#000") if dark else ("#5f6b71", "#e8edee", "#fff")
    tones = "".join(_tone(name, colours[dark]) for name, colours in TONES.items())
    return f"""<style>
.fx {{ display: grid; grid-template-columns: minmax(0, 9.5rem) minmax(0, 1fr); gap: 0.3rem 0.75rem; align-items: baseline; }}
.fx .who {{ font-size: 0.8rem; color: {faint}; overflow-wrap: anywhere; }}
.fx .who b {{ border-radius: 0.3rem; padding: 0 0.35rem; margin-inline-end: 0.35rem; color: {on_tag}; }}
.fx .tx {{ line-height: 1.75; overflow-wrap: anywhere; white-space: pre-wrap; min-width: 0; text-align: start; }}
.fx .tx.none {{ color: {faint}; font-style: italic; }}
.fx mark {{ color: inherit; border-radius: 0.25rem; padding: 0.08em 0.18em; }}
.fx mark {{ box-decoration-break: clone; -webkit-box-decoration-break: clone; }}
.fx details {{ grid-column: 1 / -1; }}
.fx summary {{ cursor: pointer; font-size: 0.85rem; color: {faint}; width: fit-content; }}
.fx details .fx {{ margin-top: 0.4rem; }}
.fx .note {{ font-size: 0.8rem; color: {faint}; margin-top: 0.4rem; }}
.fx code {{ font-size: 0.85em; padding: 0.05em 0.25em; border-radius: 0.25rem; background: {ground}; color: inherit; }}
@media (max-width: 900px) {{ .fx {{ grid-template-columns: minmax(0, 1fr); gap: 0.1rem; }} .fx .tx {{ margin-bottom: 0.4rem; }} }}
{tones}</style>"""


def _tone(name: str, colour: str) -> str:
    row = f".fx .t{name}"
    return (
        f"{row}.who b {{ background: {colour}; }}\n"
        f"{row} mark {{ background: color-mix(in srgb, {colour} 16%, transparent); }}\n"
        f"{row} mark.lone {{ background: color-mix(in srgb, {colour} 34%, transparent); box-shadow: inset 0 -2px 0 {colour}; }}\n"
    )


def text_row(who: str, tag: str, text: str | None, spans: Sequence[Span], lone: Sequence[bool], tone: str, language: str) -> str:
    """A text with its label.

    Parameters
    ----------
    tag : A or B on a coloured ground; empty for references.
    lone : for each span, whether the other side does not have its words.
    tone : a, b or empty; the colour of the marks.
    """
    label = (f"<b>{escape(tag)}</b>" if tag else "") + f"<bdi>{escape(who)}</bdi>"
    if text is None or not text.strip():
        body = f'<div class="tx none">{"no text" if text is None else "empty text"}</div>'
    else:
        lang = f' lang="{escape(language, quote=True)}"' if language else ""
        body = f'<div class="tx t{tone}" dir="auto"{lang}>{marked(text, spans, lone)}</div>'
    return f'<div class="who t{tone}">{label}</div>{body}'


def marked(text: str, spans: Sequence[Span], lone: Sequence[bool]) -> str:
    """A text with the spans marked."""
    parts, place = [], 0
    for (start, end), alone in zip(spans, lone, strict=True):
        name = "lone" if alone else "both"
        title = "only on this side" if alone else "on the other side, too"
        parts += [escape(text[place:start]), f'<mark class="{name}" title="{title}">{escape(text[start:end])}</mark>']
        place = end
    return "".join([*parts, escape(text[place:])])


def lone_spans(text: str, spans: Sequence[Span], others: Sequence[tuple[str, Sequence[Span]]]) -> list[bool]:
    """For each span, whether its words (whatever their case) are in none of the `others`, texts with their spans.

    Each word of the others counts once, for the span that stands most nearly where it stands; of several others, the one that
    has it most often counts.
    """
    held = [_places(*other) for other in others]
    found = [True] * len(spans)
    for word, ours in _places(text, spans).items():
        theirs = max((places.get(word, []) for places in held), key=len, default=[])
        pairs = sorted((abs(own - their), i, j) for i, (own, _) in enumerate(ours) for j, (their, _) in enumerate(theirs))
        taken: tuple[set[int], set[int]] = set(), set()
        for _, i, j in pairs:
            if i not in taken[0] and j not in taken[1]:
                taken[0].add(i)
                taken[1].add(j)
                found[ours[i][1]] = False
    return found


def _places(text: str, spans: Sequence[Span]) -> dict[str, list[tuple[float, int]]]:
    """Where each word is: how far into the text (0 … 1), and the number of its span."""
    places: dict[str, list[tuple[float, int]]] = {}
    for number, (start, end) in enumerate(spans):
        places.setdefault(text[start:end].casefold(), []).append((start / max(1, len(text)), number))
    return places


def folded(title: str, rows: Sequence[str], note: str = "") -> str:
    """Rows that are unfolded by a click, and a note below."""
    below = f'<div class="note">{escape(note)}</div>' if note else ""
    return f'<details><summary>{escape(title)}</summary><div class="fx">{"".join(rows)}</div>{below}</details>'


def masked_row(who: str, text: str | None, feature: str) -> str:
    """A text in which masks are written in brackets, with its label."""
    return f'<div class="who"><bdi>{escape(who)}</bdi></div><div class="tx" dir="auto">{masked_text(text or "", feature)}</div>'


def masked_text(text: str, feature: str) -> str:
    """A text in which masks are written in brackets, as HTML."""
    pattern = re.compile(rf"\[(?:{re.escape(feature)}|[XY]\d+)\]\d*")
    shown, place = [], 0
    for match in pattern.finditer(text):
        shown += [escape(text[place : match.start()]), f"<code>{escape(match[0])}</code>"]
        place = match.end()
    return "".join([*shown, escape(text[place:])])
