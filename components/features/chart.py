"""Bars per feature, A above B, with 95% intervals and counts; or where the score stands between anti-oracle and oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from components.charts import footnote
from components.features.bar_data import bar_frame, cut, ends, row_frame
from components.features.rows import FeatureRow
from components.features.runs import Study
from components.numbers import score_places
from components.states import plain
from components.vega import Spec, clickable, draw, faint, ink, layer, number_field, text_field
from components.workspace import Workspace

ROW, HEAD, AXIS = 34, 26, 63  # pixels
NARROW = 520  # pixels of the chart below which the counts are left to the table
LEFT = f"width < {NARROW} ? 118 : 168"
RIGHT = {True: f"width < {NARROW} ? width - 62 : width - 236", False: f"width < {NARROW} ? width - 10 : width - 176"}
"""Where the bars begin and end, in pixels; beside them stand names and, with two systems or one, the columns of numbers."""

TINTS = ("orange", "blue")
"""What the colours of A and B are called in Markdown; the style sheet puts a square before what they tint."""

TONE: Spec = {"field": "tone", "type": "nominal", "scale": None}


def show_bars(study: Study, rows: Sequence[FeatureRow], value: str, chosen: str) -> None:
    """Draw the features in `rows`; a click on a bar chooses its feature and system.

    Parameters
    ----------
    value : a key of `components.features.names.VALUES`.
    chosen : the id of the feature that is looked at below.
    """
    spec, pair = study.metric.spec, len(study.systems) > 1
    places = score_places(spec.range)
    frame, names = bar_frame(rows, study.systems, value, places), row_frame(rows, value, places)
    title = _title(value, spec.name)
    domain = ends(frame, value)
    axis = {"title": title, "scale": _scale(domain, pair), "axis": {"grid": True, "tickCount": 6}}
    marks = _dots(axis) if value == "scores" else _bars(axis, len(rows))
    bars, arrows = cut(frame, *domain)
    missing, looked_at = frame[frame["value"].isna()], names[names["feature"] == chosen]
    data = {"bars": bars, "arrows": arrows, "missing": missing, "all": frame, "names": names, "chosen": looked_at}
    layers = [_ground(len(rows)), *marks, _missing(axis), *_columns(pair, value), *_names(), _targets(spec.name, value)]
    height = HEAD + ROW * len(rows) + AXIS
    said = f"{title}; {len(rows)} features, {' and '.join(study.systems)}"
    note = footnote(study.corpus, spec)
    draw(layers, data, f"features-{value}", said, height, study.work, "bar", _choose(study.work), note)


def show_legend(study: Study, value: str) -> None:
    """What the colours, the columns and the ends of the scale mean; not what a narrow chart leaves out."""
    names = [f":{colour}[{tag} {plain(name)}]" for colour, tag, name in zip(TINTS, "AB", study.systems)]
    said = {
        "muler": "0: nothing of the reachable gain is missed; 1: all of it. Thin lines: 95% intervals; arrows: they go on.",
        "abl_muler": "how far the score would move if the feature were right throughout. Thin lines: 95% intervals.",
        "scores": "left end: the feature wrong throughout; right end: right throughout.",
    }[value]
    star = " *: the paired interval of A \u2212 B leaves out 0." if len(study.systems) > 1 else ""
    with st.container(key="features-legend", gap="xxsmall"):
        st.caption(f"{' '.join(names)} \u00b7 {said}{star} Grey band: the feature below. Click a row to see its segments there.")
        with st.container(key="features-legend-counts"):
            st.caption(counts_note(study.asked.options.sentences))


def counts_note(sentences: str) -> str:
    """What the columns of counts count, in words.

    Parameters
    ----------
    sentences : the option of the breakdown.
    """
    where = "in both output and reference" if sentences == "both" else "in output or reference"
    return (
        f"Sentences: those with the feature {where}. More, same, fewer: how many of these have it more often in the output than "
        "in the reference, as often, less often."
    )


def _choose(work: Workspace) -> Callable[[Spec], None]:
    return lambda point: work.set(feature=point["feature"], whose="b" if point.get("part") == "B" else "a", leaf=1)


def _title(value: str, metric: str) -> str:
    return {
        "muler": "MuLER: share of the reachable gain that is missed",
        "abl_muler": f"abl-MuLER: {metric} to gain with the feature right",
        "scores": f"{metric} as it is (dot), between anti-oracle and oracle (line)",
    }[value]


def _scale(domain: list[float], pair: bool) -> Spec:
    return {"domain": domain, "nice": False, "zero": False, "range": [{"expr": LEFT}, {"expr": RIGHT[pair]}]}


def _ground(rows: int) -> Spec:
    """The feature that is looked at, on a ground of its own."""
    scale = {"domain": [rows - 0.5, -0.5 - HEAD / ROW], "nice": False, "zero": False}
    place = {"y": number_field("y1", scale=scale, axis=None), "y2": {"field": "y2"}, "x": {"value": 0}, "x2": {"value": "width"}}
    edges = [{"calculate": "datum.y - 0.5", "as": "y1"}, {"calculate": "datum.y + 0.5", "as": "y2"}]
    return {**layer("chosen", "rect", place, color=ink(), opacity=0.08, cornerRadius=4), "transform": edges}


def _bars(axis: Spec, rows: int) -> list[Spec]:
    bar = {"y": _across("y1"), "y2": {"field": "y2"}, "x": number_field("start", **axis), "x2": {"field": "value"}, "color": TONE}
    whisker = {"y": _across("middle"), "x": number_field("low", **axis), "x2": {"field": "high"}}
    arrow = {"y": _across("middle"), "x": number_field("x", **axis), "text": text_field("arrow")}
    zero = {"y": _across("y1"), "y2": {"field": "y2"}, "x": number_field("start", **axis)}
    return [
        layer("bars", "rect", bar, opacity=0.85),
        layer("bars", "rule", whisker, color=ink(), strokeWidth=1.4),
        layer("arrows", "text", arrow, color=ink(), fontSize=13),
        layer([{"start": 0, "y1": -0.5, "y2": rows - 0.5}], "rule", zero, color=faint(), strokeWidth=1),
    ]


def _dots(axis: Spec) -> list[Spec]:
    line = {"y": _across("middle"), "x": number_field("anti_oracle", **axis), "x2": {"field": "oracle"}, "color": TONE}
    dot = {"y": _across("middle"), "x": number_field("value", **axis), "color": TONE}
    return [
        layer("bars", "rule", line, strokeWidth=5, opacity=0.3),
        layer("bars", "point", dot, filled=True, size=70, opacity=1),
    ]


def _missing(axis: Spec) -> Spec:
    place = {"y": _across("middle"), "x": number_field("start", **axis), "text": text_field("shown")}
    return layer("missing", "text", place, align="left", dx=4, color=faint(), fontSize=11)


def _names() -> list[Spec]:
    place = {"y": _across("y"), "x": {"value": 0}, "text": text_field("name")}
    look: Spec = {"align": "left", "dx": 8, "fontSize": 13, "limit": {"expr": f"{LEFT} - 18"}}
    return [layer("names", "text", place, color=ink(), **look)]


def _columns(pair: bool, value: str) -> list[Spec]:
    """What stands at the right: the difference, the sentences, how many outputs have the feature more, as, less often."""
    wide = {"expr": f"width < {NARROW} ? 0 : 1"}
    right = {
        "delta": {"expr": f"width < {NARROW} ? width : width - 160"},
        "n": {"expr": "width - 100"},
        "counts": {"expr": "width"},
    }
    titles = {
        "delta": "A \u2212 B" if value != "scores" else "MuLER A \u2212 B",
        "n": "sentences",
        "counts": "more \u00b7 same \u00b7 fewer",
    }
    layers = []
    for name, end in right.items():
        look: Spec = {"align": "right", "fontSize": 11, "opacity": 1 if name == "delta" else wide, "dx": -4}
        head = {"y": _across("y"), "x": {"value": end}, "text": text_field("text")}
        body = {"y": _across("y" if name == "delta" else "middle"), "x": {"value": end}, "text": text_field(name)}
        if name == "delta" and not pair:
            continue
        layers.append(layer([{"y": -0.5 - HEAD / ROW / 2, "text": titles[name]}], "text", head, color=faint(), **look))
        if name == "delta":
            look |= {"fontWeight": {"expr": "datum.certain ? 700 : 400"}, "color": ink()}
            layers.append(layer("names", "text", body, **look))
        else:
            layers.append(layer("all", "text", {**body, "color": TONE}, **look))
    return layers


def _targets(metric: str, value: str) -> Spec:
    """Invisible, as wide as the chart, without gaps between rows: what is clicked, and what the tooltip hangs on."""
    tips = [
        text_field("title", title="feature"),
        text_field("feature", title="id"),
        text_field("system"),
        text_field("muler", title="MuLER"),
        *([text_field("shown", title="abl-MuLER")] if value == "abl_muler" else []),
        *([text_field("interval", title="95% interval")] if value != "scores" else []),
        text_field("between", title=f"{metric}; oracle; anti-oracle"),
        number_field("n", title="sentences"),
        text_field("counts", title="more \u00b7 same \u00b7 fewer in output"),
        text_field("held", title="in references and output"),
        text_field("reason", title="note"),
    ]
    place = {"y": _across("top"), "y2": {"field": "bottom"}, "x": {"value": 0}, "x2": {"value": "width"}, "tooltip": tips}
    return clickable(layer("all", "rect", place, opacity=0, cursor="pointer"), "bar", ["feature", "part"])


def _across(name: str) -> Spec:
    """A place in the rows."""
    return number_field(name, axis=None)
