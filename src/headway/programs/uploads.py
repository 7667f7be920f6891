"""Applications behind servers, the content of requests, and what an answer says of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from headway.contract.artifact import read_text
from headway.contract.program import Program
from headway.programs.base import Flow, Started
from headway.programs.native import command
from headway.study.application import TAKEN, Application
from headway.study.upload import UPLOAD_PATH, Upload

PORT = 8082
"""Port of the loopback address on which a server's own upstream takes content."""
UPSTREAM = f"127.0.0.1:{PORT}"
CONTENT_DIRECTORY = "/lab/www"
"""Where clients that read what they send from a file find it."""
_ANSWERS = "answers"


def upstream(namespace: str, application: Application) -> Started:
    """A headway-server that answers behind another server on the same host, over cleartext HTTP/1.1."""
    argv = (
        command("headway-server"),
        f"--plain={UPSTREAM}",
        *application_options(application),
        *((f"--root={CONTENT_DIRECTORY}",) if application.files else ()),
        "--no-dates",
        "--limits=off",
        "--notsent-lowat=0",
    )
    name = f"{namespace}-upstream"
    return Started((Program(name, namespace, argv, service=True, listens=(f"tcp:{PORT}",)),))


def application_options(application: Application) -> list[str]:
    """What makes a headway-server an application."""
    if application.streams:
        return ["--events", *(["--websockets"] if application.websockets else [])]
    times = {"service": application.service, "think": application.delay}
    slow = [f"--{name}-time={time.s:.9f}" for name, time in times.items() if time]
    status = [] if application.status == TAKEN else [f"--sink-status={application.status}"]
    early = ["--sink-early"] if application.early else []
    fields = padding_options(application.header_bytes, application.header_changes)
    return ["--sink", *slow, *status, *early, *fields]


def padding_options(header_bytes: int, changes: bool) -> list[str]:
    """What gives messages of Headway's own programs header fields of so many bytes."""
    if not header_bytes:
        return []
    return [f"--field-bytes={header_bytes}", *(["--fields-change"] if changes else [])]


def content_file(flow: Flow) -> str:
    """The file of the guest that has a request's content."""
    return f"{CONTENT_DIRECTORY}/{content_bytes(flow)}.bin"


def content_bytes(flow: Flow) -> int:
    """Size of a request's content; of workloads whose requests have any."""
    size = flow.workload.payload.content
    assert size is not None, "its requests have no content"
    return int(size)


def carried_bytes(flow: Flow, received: Iterable[int]) -> int | None:
    """What a flow's requests carried: content of responses, or their own; None if the server did not take that."""
    payload = flow.workload.payload
    if payload.content is None:
        return sum(received)
    return content_bytes(flow) * flow.workload.requests if payload.is_taken else None


def sent_bytes(flow: Flow, sent: Iterable[int | None]) -> int | None:
    """What an upload's client had sent when the response was complete; None of others, and if it does not tell."""
    if not isinstance(flow.workload, Upload):
        return None
    numbers = [number for number in sent if number is not None]
    return sum(numbers) if numbers else None


def answers_directory() -> str:
    """Directory of the guest for what the server answers."""
    return f"/lab/run/{_ANSWERS}"


def answer_file() -> str:
    """File of the guest for the server's answer."""
    return f"{answers_directory()}/{UPLOAD_PATH}"


def count_error(flow: Flow, directory: Path) -> str | None:
    """What is wrong with how much content the server says came.

    Args:
        flow: what was asked.
        directory: of the run.
    """
    file = directory / _ANSWERS / UPLOAD_PATH
    text = read_text(file, exact=False).strip() if file.exists() else ""
    if text == str(content_bytes(flow)):
        return None
    came = text if text.isdigit() else "the server does not report how many"
    return f"{came} of {content_bytes(flow)} bytes came"
