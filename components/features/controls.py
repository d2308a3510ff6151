"""What the Features page is asked: which features, how their score is made, the rest of the options, the user's lexicons."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from urllib.parse import urlencode

import streamlit as st

from components.features.names import FAMILY_TITLES
from components.numbers import count
from components.option_form import given_pairs, option_form, warn_of
from components.states import plain
from components.workspace import Workspace
from engine.errors import InputError
from engine.muler.lexicons import Lexicon, parse_lexicon
from engine.muler.options import FAMILIES, MulerOptions
from engine.options import from_pairs

MODES = {"corpus": "Corpus score", "paper": "Mean of sentences"}
MODE_HELP = (
    "How the score of the sentences with a feature is made: the metric's own corpus score, or the mean of their sentence scores, "
    "as in the paper."
)
FAMILIES_HELP = (
    "Parts of speech, entities and morphology are read by a spaCy model, once; the others need none. "
    "A family that has been computed is there at once when you choose it again."
)
ELSEWHERE = ("features", "mode", "lexicon", "bins")
"""Options that have a place of their own on the page; files of the server are not named here."""

LEXICONS = "features lexicons"


@dataclass(frozen=True)
class Asked:
    """What is asked of the page.

    Attributes
    ----------
    families : those that are chosen, in order.
    options : the rest; its `features` are the families.
    lexicons : the user's, each with a digest of its content.
    """

    families: tuple[str, ...]
    options: MulerOptions
    lexicons: tuple[tuple[Lexicon, str], ...]

    def only(self, families: tuple[str, ...]) -> Asked:
        """The same for other families."""
        return replace(self, families=families, options=replace(self.options, features=",".join(families)))


def pick(work: Workspace) -> Asked:
    """Draw the controls."""
    lexicons = work.drafts.setdefault(LEXICONS, {})
    known = [family for family in FAMILIES if family != "lexicon" or lexicons]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        tie = work.bound("families", known)
        st.pills(
            "Words and signs", known, selection_mode="multi", format_func=FAMILY_TITLES.get, wrap=True, help=FAMILIES_HELP, **tie
        )
        _pick_lexicons(work)
    if "lexicon" in work.view["families"] and not lexicons:
        st.caption(":material/info: The word list of this link is not loaded: it stays where it was given. Load it at *Lexicon*.")
    families = tuple(family for family in known if family in work.view["families"])
    options = replace(_options(work), features=",".join(families))
    return Asked(families, options, tuple(lexicons.values()))


def pick_mode(work: Workspace) -> None:
    """Draw the choice of how the score of many sentences is made, and the rarer options."""
    tie = work.bound("mode", list(MODES))
    st.selectbox("Score", list(MODES), format_func=MODES.get, width=160, help=MODE_HELP, **tie)
    _more(work)


def _options(work: Workspace) -> MulerOptions:
    """The options that the address sets; the defaults, and a warning, where one of them cannot be."""
    warn_of(_read(work)[1])
    mode = work.view["mode"] if work.view["mode"] in MODES else next(iter(MODES))
    return from_pairs(MulerOptions, {**_pairs(work), "mode": mode}, "the breakdown")


def _pairs(work: Workspace) -> dict[str, str]:
    return _read(work)[0]


def _read(work: Workspace) -> tuple[dict[str, str], str]:
    """The options in the address as they are written, and what is wrong with them (then there are none)."""
    return given_pairs(work.view["muler"], MulerOptions, "the breakdown", ("features", "mode", "lexicon"))


def _save(work: Workspace, written: dict[str, str]) -> None:
    work.set(muler=urlencode({name: text for name, text in written.items() if name not in ("features", "mode", "lexicon")}))


def _more(work: Workspace) -> None:
    with st.popover("", icon=":material/tune:", help="More options of the breakdown"):
        st.markdown("**Options of the breakdown**")
        option_form(MulerOptions, _pairs(work), work, "muler", lambda written: _save(work, written), skip=ELSEWHERE)


def _pick_lexicons(work: Workspace) -> None:
    """Upload lexicons, see them, remove them, choose into how many bins their numbers fall."""
    lexicons = work.drafts[LEXICONS]
    label = f"Lexicons ({len(lexicons)})" if lexicons else "Lexicon"
    with st.popover(label, icon=":material/menu_book:", help="Your own word list as a family of features"):
        st.markdown("**Your own word lists**")
        st.caption(
            "One word per line, then a tab and a number or the name of a class; words alone are one class. "
            "Numbers fall into bins of equal size. A list stays until the page is loaded anew."
        )
        key = f"lexicon-upload-{work.drafts.get('lexicon turn', 0)}"  # another key empties the box once the files are read
        st.file_uploader("Word lists", accept_multiple_files=True, max_upload_size=50, key=key, on_change=_take, args=(work, key))
        for fault in work.drafts.get("lexicon faults", ()):
            st.error(plain(fault), icon=":material/error:")
        for name, (lexicon, _) in lexicons.items():
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                kind = "numbers" if lexicon.numeric else count(len(set(lexicon.values.values())), "class", "classes")
                st.markdown(f"**{plain(name)}** :gray[\u00b7 {count(len(lexicon.values), 'word')}, {kind}]", width="stretch")
                help = f"Remove {name}"
                st.button("", icon=":material/delete:", key=f"drop-{name}", help=help, on_click=_drop, args=(work, name))
        if any(lexicon.numeric for lexicon, _ in lexicons.values()):
            skip = tuple(item.name for item in fields(MulerOptions) if item.name != "bins")
            option_form(MulerOptions, _pairs(work), work, "muler-bins", lambda written: _save(work, written), skip=skip)


def _take(work: Workspace, key: str) -> None:
    """Read the word lists that were given, and choose their family."""
    work.drafts["lexicon turn"] = work.drafts.get("lexicon turn", 0) + 1
    work.drafts["lexicon faults"] = faults = []
    for file in work.read(key) or []:
        try:
            add_lexicon(work, file.name, file.getvalue())
        except InputError as fault:
            faults.append(str(fault))


def add_lexicon(work: Workspace, file: str, data: bytes) -> None:
    """Keep a word list for this session, under the name of its file, and choose its family.

    Raises
    ------
    InputError : it cannot be read.
    """
    name = file.rpartition(".")[0] or file
    lexicon = parse_lexicon(data, name, file)
    work.drafts.setdefault(LEXICONS, {})[name] = (lexicon, blake2b(data, digest_size=8).hexdigest())
    if "lexicon" not in work.view["families"]:
        work.set(families=(*work.view["families"], "lexicon"))


def _drop(work: Workspace, name: str) -> None:
    work.drafts[LEXICONS].pop(name, None)
    if not work.drafts[LEXICONS]:
        work.set(families=tuple(family for family in work.view["families"] if family != "lexicon"))
