"""The breakdown as tables: all numbers, what is not defined and why, lexicon values; and the downloads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from components.downloads import download_csv
from components.features.chart import counts_note
from components.features.names import family_title, feature_title
from components.features.rows import FeatureRow
from components.features.runs import Found, Study
from components.numbers import MISSING, count, decimals, number, score_places
from components.states import plain
from components.tables import picked_row, show_table
from components.workspace import Workspace
from engine.muler.results import Breakdown


def show_numbers(study: Study, rows: Sequence[FeatureRow]) -> None:
    """Draw all numbers of all features; a click on a row chooses its feature and system."""
    places = score_places(study.metric.spec.range)
    records, keys = [], []
    for row in rows:
        for tag, score in zip("AB", row.scores):
            keys.append((row.feature.id, tag))
            records.append(
                {
                    "": tag,
                    "System": score.system,
                    "Feature": feature_title(row.feature),
                    "Family": family_title(row.feature.family),
                    "MuLER": score.muler,
                    "95% interval": _interval(score.low, score.high, 3),
                    "abl-MuLER": score.abl_muler,
                    "95% interval of it": _interval(score.abl_low, score.abl_high, places),
                    "Score": score.score,
                    "Oracle": score.oracle,
                    "Anti-oracle": score.anti_oracle,
                    "Sentences": score.n,
                    "In references": score.in_references,
                    "In output": score.in_output,
                    "More": score.add,
                    "Same": score.hit,
                    "Fewer": score.miss,
                    "Id": row.feature.id,
                    "Note": score.reason or "",
                }
            )
    frame = pd.DataFrame(records)
    form, text = st.column_config.NumberColumn, st.column_config.TextColumn
    config = {"": text(width=36), "MuLER": form(format="%.3f"), "Note": text(width="large")}
    config |= {name: form(format=f"%.{places}f") for name in ("abl-MuLER", "Score", "Oracle", "Anti-oracle")}
    config["Sentences"] = form(help=counts_note(study.asked.options.sentences))
    config["More"] = form(help="Of these sentences, those whose output has the feature more often than the reference (add)")
    config["Same"] = form(help="As often (hit)")
    config["Fewer"] = form(help="Less often (miss)")
    key = f"features-table-{study.work.drafts.get('features table', 0)}"
    show_table(
        frame,
        config,
        height=520 if len(frame) > 14 else "content",
        key=key,
        on_select=lambda: _pick_row(study.work, key, keys),
        selection_mode=["single-row", "single-cell"],
        alt="All features of A and B; choose a row for the segments behind it",
    )


def _interval(low: float, high: float, places: int) -> str:
    return MISSING if np.isnan(low) else f"{number(low, places)} to {number(high, places)}"


def _pick_row(work: Workspace, key: str, keys: list[tuple[str, str]]) -> None:
    row = picked_row(work, key)
    if row is not None:
        feature, tag = keys[row]
        work.drafts["features table"] = work.drafts.get("features table", 0) + 1
        work.set(feature=feature, whose=tag.lower(), leaf=1)


def show_missing(study: Study, found: Found) -> None:
    """Say which families cannot be had, and what is shown; and what is taken for granted."""
    if found.missing:
        shown = ", ".join(family_title(family).lower() for family in found.families)
        said = found.missing[:1].upper() + found.missing[1:].rstrip(".")
        st.warning(f"{plain(said)}. Shown here: {shown}.", icon=":material/translate:")
    if study.corpus.languages[1] is None:
        st.caption(
            ":material/info: The language of the outputs is not known and is taken for English; set it on the Corpus page."
        )
    for note in found.breakdown.notes:
        if not note.startswith("words and tags by"):
            st.caption(f":material/info: {plain(note[:1].upper() + note[1:])}.")


def show_undefined(rows: Sequence[FeatureRow]) -> None:
    """List the features that have no value for any system, with the reasons."""
    missing = [row for row in rows if not row.defined]
    if not missing:
        return
    title = f"{count(len(missing), 'feature')} without a value, and why"
    with st.expander(title, icon=":material/info:", key="features-undefined"):
        records = [
            {"Feature": feature_title(row.feature), "Id": row.feature.id, "System": score.system, "Why": score.reason or ""}
            for row in missing
            for score in row.scores
        ]
        st.dataframe(pd.DataFrame(records), hide_index=True, height="content" if len(records) < 15 else 460)


def show_odd(rows: Sequence[FeatureRow]) -> None:
    """Explain values below 0 and above 1 and values that only one system has."""
    odd = [(row, score) for row in rows if row.defined for score in row.scores if score.reason]
    if not odd:
        return
    title = f"{count(len(odd), 'value')} outside 0 to 1 or missing (\u24d8), and why"
    with st.expander(title, icon=":material/info:", key="features-odd"):
        lines = []
        for row, score in odd:
            shown = f" {number(score.muler, _places(score.muler))}" if score.muler == score.muler else ""
            lines.append(f"- **{plain(feature_title(row.feature))}**, {plain(score.system)}{shown}: {plain(score.reason or '')}.")
        st.markdown("\n".join(lines))


def _places(value: float) -> int:
    """Three decimals, or as many as show that a value is not 0."""
    return 3 if abs(value) >= 0.0005 else decimals(value, 1)


def show_lexicons(study: Study, found: Breakdown) -> None:
    """Draw how far the systems are from the references in the values of each lexicon of numbers."""
    if not found.lexicons:
        return
    st.markdown("**Lexicon values, sentence by sentence**")
    names = list(study.systems)
    records = [
        {
            "": "AB"[names.index(item.system)],
            "System": item.system,
            "Lexicon": item.lexicon,
            "Difference": item.difference,
            "95% interval": _interval(item.low, item.high, 4),
            "Sentences": item.n,
            "Note": item.reason or "",
        }
        for item in found.lexicons
    ]
    help = "Mean over sentences of the absolute difference between output and reference in the mean value of their words"
    config = {"": st.column_config.TextColumn(width=36), "Difference": st.column_config.NumberColumn(format="%.4f", help=help)}
    show_table(pd.DataFrame(records), config, height="content")
    st.caption("0: the words of each output are worth as much as those of its reference, on average. In the lexicon's own unit.")


def show_downloads(study: Study, found: Breakdown) -> None:
    """Buttons for the tables, and what the numbers were made with."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        download_csv(found.to_frame, "features", *study.names, key="features", label="Breakdown (CSV)")
        if len(study.systems) > 1:
            download_csv(
                lambda: found.differences(*study.systems),
                "features-differences",
                *study.names,
                key="features-differences",
                label="Differences (CSV)",
            )
        if found.lexicons:
            download_csv(
                found.lexicon_frame, "features-lexicons", *study.names, key="features-lexicons", label="Lexicon values (CSV)"
            )
        with st.popover("Signature", icon=":material/fingerprint:"):
            st.code(study.metric.spec.signature, language=None, wrap_lines=True)
            st.code(found.made, language=None, wrap_lines=True)
            for note in found.notes:
                st.caption(plain(note))
