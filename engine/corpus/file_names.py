"""What files are called: which part of a corpus a name stands for, and the name of a system in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.corpus.languages import language_of_suffix, languages_from_name

_WORDS = {
    "source": "src source sources input inputs orig original quelle",
    "reference": "ref refs reference references gold golden target targets pe postedit referenz",
    "system": "hyp hyps hypo hypothesis hypotheses mt out output outputs sys system systems pred preds prediction "
    "predictions cand candidate candidates translation translations trans decoded generated generation",
    "scores": "da score scores mqm rating ratings judgement judgements judgments esa sqm hter zscore zscores human-scores",
    "tags": "tags tag",
    "documents": "docs doc docids documents",
}
_ROLES = {word: role for role, words in _WORDS.items() for word in words.split()}
_FOLDERS = {
    "source": "source sources src input inputs",
    "reference": "reference references ref refs gold",
    "system": "system-outputs system_outputs systems outputs output hypotheses hypothesis hyp hyps translations predictions mt",
}
_FOLDER_ROLES = {word: role for role, words in _FOLDERS.items() for word in words.split()}
_IGNORED = re.compile(
    r"(^|/)(readme|licen[cs]e|copying|notice|changelog|citation|makefile|requirements|notes|index)([.\-_][^/]*)?$"
    r"|\.(md|rst|py|sh|r|ipynb|toml|ya?ml|cfg|ini|log|html?|css|js|pdf|png|jpe?g|gif|svg|bib|tex|docx?|pptx?)$",
    re.IGNORECASE,
)
_FORMATS = ("txt", "text", "tsv", "csv", "gz")
_SUFFIX = re.compile(r"\.(txt|text|tsv|csv|jsonl?|xlsx|xml|sgml?|zip|out|hyp|dec|detok|tok|gz)$", re.IGNORECASE)


def is_ignored(path: str) -> bool:
    """Whether a file in a folder is a licence, a note, a program or a picture rather than data."""
    return _IGNORED.search(path) is not None


def role_of_file(path: str) -> str | None:
    """The part of a corpus that a name stands for: "source", "reference", "system", "scores", "documents", "source tags" …"""
    base = path.rpartition("/")[2].lower().removesuffix(".gz")
    if re.search(r"\.(seg|sys)\.score$", base):
        return "scores"
    parts = [part for part in re.split(r"[._\-\s]+", base) if part]
    while len(parts) > 1 and parts[-1] in _FORMATS:
        parts.pop()
    roles = [role for part in parts if (role := _role_of_word(part))]
    if "tags" in roles:
        return "source tags" if "source" in roles else "system tags"
    if parts and _ROLES.get(parts[-1]) in ("scores", "documents"):
        return _ROLES[parts[-1]]
    for role in ("source", "reference", "system", "scores", "documents"):
        if role in roles:
            return role
    return role_of_folder(path)


def _role_of_word(word: str) -> str | None:
    """The role of a word, of a word with a number (`ref2`) or of a word with a letter (`sysA`)."""
    role = _ROLES.get(word) or _ROLES.get(word.rstrip("0123456789"))
    lettered = _ROLES.get(word[:-1]) if len(word) > 3 else None
    return role or (lettered if lettered in ("reference", "system") else None)


def role_of_folder(path: str) -> str | None:
    """The part of a corpus that a file's folder stands for."""
    folder = path.rpartition("/")[0].rpartition("/")[2].lower()
    return _FOLDER_ROLES.get(folder)


def system_names(paths: Sequence[str]) -> list[str]:
    """Names of systems: the files' names without what all of them share (`newstest2019.online-A.0.de-en` → online-A.0)."""
    bases = [path.rpartition("/")[2] for path in paths]
    parts = [base.split(".") for base in bases]
    if len(parts) > 1:
        lead = _shared(parts)
        tail = _shared([part[lead:][::-1] for part in parts])
        names = [".".join(part[lead : len(part) - tail]) for part in parts]
        if any(re.fullmatch(r"\d*", name) for name in names) and lead:
            names = [".".join(part[lead - 1 : len(part) - tail]) for part in parts]
        names = [_bare(name) for name in names]
    else:
        names = [_bare(bases[0])]
    if len(set(names)) < len(names) or not all(names):
        names = bases
    return names if len(set(names)) == len(names) else list(paths)


def stem(path: str) -> str:
    """A file's name without folders and usual suffixes."""
    path = whole(path)
    return _bare(path.rpartition("/")[2]) or path


def whole(name: str) -> str:
    """A name with escapes for half surrogate pairs: bytes of a file's name that are no UTF-8, which no table can hold."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _shared(parts: Sequence[Sequence[str]]) -> int:
    count = 0
    while all(len(part) > count + 1 for part in parts) and len({part[count] for part in parts}) == 1:
        count += 1
    return count


def _bare(name: str) -> str:
    """Without a test set's name in front and without suffixes for format and language."""
    plain = re.sub(r"^(newstest|newsdev|newstestB|generaltest|wmttest|testset)\d{2,4}[._-](?=.)", "", name)
    while True:
        shorter = _SUFFIX.sub("", plain)
        if language_of_suffix(shorter):
            shorter = shorter.rpartition(".")[0] or shorter
        head, dot, last = shorter.rpartition(".")
        if dot and head and languages_from_name(last) != (None, None) and "-" in last:
            shorter = head
        if shorter == plain or not shorter:
            return plain
        plain = shorter
