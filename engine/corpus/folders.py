"""Several files that make one corpus: a folder, a zip archive, an upload of several files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.corpus import metrics_eval
from engine.corpus.draft import Draft
from engine.corpus.file_names import is_ignored, role_of_file, role_of_folder, stem, system_names
from engine.corpus.files import Blob
from engine.corpus.findings import Findings, Refused, enumerated, plural, refuse
from engine.corpus.grid import Grid
from engine.corpus.guess import guess_roles
from engine.corpus.keyed import Parts, assemble
from engine.corpus.languages import language_of_suffix
from engine.corpus.plain import Lines, combine, decode_blob, lines_of
from engine.corpus.recognise import Piece, recognise
from engine.corpus.scores import ScoreFile, attach, scores_only
from engine.corpus.sgm import looks_like_sgm, read_sgm
from engine.corpus.tags import is_tags, spans_of
from engine.corpus.types import Criterion, Languages
from engine.corpus.wmt_xml import read_xml

_NAME_PARTS = "Name the parts: --source FILE --reference FILE --system NAME=FILE."


@dataclass
class _Sorted:
    """The files of a folder by what they are."""

    texts: dict[str, list[Lines]] = field(default_factory=dict)  # role → files; "" where the name says nothing
    grids: list[Grid] = field(default_factory=list)
    scores: list[ScoreFile] = field(default_factory=list)
    markup: list[Piece] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def lines(self, role: str) -> list[Lines]:
        """The text files of a role."""
        return self.texts.get(role, [])


@dataclass(frozen=True)
class Bundle:
    """What several files make: a draft, or a table whose columns are still to be mapped; and scores to add to it."""

    draft: Draft | None = None
    grid: Grid | None = None
    scores: tuple[ScoreFile, ...] = ()


def read_bundle(blobs: Sequence[Blob], name: str, languages: Languages, findings: Findings) -> Bundle:
    """Read several files as one corpus; a table among them is handed back, for its mapping to be settled.

    Raises
    ------
    Refused : several corpora at once, files of unequal length, files whose part in the corpus cannot be told.
    """
    if metrics_eval.language_pairs(blobs):
        return Bundle(draft=metrics_eval.read_folder(blobs, name, languages, findings))
    chosen, others = _choose(blobs, name)
    files = _sort(chosen, findings)
    try:
        result = _compose(files, name, findings)
    except Refused as refused:
        if others and refused.finding.kind in ("no-outputs", "no-data"):
            raise refuse(
                refused.finding.kind,
                name,
                f"{refused.finding.message} There are also {enumerated(others, shown=8)}.",
                "Name one of these folders, or the parts.",
            ) from None
        raise
    if files.unread or others:
        remedy = "Nothing needs to be done, unless one of these was meant; then name it alone or as a part."
        findings.add("unread-files", name, f"Not read: {enumerated(sorted(files.unread) + others, shown=8)}.", remedy)
    ignored = [blob.name for blob in blobs if is_ignored(blob.name)]
    if ignored:
        findings.note("ignored-files", name, f"Taken for licences, notes or programs: {enumerated(ignored, shown=8)}.")
    return result


def attach_scores(draft: Draft, scores: Sequence[ScoreFile], findings: Findings) -> None:
    """Add the score files of a folder; those that do not fit are reported and left out."""
    for score in scores:
        try:
            attach(draft, score, criterion_of(score), findings)
        except Refused as refused:
            finding = refused.finding
            findings.add(
                finding.kind, finding.file, f"{finding.message} These scores were left out.", finding.remedy, finding.line
            )


def _choose(blobs: Sequence[Blob], name: str) -> tuple[list[Blob], list[str]]:
    """The files that belong to the corpus, and the folders that do not."""
    data = [blob for blob in blobs if not is_ignored(blob.name)]
    ignored = [blob.name for blob in blobs if is_ignored(blob.name)]
    if not data:
        raise refuse(
            "no-data", name, f"There are no data files, only {enumerated(ignored)}.", "Name the folder or file with the texts."
        )
    root = _common_folder([blob.folder for blob in data])
    folders: dict[str, list[Blob]] = {}
    for blob in data:
        folders.setdefault(blob.folder.removeprefix(root).strip("/"), []).append(blob)
    top = folders.get("", [])
    parts = [
        blob
        for folder, members in folders.items()
        if folder and "/" not in folder and role_of_folder(members[0].name)
        for blob in members
    ]
    if top or parts:
        chosen = top + parts
        return chosen, _summary([blob for blob in data if blob not in chosen])
    names = sorted({folder.partition("/")[0] for folder in folders})
    raise refuse(
        "several-corpora",
        name,
        f"The folder holds several folders ({enumerated(names, shown=12)}), each a corpus of its own perhaps.",
        "Name one of them.",
    )


def _summary(blobs: Sequence[Blob]) -> list[str]:
    """Files by their folder."""
    folders: dict[str, int] = {}
    for blob in blobs:
        folders[blob.folder] = folders.get(blob.folder, 0) + 1
    return [f"{folder}/ ({plural(count, 'file')})" for folder, count in folders.items()]


def _common_folder(folders: Sequence[str]) -> str:
    """The folder that all files are in."""
    parts = [folder.split("/") if folder else [] for folder in folders]
    shared: list[str] = []
    for level in zip(*parts):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    while shared and role_of_folder("/".join([*shared, "x"])):
        shared.pop()
    return "/".join(shared)


def _sort(blobs: Sequence[Blob], findings: Findings) -> _Sorted:
    """Read each file as what it is."""
    files = _Sorted()
    for blob in blobs:
        role = role_of_file(blob.name)
        try:
            if role in ("source", "reference", "system") and not re.search(
                r"\.(tsv|csv|xlsx|jsonl?|xml|sgml?|zip)(\.gz)?$", blob.name.lower()
            ):
                _sort_text(Piece(blob.name, text=decode_blob(blob, findings)), role, files, findings)
                continue
            piece = recognise(blob, findings)
        except Refused as refused:
            finding = refused.finding
            findings.add(finding.kind, finding.file, f"{finding.message} The file was passed over.", finding.remedy, finding.line)
            continue
        if piece.text is not None:
            _sort_text(piece, role or "", files, findings)
        elif piece.grid is not None:
            files.grids.append(piece.grid)
        elif piece.scores is not None:
            files.scores.append(piece.scores)
        elif piece.archive is not None:
            files.unread.append(f"{piece.file} (an archive)")
        else:
            files.markup.append(piece)
    return files


def _sort_text(piece: Piece, role: str, files: _Sorted, findings: Findings) -> None:
    text = piece.text or ""
    if role in ("source", "reference", "system") and looks_like_sgm(text):
        files.markup.append(Piece(piece.file, sgm=text))
        return
    files.texts.setdefault(role, []).append(lines_of(text, piece.file, findings))


def _compose(files: _Sorted, name: str, findings: Findings) -> Bundle:
    """Make one corpus of what was found."""
    corpora = [grid for grid in files.grids if _has_texts(grid)]
    if len(corpora) > 1:
        raise refuse(
            "several-corpora",
            name,
            f"There are several tables with texts ({enumerated([grid.file for grid in corpora], shown=12)}).",
            "Name one of them.",
        )
    files.unread += [grid.file for grid in files.grids if grid not in corpora]
    if corpora:
        files.unread += [lines.file for group in files.texts.values() for lines in group] + [piece.file for piece in files.markup]
        return Bundle(grid=corpora[0], scores=tuple(files.scores))
    if files.markup:
        files.unread += [lines.file for group in files.texts.values() for lines in group]
        draft = read_markup(files.markup, name, findings)
    elif any(files.texts.values()):
        draft = _parallel(files, name, findings)
    elif len(files.scores) == 1:
        score = files.scores.pop()
        return Bundle(draft=scores_only(score, name, criterion_of(score), findings))
    elif files.grids:
        return Bundle(grid=files.grids[0])
    else:
        raise refuse("no-data", name, "None of the files holds texts that can be read.", _NAME_PARTS)
    return Bundle(draft=draft, scores=tuple(files.scores))


def read_markup(pieces: Sequence[Piece], name: str, findings: Findings) -> Draft:
    """Put SGM and XML files together."""
    parts = Parts()
    for piece in pieces:
        if piece.sgm is not None:
            read_sgm(piece.sgm, piece.file, parts, findings)
        else:
            read_xml(piece.xml or "", piece.file, parts, findings)
    if not parts.items:
        raise refuse("no-outputs", name, "The files hold no segments.", "Give <seg> elements inside of <doc>.")
    return assemble(parts, name, findings)


def _has_texts(grid: Grid) -> bool:
    return any(role.startswith("hypothesis") for role in guess_roles(grid).roles.values())


def _parallel(files: _Sorted, name: str, findings: Findings) -> Draft:
    """Text files by their roles: one source, references, systems, tags, documents."""
    sources, references, systems = files.lines("source"), files.lines("reference"), files.lines("system")
    if len(sources) > 1:
        raise refuse(
            "several-sources",
            name,
            f"Several files seem to be the source ({enumerated([lines.file for lines in sources])}).",
            _NAME_PARTS,
        )
    systems = systems + _unnamed(files, sources + references + systems, name, findings)
    if not systems:
        have = enumerated([lines.file for lines in sources + references])
        raise refuse("no-outputs", name, f"There are no system outputs, only {have}.", _NAME_PARTS)
    named = dict(zip(system_names([lines.file for lines in systems]), systems))
    post_edits = [lines.file for lines in references if re.search(r"(^|[._\-/])pe([._\-]|$)", lines.file.lower())]
    if post_edits:
        findings.note("post-edits", post_edits[0], "Post-edited outputs are read as references.")
    draft = combine(name, sources[0] if sources else None, references, named, findings)
    draft.languages = _suffix_languages(sources, references)
    for lines in files.lines("documents"):
        if len(lines.lines) == draft.size:
            draft.documents = [line.rpartition("\t")[2] for line in lines.lines]
        else:
            findings.add(
                "unequal-lengths",
                lines.file,
                f"The file has {plural(len(lines.lines), 'line')} for {plural(draft.size, 'segment')}; documents were left out.",
                "Give one line per segment.",
            )
    _add_tags(draft, files, findings)
    return draft


def _unnamed(files: _Sorted, known: Sequence[Lines], name: str, findings: Findings) -> list[Lines]:
    """Files whose names say nothing: outputs of systems called so, where they are about as long as the others."""
    unnamed = files.lines("")
    if not unnamed:
        return []
    if not known:
        if len(unnamed) > 1:
            raise refuse(
                "unclear-files",
                name,
                "The names do not say which file is source, reference or system: "
                f"{enumerated([lines.file for lines in unnamed], shown=8)}.",
                _NAME_PARTS,
            )
        return unnamed
    size = max(len(lines.lines) for lines in known)
    taken = [lines for lines in unnamed if abs(len(lines.lines) - size) <= 0.2 * size]
    files.unread += [lines.file for lines in unnamed if lines not in taken]
    if taken:
        findings.note(
            "taken-as-systems",
            name,
            f"Taken for system outputs by their length: {enumerated([lines.file for lines in taken], shown=8)}.",
            f"Where that is wrong: {_NAME_PARTS}",
        )
    return taken


def _suffix_languages(sources: Sequence[Lines], references: Sequence[Lines]) -> Languages:
    source = language_of_suffix(sources[0].file) if sources else None
    target = language_of_suffix(references[0].file) if references else None
    return (source, target)


def _add_tags(draft: Draft, files: _Sorted, findings: Findings) -> None:
    """Word tags become error spans of the only system (of the source: too, seen from that system)."""
    for role, side in (("system tags", "hypothesis"), ("source tags", "source")):
        for lines in files.lines(role):
            texts = draft.sources if side == "source" else next(iter(draft.systems.values()))
            if len(draft.systems) != 1 or texts is None or len(lines.lines) != draft.size or not is_tags(lines.lines):
                files.unread.append(lines.file)
                continue
            draft.spans += spans_of(lines, texts, next(iter(draft.systems)), side, findings)


def criterion_of(score: ScoreFile) -> Criterion:
    """What the scores of a file are called: by the file's own word, its suffix (`test21.da`), or its name."""
    base = re.sub(r"\.(seg|sys)\.score$", "", score.file.rpartition("/")[2])
    suffix = base.rpartition(".")[2]
    name = score.criterion or (suffix if suffix in ("da", "mqm", "hter", "z", "esa", "sqm") else stem(base))
    return Criterion(name, f"{score.file}, as given; higher is taken as better")
