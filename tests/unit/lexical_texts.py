"""Texts that the tests of the lexical metrics share: real translations, and random ones made to trip tokenizers."""

from pathlib import Path

from hypothesis import strategies as st

from engine.corpus.types import Segment

_HAZARDS = (
    "the The cat cats sat on mat 1,000 1.5 .5 5. 3-4 - -- well-known ... ?! (so) 'tis it's \"quote\" $5 £ € a.b.c u.s. "
    "<skipped> <skip<skipped>ped> &amp; &amp;lt; &quot;x&quot; &lt;b&gt; &am<skipped>p; ΣΑΣ Σ. İi ß ﬁ straße naïve "
    "今日は 良い天気。 中文，测试 日本語テキスト สวัสดี नमस्ते العربية 👩‍👩‍👧 \U0001d400 \ud800 \x00 \x01 ，。 １２．５ ۱۲۳"
)
HAZARDS = _HAZARDS.split(" ")
SEPARATORS = (" ", " ", " ", "  ", "\n", "-\n", "\t", "\r\n", " \n", "\u00a0", "\u2028", "\u3000", "\x1c", "\x85", "", "")

pieces = st.lists(st.tuples(st.sampled_from(HAZARDS), st.sampled_from(SEPARATORS)), max_size=14)
hazardous_texts = pieces.map(lambda parts: "".join(word + space for word, space in parts))
any_texts = st.one_of(hazardous_texts, hazardous_texts, st.text(max_size=40))


@st.composite
def segments(draw: st.DrawFn, texts: st.SearchStrategy[str] = any_texts) -> list[Segment]:
    """A few segments over a small pool of texts, so that hypotheses and references repeat and resemble each other."""
    pool = st.sampled_from(draw(st.lists(texts, min_size=1, max_size=5)))
    references = st.lists(pool, min_size=1, max_size=3).map(tuple)
    return draw(st.lists(st.builds(Segment, st.none(), references, pool), min_size=1, max_size=6))


def lines(path: Path) -> list[str]:
    """The lines of a file, split at line feeds only."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def wmt19(data: Path, system: str, count: int | None = None) -> list[Segment]:
    """Segments of a system of WMT 2019 German–English."""
    folder = data / "mt" / "wmt19" / "de-en"
    references = lines(folder / "newstest2019-deen-ref.en")
    outputs = lines(folder / "system-outputs" / f"newstest2019.{system}.de-en")
    assert len(references) == len(outputs) == 2000
    return [Segment(None, (reference,), output) for reference, output in zip(references, outputs)][:count]


def several_references(data: Path, count: int = 60) -> list[Segment]:
    """Segments with one to three references: the reference and up to two other systems' outputs in its place."""
    systems = [wmt19(data, name, count) for name in ("Facebook_FAIR.6750", "online-G.0", "online-X.0")]
    rows = zip(*systems)
    made = [(first.hypothesis, (*first.references, second.hypothesis, third.hypothesis)) for first, second, third in rows]
    return [Segment(None, references[: 1 + row % 3], output) for row, (output, references) in enumerate(made)]
