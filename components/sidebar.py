"""The sidebar of every page: corpus, systems A and B, metric, running jobs."""

from __future__ import annotations

import streamlit as st

from components.job_progress import job_tray
from components.option_form import has_options, option_form
from components.states import plain
from components.uploads import readable
from components.workspace import Workspace
from engine.boost.metric import NAME
from engine.errors import InputError
from engine.metrics.registry import METRICS, options_type, split_name
from engine.options import from_pairs

BOOSTED = f"{NAME}:"
METRIC_HELP = "XBERTScore compares with the source and needs no reference; the others need references."
METRIC_TITLES = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "chrf++": "chrF++",
    "ter": "TER",
    "rouge-1": "ROUGE-1",
    "rouge-2": "ROUGE-2",
    "rouge-l": "ROUGE-L",
    "bertscore": "BERTScore",
    "xbertscore": "XBERTScore",
}


def draw_sidebar(work: Workspace) -> None:
    """Draw the choices that hold on all pages."""
    with st.sidebar:
        _corpus_picker(work)
        _system_pickers(work)
        _metric_picker(work)


def draw_jobs(work: Workspace) -> None:
    """Draw the job tray, once the page has started what it needs."""
    with st.sidebar:
        st.markdown("###### Jobs")
        job_tray(work)


def metric_title(name: str) -> str:
    """What a metric name is called on screen, its options included."""
    if name.startswith(BOOSTED):
        own, _, inner = name.removeprefix(BOOSTED).partition("metric=")
        point = [pair.replace("=", " ") for pair in own.split(",") if pair.startswith(("p=", "w="))]
        return f"{metric_title(inner)}, boosted ({', '.join(point)})"
    base, _, options = name.partition(":")
    title = METRIC_TITLES.get(base, base)
    return f"{title} ({options.replace(',', ', ')})" if options else title


def _corpus_picker(work: Workspace) -> None:
    titles = work.corpora()
    names = list(titles)
    if work.view["corpus"] not in names:
        names = [work.view["corpus"], *names]
    st.selectbox(
        "Corpus",
        names,
        format_func=lambda name: titles.get(name, f"not here: {readable(name)}"),
        help="Samples, and what you upload on the Corpus page.",
        **work.bound("corpus", names, then=lambda: work.set(a="", b="", segment=0, page=1, find="", only=())),
    )


def _system_pickers(work: Workspace) -> None:
    corpus = work.corpus
    if corpus is None:
        return
    names = list(corpus.systems)
    a, b = work.systems(corpus)
    if a == b:
        work.set(a=a, b="")
        st.selectbox("System", names, **work.bound("a", names))
        return
    work.set(a=a, b=b)
    st.selectbox("System A", names, **work.bound("a", names, then=lambda: _keep_apart(work, "b", a)))
    row = st.container(horizontal=True, wrap=False, vertical_alignment="bottom", gap="small")
    row.selectbox("System B", names, **work.bound("b", names, then=lambda: _keep_apart(work, "a", b)))
    row.button("", icon=":material/swap_vert:", help="Swap A and B", key="swap", on_click=work.set, kwargs={"a": b, "b": a})


def _keep_apart(work: Workspace, other: str, before: str) -> None:
    """Where one system was chosen as both A and B, the other one takes the place that it left."""
    if work.view["a"] == work.view["b"]:
        work.set(**{other: before})


def _metric_picker(work: Workspace) -> None:
    chosen = work.view["metric"]
    name, pairs, fault = _split(chosen)
    row = st.container(horizontal=True, wrap=False, vertical_alignment="bottom", gap="small")
    names = list(METRICS) if name in METRICS else [chosen, *METRICS]

    def title(item: str) -> str:
        return f"not valid: {item}" if fault and item == chosen else metric_title(item)

    row.selectbox("Metric", names, format_func=title, help=METRIC_HELP, **work.bound("metric", names, show=lambda _: name))
    if fault and work.corpus is None:  # otherwise the page says so
        st.caption(f":red[{plain(fault)}]")
    if name not in METRICS or not has_options(options_type(name)):
        return
    options = options_type(name)

    def save(written: dict[str, str]) -> None:
        work.set(metric=name + ":" * bool(written) + ",".join(f"{key}={text}" for key, text in written.items()))

    with row.popover("", icon=":material/tune:", help=f"More options of {metric_title(name)}"):
        st.markdown(f"**{metric_title(name)} options**")
        option_form(options, pairs, work, f"metric-{name}", save)


def _split(text: str) -> tuple[str, dict[str, str], str]:
    """The metric's name and options, and nothing; or the text as it is, and what is wrong with it. A boosted one stays whole."""
    if text.startswith(BOOSTED):
        return text, {}, ""
    try:
        name, pairs = split_name(text)
        from_pairs(options_type(name), pairs, f"metric {name!r}")
    except InputError as error:
        return text, {}, str(error)
    return name, pairs, ""
