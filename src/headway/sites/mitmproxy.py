"""Sites from mitmproxy's flow files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from headway.errors import WrongInputError
from headway.sites.captured import Captured, RecordedFile, Told
from headway.sites.gzipped import read_unzipped
from headway.sites.instants import instant_s
from headway.sites.ordering import in_time
from headway.sites.site import Header
from headway.sites.tnetstring import TnetstringError, Value, values

_Flow = dict[str, Value]
_Kind = TypeVar("_Kind")
_OLD = "a mitmproxy before 0.16 wrote it; `mitmdump -n -r OLD -w NEW` of a newer one converts it"
_DEFAULT_PORTS = {"http": 80, "https": 443}


class _OddFlowError(ValueError):
    """A flow is not what mitmproxy writes; says what of it."""


def read_flows(path: Path) -> RecordedFile:
    """What a file holds that ``mitmdump -w`` or mitmproxy wrote.

    It has bodies as they were sent, with their content coding and without chunks; they stay so.

    Raises:
        WrongInputError: it cannot be read, or is not a flow file.
    """
    try:
        return _recorded(values(read_unzipped(path)))
    except RecursionError:
        message = "not a mitmproxy flow file: its values are nested too deeply"
        raise WrongInputError(message, where=str(path)) from None
    except TnetstringError as error:
        raise WrongInputError(f"not a mitmproxy flow file: {error}", where=str(path)) from error


def _recorded(flows: Iterable[Value]) -> RecordedFile:
    """The exchanges in the order in which they began; flows that are odd are left out, each by its number."""
    captured: list[Captured] = []
    odd: list[str] = []
    for number, flow in enumerate(flows, start=1):
        if not isinstance(flow, dict):
            raise TnetstringError("one of its values is not a flow")
        if _is_old(flow):
            raise TnetstringError(_OLD)
        try:
            if flow.get("type") in ("http", b"http") and flow.get("response") is not None:
                captured.append(_captured(flow))
        except _OddFlowError as error:
            odd.append(f"flow {number}: {error}")
    in_order = in_time(captured, [exchange.began_s for exchange in captured])
    return RecordedFile(tuple(in_order), odd=tuple(odd))


def _is_old(flow: _Flow) -> bool:
    """Whether a flow is in the form that it had before mitmproxy 0.16."""
    response = flow.get("response")
    has_old_names = isinstance(response, dict) and "code" in response
    return has_old_names or ("type" not in flow and isinstance(flow.get("version"), list))


def _captured(flow: _Flow) -> Captured:
    request, response = _field(flow, "request", dict), _field(flow, "response", dict)
    content = response.get("content")
    error = flow.get("error")
    broken = _text(error.get("msg")) or "the connection broke" if isinstance(error, dict) else ""
    return Captured(
        method=_text(request.get("method")),
        url=_url(request),
        status=_field(response, "status_code", int),
        headers=_headers(response),
        body=content if isinstance(content, bytes) else None,
        protocol=_text(response.get("http_version")),
        told=Told(cut=broken),
        began_s=instant_s(request.get("timestamp_start")),
    )


def _url(request: _Flow) -> str:
    """What the client asked for: behind a reverse or transparent proxy, only fields tell."""
    scheme = _text(request.get("scheme"))
    named = [value for name, value in _headers(request) if name.lower() == "host"]
    authority = _text(request.get("authority")) or next(iter(named), "")
    if not authority:
        port = _field(request, "port", int)
        is_default = port == _DEFAULT_PORTS.get(scheme)
        authority = _text(request.get("host")) + ("" if is_default else f":{port}")
    return f"{scheme}://{authority}{_text(request.get('path'))}"


def _headers(message: _Flow) -> tuple[Header, ...]:
    headers: list[Header] = []
    for entry in _field(message, "headers", list):
        if not isinstance(entry, list) or len(entry) != 2:
            raise _OddFlowError("a header field is not a pair of name and value")
        headers.append((_text(entry[0]), _text(entry[1])))
    return tuple(headers)


def _field(flow: _Flow, name: str, kind: type[_Kind]) -> _Kind:
    value = flow.get(name)
    if not isinstance(value, kind):
        raise _OddFlowError(f"it has no {name}")
    return value


def _text(value: Value) -> str:
    """Text, which older files have as bytes."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.decode("latin-1")
    return value if isinstance(value, str) else ""
