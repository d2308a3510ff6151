"""Explanations as a stand-alone HTML page: a heatmap per text, values on hover and by keyboard, a legend per segment."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np

from engine.corpus.types import Corpus, ErrorSpan
from engine.explain.options import ExplainOptions
from engine.explain.results import Explained, Explanations, SideImportances
from engine.report.colours import SYSTEM_A, SYSTEM_B, UNDEFINED, contrast_text, diverging
from engine.report.page import escape, page

SHADES = 40
"""Shades on either side of zero; each is one CSS class."""

TONES = tuple(zip(SYSTEM_A, SYSTEM_B, strict=True))  # light: A and B; dark: A and B
MINUS = "\u2212"
_EXPLAINERS = {"erasure": "Erasure", "lime": "LIME", "shap": "SHAP"}

_STYLE = """
.text { margin: .15rem 0 .6rem; line-height: 2; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.label { font-size: .8rem; color: var(--soft); }
.name { font-weight: 600; border-inline-start: .35rem solid var(--line); padding-inline-start: .5rem; margin: .75rem 0 .1rem; }
.w { border-radius: .25rem; padding: .1rem .15rem; position: relative; cursor: default; }
.w:focus-visible { outline: 2px solid currentColor; outline-offset: 1px; }
.w:hover::after, .w:focus::after { content: attr(data-v); position: absolute; inset-inline-start: 0; bottom: 100%; z-index: 1;
  background: var(--ink); color: var(--page); font-size: .75rem; line-height: 1.4; padding: .1rem .35rem; border-radius: .25rem;
  white-space: nowrap; unicode-bidi: isolate; }
.legend { display: flex; flex-wrap: wrap; gap: .35rem; align-items: center; font-size: .8rem; color: var(--soft); }
.legend i { display: inline-block; width: 1.6rem; height: 1rem; border-radius: .2rem; }
u { text-decoration: underline 2px; text-underline-offset: .3em; text-decoration-skip-ink: none; }
u.minor { text-decoration-style: dashed; }
u.gap { text-decoration: none; } u.gap::before { content: "\\2038"; font-weight: 700; }
"""


def explanations_page(found: Explanations, corpus: Corpus) -> str:
    """All explanations of a corpus as one HTML page that needs nothing beside it.

    Systems of one segment stand together under one colour scale: blue words improve the score, red ones worsen it (for
    error rates too). Errors that the corpus marks are underlined.
    """
    spec = found.metric
    title = f"{spec.name} word by word: {corpus.name}"
    facts = [
        ("Metric", spec.signature),
        ("Explainer", explainer_line(found.options)),
        ("Outputs", f"{len(found.entries):,}"),
        ("Segments", f"{len({entry.segment for entry in found.entries}):,}"),
    ]
    ordered = sorted(found.entries, key=lambda entry: entry.segment)
    marks = _marks(corpus.spans)
    sections = [_section(list(entries), found, corpus, marks) for _, entries in groupby(ordered, key=lambda item: item.segment)]
    if not sections:
        sections = ['<p class="soft">There are no explanations.</p>\n']
    return page(title, "en", facts, sections, _STYLE + _shade_styles() + _tone_styles(corpus))


def explainer_line(options: ExplainOptions) -> str:
    """The explainer with the options that decide its numbers, in words."""
    name = _EXPLAINERS.get(options.explainer, options.explainer)
    parts = {
        "lime": [f"{options.samples} samples", f"seed {options.seed}"],
        "shap": [f"up to {options.evaluations} evaluations", f"seed {options.seed}"],
    }.get(options.explainer, [])
    mask = options.mask_word
    return ", ".join([name, *parts, f"mask {mask}" if mask else "words are removed"])


def _section(
    entries: Sequence[Explained], found: Explanations, corpus: Corpus, marks: dict[tuple[int, str, str], list[ErrorSpan]]
) -> str:
    number = entries[0].segment
    limit = _limit(entry.explanation.importances for entry in entries)
    own = f" \u00b7 id {corpus.ids[number]}" if corpus.ids is not None and corpus.ids[number] != str(number) else ""
    document = f" \u00b7 document {corpus.documents[number]}" if corpus.documents is not None else ""
    parts = [f"<section>\n<h2>Segment {number}{escape(own + document)}</h2>\n"]
    for entry in entries:
        place = list(corpus.systems).index(entry.system) if entry.system in corpus.systems else -1
        parts += _entry(entry, found, corpus, limit, place, marks)
    parts += [_legend(limit, found), "</section>\n"]
    return "".join(parts)


def _entry(
    entry: Explained,
    found: Explanations,
    corpus: Corpus,
    limit: float,
    place: int,
    marks: dict[tuple[int, str, str], list[ErrorSpan]],
) -> Iterator[str]:
    explanation, spec = entry.explanation, found.metric
    value = explanation.score
    score = "no score" if math.isnan(value) else f"{spec.name} {_number(value, _places(value))}"
    yield f'<div class="name s{place}">{escape(entry.system)} <span class="soft">{escape(score)}</span></div>\n'
    for note in filter(None, (explanation.undefined, *explanation.notes)):
        yield f'<p class="soft">{escape(note[:1].upper() + note[1:])}.</p>\n'
    for side in explanation.sides:
        language = corpus.languages[0 if side.side == "source" else 1]
        tongue = f' lang="{escape(language)}"' if language else ""
        own = marks.get((entry.segment, entry.system, side.side), [])
        words = "".join(_words(side, limit, spec.higher_is_better, own))
        yield f'<div class="label">{escape(_title(side.side))}</div>\n<p class="text" dir="auto"{tongue}>{words}</p>\n'


def _words(side: SideImportances, limit: float, higher_is_better: bool, marks: Sequence[ErrorSpan]) -> Iterator[str]:
    """The text with each word in its colour and the spaces as they are."""
    done, places = 0, _places(limit)
    for word, value in zip(side.words, side.importances.tolist(), strict=True):
        yield _pieces(side.text, done, word.start, marks)
        shown = "undefined" if math.isnan(value) else _number(value, places, sign=True)
        shade = _shade(value if higher_is_better else -value, limit)
        text = _pieces(side.text, word.start, word.end, marks)
        yield f'<span class="w {shade}" tabindex="0" data-v="{shown}" title="{shown}">{text}</span>'
        done = word.end
    yield _pieces(side.text, done, len(side.text), marks, last=True)
    if not side.text:
        yield '<span class="soft">(empty)</span>'


def _pieces(text: str, start: int, end: int, marks: Sequence[ErrorSpan], last: bool = False) -> str:
    """The text from `start` to `end`, marked errors underlined; a caret where something is missing."""
    near = [mark for mark in marks if mark.start <= end and mark.end >= start]
    cuts = sorted({start, end, *(edge for mark in near for edge in (mark.start, mark.end) if start < edge < end)})
    parts = []
    for left, right in pairwise(cuts):
        parts.append(_gap([mark for mark in near if mark.start == mark.end == left]))
        covering = [mark for mark in near if mark.start <= left and mark.end >= right]
        piece = escape(text[left:right])
        if covering:
            minor = ' class="minor"' if all(mark.severity.lower() == "minor" for mark in covering) else ""
            piece = f'<u{minor} title="{_described(covering)}">{piece}</u>'
        parts.append(piece)
    if last:
        parts.append(_gap([mark for mark in near if mark.start == mark.end == len(text)]))
    return "".join(parts)


def _gap(missing: Sequence[ErrorSpan]) -> str:
    return f'<u class="gap" title="{_described(missing)}"></u>' if missing else ""


def _described(marks: Sequence[ErrorSpan]) -> str:
    return escape("; ".join(" ".join(filter(None, (mark.category, mark.severity, mark.note))) for mark in marks))


def _marks(spans: Iterable[ErrorSpan]) -> dict[tuple[int, str, str], list[ErrorSpan]]:
    found: dict[tuple[int, str, str], list[ErrorSpan]] = {}
    for span in spans:
        found.setdefault((span.segment, span.system, span.side), []).append(span)
    return found


def _legend(limit: float, found: Explanations) -> str:
    swatches = "".join(f'<i class="{_shade(share * limit, limit)}"></i>' for share in (-1, -2 / 3, -1 / 3, 0, 1 / 3, 2 / 3, 1))
    way = 1 if found.metric.higher_is_better else -1
    low, high = (_number(side * way * limit, _places(limit), sign=True) for side in (-1, 1))
    return f'<div class="legend"><span>worsens the score {low}</span>{swatches}<span>{high} improves the score</span></div>\n'


def _limit(arrays: Iterable[np.ndarray]) -> float:
    tops = [float(np.nanmax(np.abs(values))) for values in arrays if len(values) and not np.isnan(values).all()]
    return max(tops, default=0.0) or 1.0


def _shade(value: float, limit: float) -> str:
    if math.isnan(value):
        return "x"
    step = round(max(-1.0, min(1.0, value / limit)) * SHADES)
    return f"{'n' if step < 0 else 'p'}{abs(step)}"


def _shade_styles() -> str:
    """One class per shade, and the same in the dark."""
    values = {_shade(step / SHADES, 1.0): step / SHADES for step in range(-SHADES, SHADES + 1)}

    def rules(dark: bool) -> str:
        pairs = {name: diverging(value, 1.0, dark) for name, value in values.items()}
        pairs["x"] = UNDEFINED[dark], contrast_text(UNDEFINED[dark])
        return "".join(f".{name}{{background:{back};color:{text}}}" for name, (back, text) in pairs.items())

    return rules(False) + "@media (prefers-color-scheme: dark){" + rules(True) + "}"


def _tone_styles(corpus: Corpus) -> str:
    """Amber and blue edges where the corpus has two systems."""
    if len(corpus.systems) != 2:
        return ""
    light, dark = ("".join(f".s{place}{{border-color:{tone}}}" for place, tone in enumerate(pair)) for pair in TONES)
    return light + "@media (prefers-color-scheme: dark){" + dark + "}"


def _title(side: str) -> str:
    name, _, number = side.partition(":")
    return f"{name.capitalize()} {int(number) + 1}" if number else name.capitalize()


def _places(largest: float) -> int:
    if not math.isfinite(largest) or largest == 0:
        return 2
    return min(6, max(0, 2 - math.floor(math.log10(abs(largest)))))


def _number(value: float, places: int, sign: bool = False) -> str:
    text = f"{value:+.{places}f}" if sign else f"{value:.{places}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", MINUS)
