"""Kinds of texts that are told by the form of their lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from headway.foreign.documents import toml_tables
from headway.foreign.kinds.beginning import Beginning
from headway.foreign.kinds.model import FileKind, Identity

_TRACE = 'name it in a study: `path.rate = {{ trace = "{file}" }}`'
_IMPORT = "`headway trace import {file} --out TRACE` makes a trace of it"
MAHIMAHI_TRACE = FileKind(
    "trace",
    "a trace of Mahimahi's form",
    _TRACE,
    reads="milliseconds, a line for each opportunity to deliver 1500 bytes",
)
RATE_TRACE = FileKind(
    "rates", "a table of times and rates", _IMPORT, reads="columns of numbers", is_vague=True
)
CSV = FileKind("csv", "a table (CSV)", _IMPORT, reads="columns with names", is_vague=True)
NETEM_TABLE = FileKind("dist", "a table of netem's delay distribution")
STUDY = FileKind("study", "a study", "`headway run {file}`", reads="all")
PROGRAMS = FileKind(
    "programs",
    "a file of programs",
    'name it in a study: `programs = "{file}"`, or lay it beside one as programs.toml',
    reads="all",
)
TOML = FileKind("toml", "a TOML document", is_vague=True)
HLS = FileKind("hls", "a playlist of HLS", "write an MPD of the same video with a packager")
MHTML = FileKind(
    "mhtml",
    "a page saved as one file (MHTML)",
    "it has no requests and header fields; record its URL: `headway record URL --out SITE.warc.gz`",
)
CDX = FileKind(
    "cdx", "an index of web archives (CDX)", "it has no content; name the WARC files that it is of"
)
SECRETS = FileKind("sslkeylog", "a log of TLS secrets", "name it beside its capture in Wireshark")
CERTIFICATE = FileKind("pem", "a certificate or key (PEM)")
SCRIPT = FileKind("script", "a script of {}", "`headway exec -- {file}` runs it")
DOCKERFILE = FileKind(
    "dockerfile",
    "a Dockerfile",
    "build it and save the image: `docker build -t NAME . && docker save NAME -o IMAGE.tar`",
)
PACKET_TEXT = FileKind(
    "packets",
    "a text of tcpdump or tshark",
    "it has no content; give its round trip and rate to `[path]`",
)
HTTP_MESSAGE = FileKind(
    "http", "an HTTP message", "record its page: `headway record URL --out SITE.warc.gz`"
)
CURL_TRACE = FileKind("curl", "an output of curl")
TEXT = FileKind("text", "a text", is_vague=True)
BINARY = FileKind("unknown", "of no kind that is known here", is_defect=True, is_vague=True)

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_STUDY_KEYS = frozenset(
    (
        "axes",
        "contenders",
        "experiments",
        "flows",
        "path",
        "profile",
        "protocol",
        "question",
        "repetitions",
        "study",
        "workload",
    )
)
_PROGRAM_KEYS = frozenset(("client", "proxy", "server", "pep", "player", "cross_traffic"))


@dataclass(frozen=True)
class _TextForm:
    """How a text of a kind looks.

    Attributes:
        pattern: what it begins with.
        kind: of it.
    """

    pattern: re.Pattern[str]
    kind: FileKind


def _form(pattern: str, kind: FileKind) -> _TextForm:
    return _TextForm(re.compile(pattern), kind)


_FORMS = (
    _form(r"#EXTM3U", HLS),
    _form(r"(From: <?Saved|Snapshot-Content-Location: |MIME-Version: 1\.0|From: .*\n(?s:.{0,400})MIME-Version:)", MHTML),
    _form(r"( CDX [A-Za-z ]+\n|CDX [A-Za-z ]+\n|[^\n]*\) ?/?[^\n]* \d{14} \{|\S+\)\S* \d{14} )", CDX),
    _form(r"(?s:(#[^\n]*\n)*)(CLIENT_RANDOM|CLIENT_HANDSHAKE_TRAFFIC_SECRET|SERVER_HANDSHAKE_TRAFFIC_SECRET|\w+_TRAFFIC_SECRET_\d) [0-9a-fA-F]{64} ", SECRETS),
    _form(r"-----BEGIN [A-Z ]+-----", CERTIFICATE),
    _form(r"(?i)(#[^\n]*\n|\s)*(FROM|ARG) \S+(?s:.*)\n(RUN|CMD|ENTRYPOINT|COPY|ADD) ", DOCKERFILE),
    _form(r"(\d\d:\d\d:\d\d\.\d{6} |\d{10}\.\d{6} )(IP6?|ARP|eth|ethertype) ", PACKET_TEXT),
    _form(r"HTTP/\d(\.\d)? \d{3}|(GET|POST|HEAD|PUT|OPTIONS) \S+ HTTP/\d", HTTP_MESSAGE),
    _form(r"[*] +(Trying|Host |Connected to|Added )", CURL_TRACE),
)  # fmt: skip
_LOOKED_AT_LINES = 200


def text_kind(start: Beginning) -> Identity:
    """What a text is, or that nothing here knows it."""
    text = start.text
    if _is_binary(text):
        return Identity(BINARY)
    if interpreter := re.match(r"#! *(?:/usr/bin/env +)?(\S+)", text):
        return Identity(SCRIPT, interpreter[1].rpartition("/")[2])
    for form in _FORMS:
        if form.pattern.match(text):
            return Identity(form.kind)
    return _numbers(start) or _toml(text) or Identity(TEXT)


def _is_binary(text: str) -> bool:
    """Whether it has control characters that no text has, or a part of it is no text."""
    odd = sum(
        not character.isprintable() and character not in "\t\r\n\f\x1b" for character in text[:4096]
    )
    return "\0" in text[:4096] or odd + text[:4096].count("\ufffd") > len(text[:4096]) / 20


def _toml(text: str) -> Identity | None:
    """What a TOML document is, by its keys."""
    if not re.match(r"(\s*#[^\n]*\n|\s)*(\[+[\w.\"' -]+\]+\s*(#|\n|$)|[\w.\"'-]+\s*=)", text):
        return None
    try:
        tables = toml_tables(text)
    except ValueError:
        return Identity(TOML)
    if tables.keys() & _STUDY_KEYS:
        return Identity(STUDY)
    is_programs = tables.keys() <= _PROGRAM_KEYS and all(
        isinstance(value, dict) for value in tables.values()
    )
    return Identity(PROGRAMS if tables and is_programs else TOML)


def _numbers(start: Beginning) -> Identity | None:
    """What lines of numbers are: of Mahimahi's form, times and rates, netem's table, or a table with names."""
    lines = [line.strip() for line in (start.lines or start.text.splitlines())[:_LOOKED_AT_LINES]]
    rows = [line for line in lines if line and not line.startswith("#")]
    comments = " ".join(line for line in lines if line.startswith("#"))
    if not rows:
        return None
    if re.search(r"(?i)distribution|netem|\bmean\b|\bsigma\b|\brho\b", comments) and all(
        re.fullmatch(r"-?\d+(\s+-?\d+)*", row) for row in rows
    ):
        return Identity(NETEM_TABLE)
    if all(re.fullmatch(_NUMBER, row) for row in rows):
        return Identity(MAHIMAHI_TRACE)
    columns = rf"{_NUMBER}(?:[ \t]*[,;\t ][ \t]*{_NUMBER})+[ \t]*[,;]?"
    if all(re.fullmatch(columns, row) for row in rows):
        return Identity(RATE_TRACE)
    separators = [sum(row.count(mark) for row in rows[:20]) for mark in ",;\t"]
    mark = ",;\t"[separators.index(max(separators))]
    widths = {len(row.split(mark)) for row in rows[:20]}
    has_numbers = any(
        all(re.fullmatch(_NUMBER, row.split(mark)[column].strip(' "')) for row in rows[1:20])
        for column in range(min(widths))
    )
    if max(separators) and len(widths) == 1 and len(rows) > 1 and has_numbers:
        return Identity(CSV)
    return None
