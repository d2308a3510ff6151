"""Models of the Hugging Face hub: what is in the local cache is used as it is; only what is missing is fetched."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from engine.errors import InputError
from engine.metrics.encoders.locate import WEIGHTS, weights_file

_DISK = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EACCES: "the folder of the models cannot be written to",
    errno.EROFS: "the folder of the models cannot be written to",
}
_TOKENIZER_FILES = ("*.json", "*.txt", "*.model", "*.bpe.codes")


def find_or_fetch_config(model: str, name: str, revision: str | None) -> tuple[Path, str]:
    """The `config.json` of a model in the local cache, fetched if it is not there, and the commit it belongs to.

    Raises
    ------
    InputError : it is neither in the cache nor can it be fetched.
    """
    cached = _cached(name, revision)
    if cached is None:
        cached = Path(_fetch(model, name, lambda hub: hub.hf_hub_download(name, "config.json", revision=revision)))
        _optional(name, cached.parent.name)
    return cached, cached.parent.name


def folder_of(model: str, commit: str) -> Path:
    """The folder with all of a model's files at one commit, fetched if any is missing.

    Raises
    ------
    InputError : something is missing and cannot be fetched.
    """
    name = model.partition("@")[0]
    cached = _cached(name, commit)
    if cached is not None and weights_file(cached.parent) is not None and _has_tokenizer(cached.parent):
        return cached.parent

    def fetch(hub: Any) -> str:
        files = [item.rfilename for item in hub.HfApi().model_info(name, revision=commit).siblings or []]
        chosen = next((weights for weights in WEIGHTS if weights in files), None)
        if chosen is None:
            raise InputError(f"model {model!r} has no PyTorch weights on the hub; name another one")
        patterns = [*_TOKENIZER_FILES, "model*.safetensors" if "safetensors" in chosen else "pytorch_model*.bin"]
        wanted = [pattern for pattern in patterns if any(Path(file).match(pattern) for file in files if "/" not in file)]
        return hub.snapshot_download(name, revision=commit, allow_patterns=wanted, ignore_patterns=["*/*"])

    return Path(_fetch(model, name, fetch))


def _cached(name: str, revision: str | None) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(name, "config.json", revision=revision)
    return Path(found) if isinstance(found, str) else None


def _has_tokenizer(folder: Path) -> bool:
    patterns = ("tokenizer*", "vocab*", "*.model", "merges.txt")
    return any(True for pattern in patterns for _ in folder.glob(pattern))


def _optional(name: str, commit: str) -> None:
    """The tokenizer's settings, where the model has any."""
    import huggingface_hub as hub
    from huggingface_hub.errors import EntryNotFoundError

    try:
        hub.hf_hub_download(name, "tokenizer_config.json", revision=commit)
    except EntryNotFoundError:
        return


def _fetch(model: str, name: str, action: Callable[[Any], str]) -> str:
    import httpx
    import huggingface_hub as hub
    from huggingface_hub import errors

    failure = (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled, errors.HfHubHTTPError, httpx.HTTPError)
    absent = (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.EntryNotFoundError, errors.HFValidationError)
    try:
        _probe(hub.constants.ENDPOINT)
        return action(hub)
    except errors.GatedRepoError as error:
        raise InputError(f"model {model!r} asks for consent on the hub; log in with `hf auth login`, or name another") from error
    except errors.LocalEntryNotFoundError as error:
        raise _unreachable(model, name, error) from error
    except absent as error:
        reason = "is not on disk and there is none of that name on the Hugging Face hub"
        raise InputError(f"model {model!r} {reason}; check the name, or give a local folder") from error
    except (*failure, OSError) as error:
        raise _unreachable(model, name, error) from error


def _unreachable(model: str, name: str, error: Exception) -> InputError:
    reason = f"is not on disk and could not be fetched: {_in_words(error)}"
    remedy = f"check the name, fetch it while online (hf download {name}), or give a local folder"
    return InputError(f"model {model!r} {reason}; {remedy}")


def _in_words(error: Exception) -> str:
    """What went wrong on the way to the hub."""
    import httpx

    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or link.__context__
    for fault in chain:
        status = getattr(getattr(fault, "response", None), "status_code", None)
        if status is not None:
            return f"the Hugging Face hub answers with status {status}"
        if isinstance(fault, OSError) and fault.errno in _DISK:
            return _DISK[fault.errno]
    if any(isinstance(fault, (httpx.TimeoutException, TimeoutError)) for fault in chain):
        return "the Hugging Face hub does not answer in time"
    return "the Hugging Face hub cannot be reached from here"


def _probe(endpoint: str) -> None:
    """Fail at once where the hub's name cannot be resolved; the library would try for half a minute."""
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return
    host = urlsplit(endpoint).hostname
    if host:
        socket.getaddrinfo(host, 443)
