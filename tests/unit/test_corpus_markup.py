"""WMT SGM and WMT XML: documents and segment ids, several references and systems, broken and harmful files."""

import pytest
from corpus_files import corpus_of, kinds, read, read_files, refusal

XML = """<?xml version="1.0"?>
<dataset id="t">
<doc id="d1" origlang="de">
<src lang="de"><p><seg id="1">A</seg><seg id="2">B &amp; C</seg></p></src>
<ref lang="en" translator="B"><p><seg id="1">b1</seg></p></ref>
<ref lang="en" translator="A"><p><seg id="1">a1</seg><seg id="2">a2</seg></p></ref>
<hyp system="s1" lang="en"><p><seg id="1">x</seg></p></hyp>
<hyp system="s2" lang="en"><p><seg id="2">y <b>z</b></seg><seg id="1">x</seg></p></hyp>
</doc>
<doc id="d2"><src lang="de"><p><seg id="1">D</seg></p></src><hyp system="s1" lang="en"><p><seg id="1">w</seg></p></hyp></doc>
</dataset>
"""

SGM = """<tstset setid="x" srclang="de" trglang="en">
<DOC sysid="S" docid=d1>
<seg id=1> Hello &quot;you&quot; AT&T &#8364; </seg>
<seg id=2>two
lines</seg>
</DOC>
<doc sysid="S" docid="d2"><p><seg id="1">R&D</seg></p></doc>
</tstset>
"""


def test_xml():
    loaded = read("t.xml", XML)
    corpus = corpus_of(loaded)
    assert corpus.sources == ("A", "B & C", "D")
    assert corpus.references == (("a1", "b1"), ("a2", None), (None, None))
    assert corpus.systems == {"s1": ("x", None, "w"), "s2": ("x", "y z", None)}
    assert corpus.documents == ("d1", "d1", "d2")
    assert corpus.ids == ("d1:1", "d1:2", "d2:1")
    assert corpus.languages == ("de", "en")
    assert kinds(loaded)["missing-outputs"].severity == "warning"


def test_xml_in_other_encodings():
    text = XML.replace(">A<", ">Ä<")
    for data in (text.encode("utf-16"), text.replace('"1.0"', '"1.0" encoding="ISO-8859-1"').encode("latin-1")):
        assert corpus_of(read("t.xml", data)).sources[0] == "Ä"


def test_xml_that_is_nearly_right():
    loaded = read("t.xml", XML.replace("&amp;", "&").replace(">A<", ">A\x0b<"))
    assert corpus_of(loaded).sources[:2] == ("A\ufffd", "B & C")
    assert kinds(loaded)["not-xml"].line == 4


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        (XML[:300], "not-xml", 7),
        (XML.replace("</doc>", "", 1), "not-xml", 11),
        ('<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><dataset>&c;</dataset>', "xml-entities", 1),
        (
            '<?xml version="1.0"?>\n<!DOCTYPE f [<!ENTITY x SYSTEM "file:///etc/passwd">]><dataset>&x;</dataset>',
            "xml-entities",
            2,
        ),
        ('<?xml version="1.0"?><tmx><body/></tmx>', "unknown-xml", 1),
        ("<dataset></dataset>", "no-outputs", 1),
        (XML.replace('seg id="2">B', 'seg id="1">B'), "duplicate-ids", 4),
        ("<dataset>" + "<a>" * 50_000, "not-xml", 1),
    ],
)
def test_bad_xml_is_refused_with_its_line(text, kind, line):
    finding = refusal(read("t.xml", text))
    assert (finding.kind, finding.line) == (kind, line)
    assert "root:" not in finding.message


def test_sgm_is_not_xml():
    loaded = read("t.sgm", SGM)
    corpus = corpus_of(loaded)
    assert corpus.systems == {"S": ('Hello "you" AT&T €', "two lines", "R&D")}
    assert corpus.documents == ("d1", "d1", "d2")
    assert corpus.languages == (None, "en") or corpus.languages == ("de", "en")
    assert kinds(loaded)["bare-ampersands"].line == 3


def test_sgm_files_are_matched_by_document_and_id():
    source = SGM.replace("tstset", "srcset").replace("Hello", "Hallo")
    reference = SGM.replace("tstset", "refset").replace('"S"', '"ref"').replace("two", "2")
    shuffled = SGM.replace('"S"', '"T"').replace("<seg id=2>two\nlines</seg>\n", "")
    corpus = corpus_of(read_files({"a.src.sgm": source, "b.ref.sgm": reference, "c.sgm": SGM, "d.sgm": shuffled}))
    assert corpus.sources[0].startswith("Hallo")
    assert corpus.references[1] == ("2 lines",)
    assert corpus.systems["T"][1:] == (None, "R&D")


def test_sgm_as_a_part():
    corpus = corpus_of(
        read_files({"s.sgm": SGM.replace("tstset", "srcset"), "h": "a\nb\nc\n"}, source="s.sgm", systems={"H": "h"})
    )
    assert corpus.sources[2] == "R&D"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('<!DOCTYPE x [<!ENTITY a "b">]>' + SGM, "xml-entities"),
        (SGM[:120], "cut-off"),
        ("<tstset><seg id=1>x</seg></tstset>", "not-sgm"),
        (SGM.replace("id=2", "id=1"), "duplicate-ids"),
        (SGM.replace("tstset", "srcset"), "no-outputs"),
    ],
)
def test_bad_sgm_is_refused(text, kind):
    assert refusal(read("t.sgm", text)).kind == kind


@pytest.mark.parametrize(
    "text", ["<s> hello </s>\n<s> world </s>\n", "<html>Hello</html>\nsecond\n", "<doc> a\n<doc> b\n", "< 5 apples\n> 3 pears\n"]
)
def test_text_with_angle_brackets_is_text(text):
    assert len(corpus_of(read("t.txt", text))) == 2
