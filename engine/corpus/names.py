"""What columns, keys and files are called in evaluation data, in several languages."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

# Words are compared in lower case, without punctuation, with trailing numbers and letters split off (`refA` → ref + a).
SOURCE = (
    "src|source|sources|source text|source sentence|source segment|source sent|src sent|src text|src sentence|"
    "original|original text|source original|src raw|quelle|quelltext|ausgangstext|fuente|texte source|phrase source|"
    "texto fonte|oryginał|zdroj|原文|源文|入力|meaning representation"
)
WEAK_SOURCE = (
    "mr|input|inputs|article|article text|context|contexts|dialogue|dialog|history|prompt|query|passage|sentence|"
    "text|satz|document text|triples|data|question|frage|story|input text|instruction"
)
REFERENCE = (
    "ref|refs|reference|references|reference text|reference translation|reference sentence|human reference|human ref|"
    "references text|gold|gold reference|gold standard|golden|ground truth|human translation|reference summary|"
    "reference summaries|ref sent|pe|post edit|postedit|post edited|post editing|positive responses|eng sent|"
    "referenz|referenzübersetzung|referenztext|référence|referencia|referência|riferimento|эталон|參考譯文|参考译文|"
    "参考|参照|ref text|target ref|tgt ref|ref raw|refs text|model summary human"
)
WEAK_REFERENCE = "gold question|label|labels|expected|expected output|answer|highlights|gold answer|correct|true"
HYPOTHESIS = (
    "hyp|hyps|hypothesis|hypotheses|hypothesis text|hyp text|mt|mt output|mt sent|mt text|translation|translations|"
    "machine translation|output|outputs|system output|sys output|model output|candidate|candidates|cand|prediction|"
    "predictions|pred|preds|predicted|generated|generated text|generation|decoded|system summary|generated summary|"
    "sys summ|hypothese|übersetzung|systemausgabe|ausgabe|hypothèse|traduction|hipótesis|hipotesis|traducción|"
    "traduccion|traduzione|tradução|salida|sortie|перевод|гипотеза|译文|機械翻訳|機器翻譯|机器翻译|出力|訳文|"
    "tłumaczenie|překlad|mt raw|system response|generated response"
)
WEAK_HYPOTHESIS = (
    "response|summary|modified question|completion|paraphrase|pert|perturbed|pert sent|generated question|caption|hyp pe"
)
EITHER = "target|tgt|trg|target text|target sentence|tgt sent|ziel|zieltext"
"""The output in annotation data, the reference in training data."""
SYSTEM = (
    "system|sys|systems|system id|system name|sysid|sys id|sys name|model|model id|model name|mt system|engine|"
    "submission|team|mt engine|mt id|système|sistema|modell|system label|systemid|systemname|modelname"
)
SEGMENT = (
    "global seg id|globalsegid|seg id|segid|segment id|segmentid|seg|segment|segment number|segment no|sid|sent id|"
    "sentid|sentence id|sentence no|sentence number|sentence index|sample id|sample|example id|item id|item|line|"
    "line number|line id|line no|idx|index|row|row id|no|nr|number|num|id|key|question id|qid|instance|instance id|"
    "uid|guid|satznummer|satz nr|nummer|numéro|segmento|segment idx|seg idx"
)
DOCUMENT = (
    "doc|document|documents|doc id|docid|document id|documentid|doc name|talk|talk id|dokument|article id|story id|"
    "dialog id|dialogue id|conversation id"
)
LANGUAGES = "lp|langs|language pair|lang pair|langpair|language direction|pair|sprachrichtung|languages"
SCORE = (
    "score|scores|human|human score|human scores|human rating|human judgement|human judgment|human eval|rating|"
    "ratings|judgement|judgment|grade|note|da|da z|da raw|raw da|z|z score|zscore|z mean|z mean score|mean z|raw|"
    "raw score|mean|average|avg|avg score|mean score|adequacy|fluency|esa|esa score|mqm|mqm score|mqm avg score|"
    "avg mqm|sqm|direct assessment|quality|overall|naturalness|informativeness|coherence|consistency|relevance|"
    "correctness|coverage|data coverage|text structure|grammar|grammaticality|understandability|engagingness|"
    "groundedness|faithfulness|meaning|simplicity|litepyramid recall|litepyramid|pyramid|answerability|similarity|"
    "bewertung|punkte|human da|human z|human mqm|wmt raw|wmt z|wmt|likert|preference|acceptability|accuracy|"
    "readability|interestingness|hter|adäquatheit|flüssigkeit|puntuación|puntuacion|nota|оценка|score z|score raw|"
    "da mean|z da"
)
PENALTY = "hter|ter|errors|error count|number of errors|penalty|penalties|mqm penalty|error score|edit distance"
RATER = "rater|annotator|annotator id|rater id|evaluator|worker|worker id|user|judge|coder|bewerter"
COMMENT = (
    "comment|comments|note|notes|remark|remarks|kommentar|anmerkung|bemerkung|url|link|file|filepath|filename|path|"
    "metadata|timestamp|date|time"
)

_ROLES: dict[str, str] = {}
for _role, _words in (
    ("comment", COMMENT), ("rater", RATER), ("penalty", PENALTY), ("score", SCORE), ("languages", LANGUAGES),
    ("document", DOCUMENT), ("segment", SEGMENT), ("system", SYSTEM), ("weak hypothesis", WEAK_HYPOTHESIS),
    ("weak reference", WEAK_REFERENCE), ("weak source", WEAK_SOURCE), ("either", EITHER), ("hypothesis", HYPOTHESIS),
    ("reference", REFERENCE), ("source", SOURCE),
):  # fmt: skip
    for _word in _words.split("|"):
        _ROLES[_word] = _role
_SEGMENT_ORDER = {word: rank for rank, word in enumerate(SEGMENT.split("|"))}


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


_SCORE_WORDS = _set(
    "score|scores|rating|ratings|adequacy|fluency|da|mqm|answerability|coherence|relevance|quality|judgement|judgment|"
    "grade|likert|esa|sqm|zscore|human"
)
_METRIC_WORDS = _set(
    "bleu|sentbleu|sacrebleu|chrf|ter|meteor|rouge|cider|spice|bert|bertscore|bleurt|comet|cometkiwi|metricx|bart|"
    "bartscore|prism|mover|moverscore|xmoverscore|js|nist|gleu|wer|perplexity|ppl|length|len|token|tokens|time|loss"
)
OTHER_TEXTS = _set(
    "text|texts|sentence|original|translation|human|gold|expert|post|edit|edited|editing|pe|back|previous|next|context|note|"
    "notes|comment|comments|remark|remarks|explanation|rationale|reason|feedback|topic|title|category|domain|label|gloss|"
    "prompt|question|answer|instruction|history|speaker|url|link|path|file|date|style|tags|tokens|pos|lemma|raw|clean|cleaned"
)
"""Words in the names of columns that hold texts, but perhaps no system's outputs."""
LONGEST = 200
"""Characters of the longest name that is looked at; what is longer is a text."""
_NUMBERED = re.compile(r"^(?P<stem>.*?[^\W\d_]{2,}s?)[ ]?(?P<tail>\d+|[a-z])$")


@lru_cache(maxsize=16_384)
def words(name: str) -> str:
    """A name as plain words: `SourceText`, `source_text` and "Source-Text:" become "source text"."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name.strip().lstrip("\ufeff"))
    return " ".join(re.sub(r"[\W_]+", " ", spaced).casefold().split())


@lru_cache(maxsize=16_384)
def role_of(name: str) -> tuple[str, str] | None:
    """What a name stands for, and the number or letter that follows it (`refA` → ("reference", "a")); None where unknown."""
    if len(name) > LONGEST:
        return None
    plain = words(name)
    for form in (plain, plain.replace(" ", "")):
        if form in _ROLES:
            return (_ROLES[form], "")
    match = _NUMBERED.match(plain)
    if match:
        stem = match["stem"].strip()
        for form in (stem, stem.replace(" ", "")):
            if form in _ROLES:
                return (_ROLES[form], match["tail"])
    return None


def known(name: Any) -> bool:
    """Whether a cell could name a column of evaluation data."""
    return isinstance(name, str) and len(name) < 60 and role_of(name) is not None


def sure(name: str) -> bool:
    """Whether a name clearly belongs to evaluation data."""
    role = role_of(name)
    return role is not None and role[0] in ("source", "reference", "hypothesis", "either", "system", "segment", "languages")


def score_like(name: str) -> bool:
    """Whether a longer name speaks of a score (`Answerability Score User 1`)."""
    parts = set(words(name).split())
    return bool(_SCORE_WORDS & parts) and not _METRIC_WORDS & parts


def segment_rank(name: str) -> int:
    """Which of several id columns names segments best: the smallest."""
    return _SEGMENT_ORDER.get(words(name), 999)
