"""The workspace: everything that one browser session knows. The only place that touches Streamlit's session state."""

from __future__ import annotations

import runpy
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from components import address, services
from components.results import Results
from components.uploads import PREFIX, Upload, Uploads
from engine.corpus.types import Corpus, Finding
from engine.metrics.base import Metric

ENTRY = Path(__file__).resolve().parents[1] / "app.py"
STATE_KEY = "plumbline"
REFERENCE_FREE = "xbertscore"  # the metric for a corpus without references
GRACE = 10.0  # seconds after which the jobs of a user who has left are cancelled


@dataclass
class Workspace(Results):
    """State of one session. `view` is what the address says; nothing else survives a reload, save the uploads on disk."""

    view: dict[str, Any] = field(default_factory=address.defaults)
    page: str = ""
    uploads: Uploads = field(init=False)
    drafts: dict[Hashable, Any] = field(default_factory=dict)
    destination: str = ""
    notice: str = ""
    entered: bool = False
    _left: float = float("inf")
    _written: list[tuple[float, dict[str, str]]] = field(default_factory=list)
    _passed: dict[tuple[str, frozenset[tuple[str, str]]], dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.uploads = Uploads(self.page_jobs)

    # ---- the user ----

    def stay(self) -> None:
        """Note that the user is here."""
        self._left = float("inf")
        _presence(self)

    def leave(self) -> None:
        """The tab is closed, loaded anew or out of reach: its jobs are cancelled unless the user is back in a moment."""
        self._left = time.monotonic()
        timer = threading.Timer(GRACE, self._stop_jobs)
        timer.daemon = True
        timer.start()

    def _stop_jobs(self) -> None:
        if time.monotonic() >= self._left + GRACE:
            self.cancel_all()

    # ---- the address ----

    def open(self, page: str) -> None:
        """Take over what the address says when it is not what this session wrote, and note which page is open."""
        moved = page != self.page
        self.awaited = []
        self.page = page
        given = st.query_params.to_dict()
        given = self._passed.get((page, frozenset(given.items())), given)
        if given and not self._own(given):
            fresh = {**self.view, **address.PAGES.get(page, {})} if moved and self._written else address.defaults()
            self.view = {**fresh, **address.parse(given)}
        for name in ("corpus", "on"):
            found = self.uploads.find(self.view[name])
            self.view[name] = found.name if found else self.view[name]
        self.publish()

    def publish(self) -> None:
        """Write the view to the address."""
        wanted = address.write(self.view, self.page)
        if st.query_params.to_dict() != wanted:
            st.query_params.from_dict(wanted)
        self._passed.pop((self.page, frozenset(wanted.items())), None)
        if not self._written or self._written[-1][1] != wanted:
            self._written = [*self._written[-4:], (time.monotonic(), wanted)]

    def take_to(self, page: str) -> dict[str, str]:
        """The address to switch to another page with.

        The browser writes it down before it gets the page's name: Back comes past this page under the address of the other.
        `open` knows it by that, and shows the page as it was left.
        """
        wanted = address.write(self.view, page)
        if self._written:
            self._passed[self.page, frozenset(wanted.items())] = self._written[-1][1]
        return wanted

    def _own(self, given: dict[str, str]) -> bool:
        """True where this session wrote the address: the last time, or a moment ago (the browser lags behind)."""
        now = time.monotonic()
        recent = [wanted for moment, wanted in self._written[:-1] if now - moment < 2.0]
        return bool(self._written) and given in [self._written[-1][1], *recent]

    def set(self, **values: Any) -> None:
        """Change the view."""
        self.view.update(values)

    def go(self, page: str, /, **values: Any) -> None:
        """Change the view and go to another page at the next chance (the entry does it)."""
        self.set(**values)
        self.destination = page

    def one_of(self, name: str, options: Sequence[Any]) -> Any:
        """The view's value; the first of the options where it holds something else, as `bound` shows it."""
        return _among(self.view[name], options)

    def tied(self, key: str, value: Any, save: Callable[[Any], None], preset: bool = True) -> dict[str, Any]:
        """Arguments that tie a widget to a value kept elsewhere: it shows `value`, and `save` gets what the user chooses.

        Without `preset` the widget is given the value as its default, under a key that changes with it.
        """
        if preset:
            st.session_state[key] = value
        else:
            key = f"{key}-{value}"
        return {"key": key, "on_change": lambda: save(st.session_state[key])}

    def bound(
        self,
        name: str,
        options: Sequence[Any] | None = None,
        *,
        show: Callable[[Any], Any] = lambda value: value,
        then: Callable[[], None] = lambda: None,
    ) -> dict[str, Any]:
        """Arguments that tie a widget to a value of the view.

        Parameters
        ----------
        name : the value's name in the view.
        options : what may be chosen; where the view holds something else, the first of them is shown.
        show : turns the view's value into the widget's.
        then : called after a choice.
        """
        value = show(self.view[name])
        if options is not None:
            value = _among(value, options)
        default = address.defaults()[name]

        def save(chosen: Any) -> None:
            if isinstance(default, tuple):
                self.view[name] = tuple(chosen)
            else:
                self.view[name] = default if chosen is None else chosen
            then()

        return self.tied(f"view-{name}", list(value) if isinstance(value, tuple) else value, save)

    def read(self, key: str, default: Any = None) -> Any:
        """What the widget with this key holds now."""
        return st.session_state.get(key, default)

    def remembered(self, name: str, default: Any) -> dict[str, Any]:
        """Arguments that tie a widget to a draft: kept while the session lasts, not in the address."""
        return self.tied(f"draft-{name}", self.drafts.setdefault(name, default), lambda value: self.drafts.update({name: value}))

    # ---- the corpus, the systems, the metric ----

    def corpora(self) -> dict[str, str]:
        """Corpora to choose from: identifier → title."""
        own = {upload.name: f"Upload: {upload.corpus.name}" for upload in self.uploads}
        return own | services.samples()

    def add_upload(self, corpus: Corpus, findings: tuple[Finding, ...]) -> str:
        """Keep an uploaded corpus, choose it, and return its identifier."""
        missing = self.view["corpus"].startswith(PREFIX) and self.corpus is None
        name = self.uploads.add(corpus, findings).name
        if missing and {self.view["a"], self.view["b"]} <= {"", *corpus.systems}:  # a link asked for what is there now
            self.set(corpus=name)
            return name
        self.set(corpus=name, a="", b="", segment=0, page=1, find="", only=(), low="", high="")
        if not corpus.reference_count and not self.view["metric"].startswith(REFERENCE_FREE):
            self.set(metric=REFERENCE_FREE)
        return name

    def delete_upload(self, name: str) -> None:
        """Remove an upload from this computer, and all that this session has computed."""
        fault = self.uploads.delete(name)
        if fault:
            self.notice = fault
            return
        self.drafts = {"upload turn": self.drafts.get("upload turn", 0) + 1}
        self.forget()
        self.set(**{key: value for key, value in address.defaults().items() if key != "metric"})
        self.notice = "The upload is deleted."

    @property
    def upload(self) -> Upload | None:
        """The chosen corpus, where it is an upload."""
        return self.uploads.find(self.view["corpus"])

    @property
    def corpus(self) -> Corpus | None:
        """The chosen corpus; None where the address names one that is not on this computer."""
        return self.corpus_called(self.view["corpus"])

    def corpus_called(self, name: str) -> Corpus | None:
        """The corpus with this identifier, a sample or an upload; None where there is none."""
        if name in services.samples():
            return services.sample(name.removeprefix(services.DEMO))
        upload = self.uploads.find(name)
        return upload.corpus if upload else None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the import doctor said of the chosen corpus."""
        return self.upload.findings if self.upload else ()

    def systems(self, corpus: Corpus) -> tuple[str, str]:
        """Systems A and B, never the same unless there is only one; the first two of the corpus unless others were chosen."""
        names = list(corpus.systems)
        a, b = self.view["a"], self.view["b"]
        first = a if a in names else next((name for name in names if name != b), names[0])
        others = [name for name in names if name != first] or [first]
        return first, b if b in others else others[0]

    def metric(self, corpus: Corpus, name: str | None = None) -> Metric:
        """The chosen metric (or the named one) for the languages of `corpus`.

        Raises
        ------
        InputError : an unknown name or bad options.
        """
        name = name or self.view["metric"]
        made = services.metric(name, corpus.languages)
        if not hasattr(made, "bind_corpus"):
            return made
        return self.cached(("metric", name, corpus.hash), lambda: made.bind_corpus(corpus))


def workspace() -> Workspace:
    """The workspace of the session that asks."""
    if STATE_KEY not in st.session_state:
        st.session_state[STATE_KEY] = Workspace()
    st.session_state[STATE_KEY].stay()
    return st.session_state[STATE_KEY]


@st.cache_resource(scope="session", show_spinner=False, on_release=Workspace.leave)
def _presence(_work: Workspace) -> Workspace:
    """What the session lets go of when its user leaves."""
    return _work


def under_entry() -> bool:
    """True where the entry is drawing this page.

    A page file that lies in `pages/` is run by itself when a link to it is the first thing a fresh server is asked for.
    Then the entry is run from here, and it draws the page.
    """
    if workspace().entered:
        return True
    runpy.run_path(str(ENTRY), run_name="__main__")
    return False


def _among(value: Any, options: Sequence[Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(item for item in value if item in options)
    return value if value in options else (options[0] if options else None)
