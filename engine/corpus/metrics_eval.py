"""The folder layout of mt-metrics-eval: sources, references, system-outputs, documents and human-scores, per language pair."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from engine.corpus.decode import decode, split_lines
from engine.corpus.draft import Draft
from engine.corpus.files import Blob
from engine.corpus.findings import Findings, Refused, enumerated, plural, refuse
from engine.corpus.keys import agrees, pair_of
from engine.corpus.plain import combine, read_lines
from engine.corpus.scores import attach, read_score_lines
from engine.corpus.types import Criterion, Languages

_OUTPUT = re.compile(
    r"^(?P<base>(?:.*/)?)system-outputs/(?P<pair>[A-Za-z]{2,3}(?:_[A-Za-z]+)?-[A-Za-z]{2,3}(?:_[A-Za-z]+)?)/(?P<system>[^/]+)\.txt$"
)
_KNOWN = ("sources", "references", "system-outputs", "documents", "human-scores")


def language_pairs(blobs: Sequence[Blob]) -> list[str]:
    """The language pairs of the layout, or none where the files are laid out otherwise."""
    found = [match for blob in blobs if (match := _OUTPUT.match(blob.name))]
    if len({match["base"] for match in found}) != 1:
        return []
    return sorted({match["pair"] for match in found})


def read_folder(blobs: Sequence[Blob], name: str, languages: Languages, findings: Findings) -> Draft:
    """Read one language pair.

    Raises
    ------
    Refused : the language pair asked for is not there, or files differ in length.
    """
    pair = _choose_pair(language_pairs(blobs), name, languages, findings)
    base = next(match["base"] for blob in blobs if (match := _OUTPUT.match(blob.name)))
    files = {blob.name.removeprefix(base): blob for blob in blobs if blob.name.startswith(base)}
    source = files.get(f"sources/{pair}.txt")
    references = _named(files, f"references/{pair}.")
    outputs = _named(files, f"system-outputs/{pair}/")
    rated = sorted(set(outputs) & set(references))
    if rated:
        message = f"References also stand among the outputs ({enumerated(rated)}); they are not counted as systems."
        findings.note("references-as-systems", name, message)
    draft = combine(
        name,
        read_lines(source, findings) if source else None,
        [read_lines(blob, findings) for blob in references.values()],
        {system: read_lines(blob, findings) for system, blob in outputs.items() if system not in references},
        findings,
    )
    first, _, second = pair.partition("-")
    draft.languages = (first, second)
    _documents(draft, files.get(f"documents/{pair}.docs"), findings)
    _human_scores(draft, files, pair, findings)
    _report_unread(files, pair, name, findings)
    return draft


def _choose_pair(pairs: Sequence[str], name: str, languages: Languages, findings: Findings) -> str:
    """The language pair asked for; the first one, with a warning, where that leaves several."""
    fitting = [pair for pair in pairs if agrees(pair_of(pair), languages)]
    if not fitting:
        message = f"There is no language pair {'-'.join(filter(None, languages))}; there are {enumerated(pairs, shown=20)}."
        raise refuse("languages", name, message, "Choose one of these (--langs).")
    if len(fitting) > 1:
        message = f"There are several language pairs ({enumerated(fitting, shown=20)}); {fitting[0]} was read."
        findings.add("language-pairs", name, message, f"Choose another one with --langs, as in --langs {fitting[1]}.")
    return fitting[0]


def _named(files: Mapping[str, Blob], prefix: str) -> dict[str, Blob]:
    """The text files whose path begins with `prefix`, by the rest of their name."""
    paths = sorted(path for path in files if path.startswith(prefix) and path.endswith(".txt"))
    return {path.removeprefix(prefix).removesuffix(".txt"): files[path] for path in paths}


def _documents(draft: Draft, blob: Blob | None, findings: Findings) -> None:
    """Domain, tab, document: one line per segment."""
    if blob is None:
        return
    lines = split_lines(decode(blob.read(), blob.name, findings))
    if len(lines) != draft.size:
        findings.add(
            "unequal-lengths",
            blob.name,
            f"The file has {plural(len(lines), 'line')} for {plural(draft.size, 'segment')}; documents were left out.",
            "Give one line per segment.",
            min(len(lines), draft.size) + 1,
        )
        return
    draft.documents = [line.rpartition("\t")[2] for line in lines]


def _human_scores(draft: Draft, files: dict[str, Blob], pair: str, findings: Findings) -> None:
    for path, blob in sorted(files.items()):
        match = re.match(rf"human-scores/{re.escape(pair)}\.(.+)\.(seg|sys)\.score$", path)
        if not match:
            continue
        criterion = Criterion(match[1], f"{blob.base.removesuffix(f'.{match[2]}.score')}, as given; higher is taken as better")
        try:
            scores = read_score_lines(decode(blob.read(), blob.name, findings), blob.name, match[1], draft.systems, findings)
            attach(draft, scores, criterion, findings)
        except Refused as refused:
            finding = refused.finding
            findings.add(
                finding.kind, finding.file, f"{finding.message} These scores were left out.", finding.remedy, finding.line
            )


def _report_unread(files: dict[str, Blob], pair: str, name: str, findings: Findings) -> None:
    """Say what else lies in the folder."""
    unread: Counter[str] = Counter()
    for path in files:
        folder = path.partition("/")[0] if "/" in path else path
        if folder not in _KNOWN:
            unread[folder] += 1
        elif (
            folder == "human-scores" and path.startswith(f"human-scores/{pair}.") and not re.search(r"\.(seg|sys)\.score$", path)
        ):
            unread[path] += 1
    if unread:
        findings.note(
            "unread-files",
            name,
            "Not read: "
            f"{enumerated([f'{folder} ({count} files)' if count > 1 else folder for folder, count in unread.items()], shown=8)}.",
        )
