"""The base of adapters of clients."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from headway.contract.artifact import read_text
from headway.programs import uploads
from headway.programs.base import SECRETS_FILE, SERVER_NAME, Flow, Knob, Resolver
from headway.programs.measurement import DigestedBody, Measurement
from headway.study.application import TAKEN
from headway.study.dns import RESOLVER_NAME, DnsTransport
from headway.study.family import HostAddress

IDLE_LIMIT_S = 30
"""After so long without a byte, a client of the workload migration gives a connection up."""
TRIES = 5
"""How often a client that cannot migrate asks for the body, all in all."""

RETRY_PAUSE = Knob(
    "retry_pause",
    "1",
    "seconds between the loss of a connection and the next attempt, when the address changes",
    ("0", "0.5", "1", "2", "5", "10"),
)

_Report = TypeVar("_Report", bound=BaseModel)

_ASIDES = (
    *("  ", "\t", "For more information", "Usage:", "Usage of ", "\x1b"),
    "note: run with `RUST_BACKTRACE",
)
"""How lines begin that go with an error, and are none; the agent has the same."""
_GO_ENDS = ("panic: ", "fatal error: ")
_REFUSALS = {
    405: "it takes no POST",
    413: "the content is too much for it",
    417: "it takes no Expect",
    501: "it takes no POST",
}
"""Why a server may refuse content (RFC 9110, section 15)."""

_UNTIL_IT_SUCCEEDS = """\
tries=$1 pause=$2
shift 2
until "$@"; do
  status=$?
  tries=$((tries - 1))
  [ $tries -gt 0 ] || exit $status
  sleep $pause
done
"""
_BODY_URL = re.compile(r"/(\d+)\.bin(?:\?\d+)?$")
"""How URLs end of bodies of a size."""
_IN_NEW_DIRECTORY = 'mkdir -p "$1" && shift && exec "$@"'


def started_again(command: Sequence[str], pause_s: str) -> tuple[str, ...]:
    """A command that a shell starts again, after a pause, until it succeeds or all tries are used.

    Its exit status is that of the last attempt.
    """
    return ("sh", "-c", _UNTIL_IT_SUCCEEDS, "sh", str(TRIES), pause_s, *command)


def in_new_directory(directory: str, command: Sequence[str]) -> tuple[str, ...]:
    """A command for which a directory is made first."""
    return ("sh", "-c", _IN_NEW_DIRECTORY, "sh", directory, *command)


def hosts_file(address: HostAddress) -> dict[str, str]:
    """The file that tells programs the server's address, so that they ask no name server."""
    return hosts_files({SERVER_NAME: (address,)})


def hosts_files(names: Mapping[str, Iterable[HostAddress]]) -> dict[str, str]:
    """The same of several names, each with its addresses."""
    lines = [f"{address} {name}\n" for name, addresses in names.items() for address in addresses]
    return {"/etc/hosts": "".join(["127.0.0.1 localhost\n", *lines])}


def resolver_files(resolver: Resolver | None) -> dict[str, str]:
    """The files that have programs ask a resolver; none if there is none, and they are told addresses otherwise."""
    if resolver is None:
        return {}
    if resolver.dns.transport is DnsTransport.HTTPS:
        return hosts_files({RESOLVER_NAME: (resolver.address,)})
    transport = "options use-vc\n" if resolver.dns.transport is DnsTransport.TCP else ""
    return {
        "/etc/hosts": "127.0.0.1 localhost\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nservices: files\nhosts: files dns\n",
        "/etc/resolv.conf": f"nameserver {resolver.address}\n{transport}",
    }


def secrets_environment(flow: Flow) -> dict[str, str]:
    """Has a client write its TLS secrets beside the captures, if there are any."""
    return {"SSLKEYLOGFILE": f"/lab/run/{SECRETS_FILE}"} if flow.capture.keeps_secrets else {}


def last_words(directory: Path, program: str) -> str:
    """The last line that a program wrote, to standard error if it did, or that it wrote none."""
    return said_last(directory, program) or "it printed no result"


def said_last(directory: Path, program: str) -> str:
    """The last line that a program wrote, to standard error if it did; empty if there is none.

    Lines that it indents, such as header fields, are left out, and what Go and Rust print of their calls.
    """
    for file in (directory / f"{program}.err", directory / f"{program}.out"):
        lines = read_text(file, exact=False).splitlines() if file.exists() else []
        texts = [line.strip() for line in lines if line.strip() and not line.startswith(_ASIDES)]
        panics = [line for line in texts if line.startswith(_GO_ENDS)]
        if texts:
            return (panics or texts)[-1]
    return ""


def answer_error(status: int, size: int, flow: Flow, directory: Path) -> str | None:
    """What is wrong with an answer: its status, or the number of bytes of its body, or what it says of an upload.

    Args:
        status: of the response.
        size: of its body.
        flow: what was asked.
        directory: of the run.
    """
    payload = flow.workload.payload
    application, has_content = payload.application, payload.content is not None
    if status != (application.status if application else TAKEN):
        why = f": {_REFUSALS[status]}" if status in _REFUSALS and has_content else ""
        return f"the server answered with status {status}{why}"
    if has_content:
        return uploads.count_error(flow, directory) if payload.is_taken else None
    wanted = flow.workload.amount if application else flow.body_bytes
    if size != wanted:
        return f"{size} of {int(wanted or 0)} bytes came"
    return None


class ReportError(Exception):
    """A program left no report, or one that is wrong; its text says which."""


def report_of(model: type[_Report], file: Path, program: str) -> _Report:
    """What a program wrote of itself as JSON.

    Args:
        model: what that has.
        file: where it is.
        program: whose it is, by the name of its output.

    Raises:
        ReportError: the program was ended before it could, or wrote something else.
    """
    try:
        return model.model_validate_json(read_text(file))
    except FileNotFoundError:
        wrong = ""
    except ValidationError as error:
        wrong = wrong_field(error)
    raise ReportError(f"{program}: {wrong or last_words(file.parent, program)}")


def wrong_field(error: ValidationError) -> str:
    """Which field of a program's result is wrong first, and how; empty if it is no result at all."""
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"]))
    return f"its result has a wrong field {field}: {first['msg']}" if field else ""


class DigestedRequest(Protocol):
    """A request in a client's report."""

    @property
    def url(self) -> str:
        """What was asked for."""

    @property
    def bytes(self) -> int:
        """How much came."""

    @property
    def sha256(self) -> str | None:
        """The digest of that, if it was asked for."""


def digested(requests: Iterable[DigestedRequest]) -> tuple[DigestedBody, ...]:
    """The bodies of requests that a client digested and whose sizes their URLs tell."""
    each = ((request, _BODY_URL.search(request.url)) for request in requests)
    return tuple(
        DigestedBody(int(match[1]), digested_request.bytes, digested_request.sha256)
        for digested_request, match in each
        if match and digested_request.sha256 is not None
    )


class _ReportedRequest(BaseModel):
    url: str = ""
    status: int | None = None
    bytes: int = 0
    sha256: str | None = None
    ttfb_s: float | None = None
    total_s: float | None = None
    error: str | None = None


class _CommonReport(BaseModel):
    handshake_s: float | None = None
    error: str | None = None
    requests: list[_ReportedRequest]
    migration_error: str | None = None


def reported(file: Path, program: str, flow: Flow) -> Measurement:
    """What an HTTP/3 client reports: one JSON object, with all times in seconds from its start.

    Args:
        file: its standard output.
        program: what it is called in errors.
        flow: what it was asked to do.
    """
    directory = file.parent
    try:
        report = report_of(_CommonReport, file, program)
    except ReportError as missing:
        return Measurement(error=str(missing))
    wrong = (_request_error(request, flow, directory) for request in report.requests)
    if error := report.error or next((error for error in wrong if error), None):
        migration = f"; {report.migration_error}" if report.migration_error else ""
        return Measurement(error=f"{program}: {error}{migration}")
    first_bytes = [request.ttfb_s for request in report.requests if request.ttfb_s is not None]
    ends = tuple(request.total_s for request in report.requests if request.total_s is not None)
    return Measurement(
        connect_s=report.handshake_s,
        tls_s=report.handshake_s,
        ttfb_s=min(first_bytes, default=None),
        total_s=max(ends),
        bytes=uploads.carried_bytes(flow, (request.bytes for request in report.requests)),
        each_s=ends,
        bodies=digested(report.requests),
    )


def _request_error(request: _ReportedRequest, flow: Flow, directory: Path) -> str | None:
    if request.error or request.status is None or request.total_s is None:
        return request.error or "an answer did not come"
    return answer_error(request.status, request.bytes, flow, directory)
