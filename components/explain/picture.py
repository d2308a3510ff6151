"""What a saved picture of a segment is called, and the caption that says where it comes from."""

from __future__ import annotations

from components.downloads import file_name
from components.explain.segment_picker import segment_place
from engine.corpus.types import Corpus
from engine.explain.options import ExplainOptions
from engine.metrics.base import MetricSpec
from engine.report.html import explainer_line


def segment_file(corpus: Corpus, spec: MetricSpec, explainer: str, segment: int) -> str:
    """The name of what is saved of one segment: corpus, metric, explainer, segment and, where it has one, its id."""
    own = corpus.ids[segment] if corpus.ids is not None and corpus.ids[segment] != str(segment) else ""
    return file_name("explain", corpus.name, spec.id, explainer, f"segment-{segment}", own)


def segment_caption(corpus: Corpus, spec: MetricSpec, options: ExplainOptions | None, segment: int, more: str = "") -> list[str]:
    """Two lines below a picture: corpus, segment and explainer (None: several of them); the metric's signature."""
    explainer = explainer_line(options) if options is not None else ""
    place = segment_place(corpus, segment)
    where = f"Segment {segment}" + (f" ({place})" if place else "")
    return [" \u00b7 ".join(filter(None, [corpus.name, where, more, explainer])), f"{spec.name}: {spec.signature}"]
