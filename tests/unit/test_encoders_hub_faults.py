"""What is said of a model that cannot be fetched: words, never the name of an exception."""

from __future__ import annotations

import errno
import socket

import httpx
import pytest

from engine.errors import InputError
from engine.metrics.encoders import hub

RESPONSE = httpx.Response(503, request=httpx.Request("GET", "http://hub"))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (socket.gaierror(-2, "Name or service not known"), "cannot be reached"),
        (httpx.ConnectError("refused"), "cannot be reached"),
        (httpx.ReadTimeout("slow"), "does not answer in time"),
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (httpx.HTTPStatusError("no", request=RESPONSE.request, response=RESPONSE), "answers with status 503"),
    ],
)
def test_faults_are_told_in_words(monkeypatch: pytest.MonkeyPatch, fault: Exception, said: str) -> None:
    def fail(_: str) -> None:
        raise fault

    monkeypatch.setattr(hub, "_probe", fail)
    with pytest.raises(InputError) as found:
        hub.find_or_fetch_config("nobody/nothing", "nobody/nothing", None)
    message = str(found.value)
    assert said in message and "hf download nobody/nothing" in message
    assert type(fault).__name__ not in message


def test_the_reason_may_lie_deeper(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        try:
            raise TimeoutError
        except TimeoutError as error:
            raise httpx.ConnectError("failed") from error

    monkeypatch.setattr(hub, "_probe", fail)
    with pytest.raises(InputError, match="does not answer in time"):
        hub.find_or_fetch_config("nobody/nothing", "nobody/nothing", None)
