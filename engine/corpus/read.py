"""Reading an evaluation corpus from files, folders, archives and uploads: the one way in."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.corpus import metrics_eval
from engine.corpus.collector import no_collector
from engine.corpus.columns import Columns, format_columns, parse_columns, resolve
from engine.corpus.doctor import examine
from engine.corpus.draft import Draft, finish
from engine.corpus.file_names import stem, whole
from engine.corpus.files import Blob, from_bytes, from_folder, from_path, from_zip
from engine.corpus.findings import Findings, Refused, enumerated, refuse
from engine.corpus.folders import Bundle, attach_scores, criterion_of, read_bundle, read_markup
from engine.corpus.grid import Grid, check_width, promote, report_header
from engine.corpus.guess import guess_roles
from engine.corpus.languages import languages_from_name
from engine.corpus.loaded import Inputs, Loaded, TablePreview
from engine.corpus.mqm import is_mqm, read_mqm
from engine.corpus.parts import add_parts, add_scores
from engine.corpus.plain import combine, lines_of
from engine.corpus.recognise import Piece, recognise
from engine.corpus.rows import build
from engine.corpus.scores import scores_only
from engine.corpus.types import Corpus, Languages
from engine.errors import InputError

__all__ = ["Inputs", "Loaded", "TablePreview", "format_columns", "load", "load_bytes", "load_or_fail", "parse_columns"]


def load(
    parts: Inputs, columns: Mapping[str, str] | None = None, cut: Callable[[Corpus], Corpus] = lambda corpus: corpus
) -> Loaded:
    """Read a corpus.

    Parameters
    ----------
    parts : the files; whole corpora, parts, or a whole corpus with parts added to it (further references, systems, scores).
    columns : role → column, for a table (see `parse_columns`); without it the columns are guessed.
    cut : takes the part of the corpus that is wanted (its first segments, some systems) before the import doctor looks at it.

    Returns
    -------
    The corpus with all findings. `corpus` is None where a finding is fatal, or where the columns of a table are not certain:
    then `table` has a preview and the best guess.
    """
    demos = [path for path in parts.paths if str(path).startswith("demo:")]
    if demos:
        return _demo(str(demos[0]))
    findings = Findings()
    try:
        files = _Files(
            corpora=_gather(parts.paths, findings),
            source=from_path(parts.source) if parts.source else None,
            references=tuple(map(from_path, parts.references)),
            systems={whole(name): from_path(path) for name, path in parts.systems.items()},
            scores={whole(name): from_path(path) for name, path in parts.scores.items()},
            name=_name_of(parts),
            hints=tuple(str(path.absolute()) for path in [*parts.paths, *filter(None, [parts.source]), *parts.systems.values()]),
        )
    except Refused as refused:
        findings.extend([refused.finding])
        return Loaded(None, findings.done())
    return _load(files, columns, parts.languages, findings, cut)


def load_or_fail(parts: Inputs, columns: Mapping[str, str] | None = None) -> Corpus:
    """Read a corpus, or fail with the first reason why it cannot be read.

    Raises
    ------
    InputError : a fatal finding, or columns that are not certain; one line with file, line and remedy.
    """
    return corpus_or_fail(load(parts, columns))


def corpus_or_fail(loaded: Loaded) -> Corpus:
    """The corpus that was read, or an InputError with the first reason why there is none (see `load_or_fail`)."""
    if loaded.corpus is not None:
        return loaded.corpus
    fatal = next((finding for finding in loaded.findings if finding.severity == "fatal"), None)
    if fatal is not None:
        place = fatal.file + (f":{fatal.line}" if fatal.line else "")
        raise InputError(f"{place}: {fatal.message} {fatal.remedy}")
    table = loaded.table
    if table is None:
        raise InputError("nothing was read; name a file")
    guess = shlex.quote(format_columns(table.mapping()) or "hypothesis=…")
    columns = enumerated(table.columns, shown=30)
    raise InputError(f"{table.file}: the columns are not certain ({table.reason}); say --columns {guess}; columns: {columns}")


def load_bytes(
    files: Mapping[str, bytes],
    columns: Mapping[str, str] | None = None,
    *,
    source: str | None = None,
    references: Sequence[str] = (),
    systems: Mapping[str, str] | None = None,
    scores: Mapping[str, str] | None = None,
    languages: Languages = (None, None),
    name: str | None = None,
) -> Loaded:
    """Read uploaded files, through the same readers as `load`.

    Parameters
    ----------
    files : name → content. Files that no other parameter names are read as whole corpora (together, where there are several).
    source, references, systems, scores : names among `files` that are parts, as in `Inputs`.
    """
    findings = Findings()
    blobs = dict(zip(files, from_bytes(files)))
    systems, scores = systems or {}, scores or {}
    named = {*filter(None, [source]), *references, *systems.values(), *scores.values()}
    rest = [blob for given, blob in blobs.items() if given not in named]
    try:
        group = _Group(rest, name or (stem(rest[0].name) if len(rest) == 1 else "upload")) if rest else None
        made = _Files(
            corpora=_unpack(group, findings) if group else None,
            source=blobs[source] if source else None,
            references=tuple(blobs[given] for given in references),
            systems={system: blobs[given] for system, given in systems.items()},
            scores={criterion: blobs[given] for criterion, given in scores.items()},
            name=name or (group.name if group else "upload"),
            hints=tuple(files),
        )
    except Refused as refused:
        findings.extend([refused.finding])
        return Loaded(None, findings.done())
    return _load(made, columns, languages, findings)


@dataclass(frozen=True)
class _Group:
    """Files that make a whole corpus together, and what it is called."""

    blobs: list[Blob]
    name: str


@dataclass(frozen=True)
class _Files:
    """All that is to be read; like `Inputs`, but ready to be read."""

    corpora: _Group | None
    source: Blob | None
    references: tuple[Blob, ...]
    systems: Mapping[str, Blob]
    scores: Mapping[str, Blob]
    name: str
    hints: tuple[str, ...] = ()  # paths that may tell the languages

    @property
    def has_parts(self) -> bool:
        return bool(self.source or self.references or self.systems)


@dataclass
class _Read:
    """What has been read so far."""

    draft: Draft | None = None
    table: TablePreview | None = None
    pairs: tuple[str, ...] = field(default=())


def _demo(name: str) -> Loaded:
    from engine.corpus.demo import demo_names, load_demo

    short = name.removeprefix("demo:")
    if short in demo_names():
        return Loaded(load_demo(short), ())
    known = ", ".join(f"demo:{known}" for known in demo_names())
    return Loaded(None, (refuse("no-demo", name, f"There is no sample corpus {name!r}.", f"Choose one of {known}.").finding,))


def _name_of(parts: Inputs) -> str:
    if parts.paths:
        return stem(parts.paths[0].absolute().name)
    return whole("+".join(parts.systems)) or "corpus"


def _gather(paths: Sequence[Path], findings: Findings) -> _Group | None:
    """The files that paths name: a folder's files, an archive's files, or files beside each other."""
    if not paths:
        return None
    blobs: list[Blob] = []
    for path in paths:
        if path.is_dir():
            found = from_folder(path)
            prefix = f"{path.name}/" if len(paths) > 1 else ""
            blobs += [replace(blob, name=prefix + blob.name) for blob in found]
        else:
            blobs.append(from_path(path))
    names = [blob.name for blob in blobs]
    if len(set(names)) < len(names):
        blobs = (
            [from_path(path, str(path)) if not path.is_dir() else blob for path, blob in zip(paths, blobs)]
            if len(paths) == len(blobs)
            else blobs
        )
    return _unpack(_Group(blobs, stem(paths[0].absolute().name)), findings)


def _unpack(group: _Group, findings: Findings) -> _Group:
    """Open a zip archive that stands alone."""
    if len(group.blobs) != 1 or not group.blobs[0].name.lower().endswith(".zip"):
        return group
    blob = group.blobs[0]
    piece = recognise(blob, Findings())
    return group if piece.archive is None else _Group(from_zip(piece.archive, blob.name, findings), group.name)


def _load(
    files: _Files,
    columns: Mapping[str, str] | None,
    languages: Languages,
    findings: Findings,
    cut: Callable[[Corpus], Corpus] = lambda corpus: corpus,
) -> Loaded:
    with no_collector():
        return _load_all(files, columns, languages, findings, cut)


def _load_all(
    files: _Files, columns: Mapping[str, str] | None, languages: Languages, findings: Findings, cut: Callable[[Corpus], Corpus]
) -> Loaded:
    read = _Read()
    try:
        if files.corpora is not None:
            _read_corpora(files.corpora, columns, languages, read, findings)
            if read.draft is None:
                return Loaded(None, findings.done(), read.table, read.pairs)
        elif not files.has_parts:
            raise refuse("nothing", files.name, "There is nothing to read.", "Name a corpus, or a reference and a system.")
        if files.has_parts:
            read.draft = add_parts(read.draft, files.name, files.source, files.references, files.systems, findings)
        add_scores(read.draft, files.scores, findings)
        draft = read.draft
        if draft is None or not draft.systems:
            raise refuse("no-outputs", files.name, "There are no system outputs.", "Name them: --system NAME=FILE.")
        if draft.languages == (None, None):
            draft.languages = _languages_from(files)
        corpus = cut(finish(draft, languages, findings))
    except Refused as refused:
        findings.extend([refused.finding])
        return Loaded(None, findings.done(), read.table, read.pairs)
    findings.extend(examine(corpus, draft.origins))
    return Loaded(corpus, findings.done(), read.table, read.pairs)


def _languages_from(files: _Files) -> Languages:
    """What the names of files and folders say about the languages."""
    names = [blob.name for blob in files.corpora.blobs] if files.corpora else []
    names += [blob.name for blob in [*files.references, *files.systems.values(), *filter(None, [files.source])]]
    hints = ["/".join(Path(hint).parts[-3:]) for hint in files.hints]
    for name in [*names, *hints]:
        found = languages_from_name(name)
        if found != (None, None):
            return found
    return (None, None)


def _read_corpora(
    group: _Group, columns: Mapping[str, str] | None, languages: Languages, read: _Read, findings: Findings
) -> None:
    read.pairs = tuple(metrics_eval.language_pairs(group.blobs)) if len(group.blobs) > 1 else ()
    read.pairs = read.pairs if len(read.pairs) > 1 else ()
    if len(group.blobs) > 1:
        bundle = read_bundle(group.blobs, group.name, languages, findings)
    else:
        bundle = _single(recognise(group.blobs[0], findings), group.name, findings)
    read.draft = bundle.draft
    if bundle.grid is not None:
        _read_table(bundle.grid, group.name, columns, languages, read, findings)
    elif columns:
        findings.add(
            "no-table",
            group.name,
            "A mapping of columns was given, but this is no table; it was not used.",
            "Leave --columns out.",
        )
    if read.draft is not None:
        attach_scores(read.draft, bundle.scores, findings)


def _single(piece: Piece, name: str, findings: Findings) -> Bundle:
    """One file as a whole corpus."""
    if piece.grid is not None:
        return Bundle(grid=piece.grid)
    if piece.scores is not None:
        return Bundle(draft=scores_only(piece.scores, name, criterion_of(piece.scores), findings))
    if piece.archive is not None:
        return read_bundle(from_zip(piece.archive, piece.file, findings), name, (None, None), findings)
    if piece.text is not None:
        return Bundle(draft=combine(name, None, [], {stem(piece.file): lines_of(piece.text, piece.file, findings)}, findings))
    return Bundle(draft=read_markup([piece], name, findings))


def _read_table(
    grid: Grid, name: str, columns: Mapping[str, str] | None, languages: Languages, read: _Read, findings: Findings
) -> None:
    """Map a table's columns and build the corpus, where the mapping is given or certain."""
    if not len(grid):
        raise refuse("no-rows", grid.file, "The table has no rows.", "Give a table with at least one row.")
    check_width(len(grid.columns), grid.file)
    if columns:
        grid = promote(grid, columns.values())
    report_header(grid, findings)
    guess = guess_roles(grid)
    given = {column: role for role, column in (columns or {}).items()}
    mqm = is_mqm(list(grid.columns)) and given in ({}, {column: role for column, role in guess.roles.items() if role != "ignore"})
    read.table = TablePreview(
        tuple(grid.columns), grid.head(), guess.roles, guess.certain or mqm, grid.reader, grid.file, "" if mqm else guess.reason
    )
    if mqm:
        read.draft = read_mqm(grid, name, findings)
        return
    if not columns and not guess.certain:
        findings.note(
            "unclear-columns",
            grid.file,
            f"The columns are not certain: {guess.reason.rstrip('?')}.",
            "Say which column is what (--columns ROLE=COLUMN,…).",
        )
        return
    mapping: Columns = resolve(columns or read.table.mapping(), grid)
    read.draft = build(grid, mapping, name, languages, findings)
