"""The stand-alone page of explanations: every word with its value, safe, without scripts, readable in any script."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from fake_metrics import SPEC

from engine.corpus.types import Corpus, ErrorSpan
from engine.explain.options import ExplainOptions
from engine.explain.results import Explained, Explanation, Explanations, SideImportances
from engine.explain.words import split_words
from engine.report.html import explanations_page

VOID = {"meta", "i", "br"}


class Page(HTMLParser):
    """Collects words, attributes and text; fails where tags do not match."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.stack, self.words, self.tags, self.text, self.styles, self.values = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.stack

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        if tag not in {"meta"}:
            self.stack.append((tag, attrs))
        if attrs.get("class", "").startswith("w "):
            self.words.append("")
            self.values.append(attrs)

    def handle_endtag(self, tag):
        assert self.stack.pop()[0] == tag

    def handle_data(self, data):
        inside = [attrs.get("class", "") for _, attrs in self.stack]
        if any(tag == "style" for tag, _ in self.stack):
            self.styles.append(data)
            return
        self.text.append(data)
        if any(name.startswith("w ") for name in inside):
            self.words[-1] += data


def corpus(**changes):
    facts = {
        "name": "my <corpus>",
        "systems": {"A&B": ("the cat sat", "שלום עולם"), "<b>": ("a  dog ", "今日は")},
        "references": (("the cat",), ("x",)),
        "languages": ("de", "en"),
    }
    return Corpus(**(facts | changes))


def explained(segment, system, text, values, side="hypothesis", score=0.5, **more):
    importances = np.array(values, dtype=float)
    assert len(importances) == len(split_words(text))
    return Explained(segment, system, Explanation(None, score, (SideImportances(side, text, importances),), **more))


def page(entries, spec=SPEC, options=None, **changes):
    found = Explanations(spec, options or ExplainOptions(), tuple(entries))
    text = explanations_page(found, corpus(**changes))
    return text, Page(text)


def test_every_word_has_its_value_and_the_text_is_whole():
    text, parsed = page([explained(0, "A&B", "the cat sat", [0.5, -0.25, 0.0])])
    assert parsed.words == ["the", "cat", "sat"]
    assert [word["data-v"] for word in parsed.values] == ["+0.500", "\u22120.250", "0.000"]
    assert [word["class"] for word in parsed.values] == ["w p40", "w n20", "w p0"]
    assert all(word["tabindex"] == "0" and word["title"] == word["data-v"] for word in parsed.values)
    assert "the cat sat" in "".join(parsed.text)
    assert "my <corpus>" in "".join(parsed.text) and SPEC.signature in "".join(parsed.text)


def test_spaces_stay():
    _, parsed = page([explained(0, "<b>", "a  dog ", [1, 2])])
    assert "a  dog \n" in "".join(parsed.text) and parsed.words == ["a", "dog"]


def test_nothing_runs_and_nothing_is_fetched():
    word = "<script>alert(1)</script>"
    text, parsed = page([explained(0, "<b>", f"{word} \"onclick='x' &amp;", [1, 2, 3])], name=word)
    assert "<script" not in text and "onclick" not in str(parsed.tags)
    assert not re.search(r"https?:|url\(|@import|src=|href=|javascript:", text)
    assert parsed.words[0] == word and parsed.words[2] == "&amp;"
    assert {tag for tag, _ in parsed.tags} <= {
        "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "ul", "li", "code", "section", "div", "p", "span",
        "i", "u",
    }  # fmt: skip


def test_letters_that_html_cannot_hold_are_shown():
    text, _ = page([explained(0, "<b>", "a\x00b \ud800 \ufffe \x1b[1m", [1, 2, 3, 4])])
    assert "a\\x00b" in text and "\\ud800" in text and "\\ufffe" in text and "\\x1b[1m" in text
    text.encode("utf-8")


def test_scripts_of_every_direction():
    text, parsed = page([explained(1, "A&B", "שלום עולם", [1, -1]), explained(1, "<b>", "今日は", [1, 2, 3])])
    assert parsed.words == ["שלום", "עולם", "今", "日", "は"]
    texts = [attrs for tag, attrs in parsed.tags if tag == "p" and attrs.get("class") == "text"]
    assert all(attrs["dir"] == "auto" and attrs["lang"] == "en" for attrs in texts)
    assert 'lang="de"' in page([explained(0, "A&B", "der Hund", [1, 2], side="source")])[0]


def test_systems_of_a_segment_share_a_scale_and_others_do_not():
    entries = [explained(1, "A&B", "x", [0.1]), explained(0, "A&B", "x", [1.0]), explained(0, "<b>", "x", [0.5])]
    _, parsed = page(entries)
    assert [word["class"] for word in parsed.values] == ["w p40", "w p20", "w p40"]
    shown = "".join(parsed.text)
    assert shown.index("Segment 0") < shown.index("Segment 1")
    assert "\u22121.00" in shown and "+0.100" in shown


def test_error_rates_are_red_where_the_rate_goes_up():
    spec = replace(SPEC, higher_is_better=False)
    _, parsed = page([explained(0, "A&B", "bad good", [1.0, -1.0])], spec)
    assert [word["class"] for word in parsed.values] == ["w n40", "w p40"]
    assert [word["data-v"] for word in parsed.values] == ["+1.00", "\u22121.00"]
    assert "worsens the score +1.00" in "".join(parsed.text)


def test_what_is_undefined_says_why():
    entries = [
        explained(0, "A&B", "x y", [np.nan, 1.0], undefined="a <mask> has no score"),
        Explained(0, "<b>", Explanation(None, np.nan, (), undefined="the system has no output for this segment")),
    ]
    text, parsed = page(entries)
    shown = "".join(parsed.text)
    assert "A <mask> has no score." in shown and "The system has no output for this segment." in shown and "no score" in shown
    assert parsed.values[0]["data-v"] == "undefined" and parsed.values[0]["class"] == "w x" and "nan" not in text.lower()
    assert "There are no explanations." in page([])[0]
    assert "(empty)" in page([explained(0, "A&B", "", [])])[0]


def test_marked_errors_are_underlined():
    spans = (
        ErrorSpan(0, "A&B", "hypothesis", 4, 10, "order", "minor"),
        ErrorSpan(0, "A&B", "hypothesis", 0, 2, "name", "major", "<note>"),
        ErrorSpan(0, "<b>", "hypothesis", 0, 3, "other"),
        ErrorSpan(0, "A&B", "hypothesis", 11, 11, "omission"),
        ErrorSpan(0, "A&B", "hypothesis", 3, 3, "article"),
    )
    text, parsed = page([explained(0, "A&B", "the cat sat", [1, 2, 3])], spans=spans)
    marks = [attrs for tag, attrs in parsed.tags if tag == "u"]
    assert [mark["title"] for mark in marks] == ["name major <note>", "article", *["order minor"] * 3, "omission"]
    assert [mark.get("class") for mark in marks] == [None, "gap", "minor", "minor", "minor", "gap"]
    assert parsed.words == ["the", "cat", "sat"] and '<u title="name major &lt;note&gt;">th</u>e' in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (ExplainOptions(explainer="lime", samples=50, seed=3), "LIME, 50 samples, seed 3, mask UNKWORDZ"),
        (ExplainOptions(explainer="shap"), "SHAP, up to 500 evaluations, seed 0, mask UNKWORDZ"),
        (ExplainOptions(), "Erasure, words are removed"),
    ],
)
def test_the_explainer_is_named(options, words):
    assert words in "".join(page([], options=options)[1].text)


def test_colours_of_both_themes_and_of_two_systems():
    text, parsed = page([explained(0, "A&B", "x", [1.0])])
    style = "".join(parsed.styles)
    assert style.count(".p40{") == 2 and style.count(".s0{") == 2 and "prefers-color-scheme: dark" in style
    three = dict.fromkeys("abc", ("x", "x"))
    assert ".s0{" not in page([], systems=three)[0]


def test_a_large_page_is_made_quickly_and_stays_small():
    texts = tuple(f"word number {i} of the text" for i in range(2000))
    entries = [explained(i, "s", texts[i], np.arange(6) - 2) for i in range(2000)]
    many = Corpus(name="c", systems={"s": texts}, references=(("r",),) * 2000)
    text = explanations_page(Explanations(SPEC, ExplainOptions(), tuple(entries)), many)
    assert len(text) / 12_000 < 250 and text.count("<section>") == 2000


def test_headings_name_the_segment_as_the_input_does():
    shown, _ = page([explained(1, "A&B", "x", [0.1])], ids=("a", "id<7"))
    assert "<h2>Segment 1 \u00b7 id id&lt;7" in shown
