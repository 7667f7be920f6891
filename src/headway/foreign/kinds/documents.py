"""Kinds of JSON and XML documents, by their keys and root elements, and what these say of their makers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from headway.foreign.kinds.beginning import Beginning
from headway.foreign.kinds.model import FileKind, Identity

_RECORD = "`headway record {file} --out SITE.warc.gz`"
_EXPORT = "it has no bodies; save a HAR file with content"
HAR = FileKind(
    "har",
    "a HAR {} file",
    _RECORD,
    reads="1.1 and 1.2, of browsers, proxies and test tools, with bodies in it or in files beside it (`_file`); text in UTF-8, UTF-16 or UTF-32",
)
WPR = FileKind(
    "wpr",
    "an archive of Web Page Replay",
    _RECORD,
    reads="exchanges that did not fail",
)
QLOG = FileKind(
    "qlog",
    "a qlog {} file",
    "`headway states {file}`",
    reads="draft-00 to draft-02, 0.3 and 0.4, as a document, a sequence (JSON-SEQ) or lines (NDJSON): events of congestion, recovery, packets and streams",
)
MPD = FileKind(
    "mpd",
    "an MPD of DASH",
    'name it in a study: `workload.mpd = "{file}"`',
    reads="static ones, in one period, of one set of pictures and sound, cut into files (SegmentTemplate, SegmentList)",
)
NETLOG = FileKind("netlog", "a NetLog of Chromium", _EXPORT)
TIMELINE = FileKind("chrome-trace", "a trace of Chromium's profiler", _EXPORT)
OCI_INDEX = FileKind("oci-index", "the index of an OCI image", "name the directory that it is in")
IMAGE_MANIFEST = FileKind(
    "image-manifest", "the manifest of a container image", "name the directory that it is in"
)
JSON = FileKind("json", "a JSON document", is_vague=True)
JSON_LIST = FileKind(
    "json-list",
    "a list in JSON",
    "from Charles and others, export the session as HAR",
    is_vague=True,
)
JSON_LINES = FileKind("json-lines", "a file of JSON lines", is_vague=True)
HTML = FileKind(
    "html",
    "an HTML document",
    "serve it and record its URL: `headway record http://localhost:8000/ --map shop.test=localhost:8000 "
    "--out SITE.warc.gz`",
)
XML = FileKind("xml", "an XML document", is_vague=True)
_SMOOTH = FileKind(
    "smooth", "a manifest of Smooth Streaming", "write an MPD of the same video with a packager"
)
_SVG = FileKind("svg", "a picture (SVG)", HTML.way)
_BURP = FileKind(
    "burp", "a session of Burp Suite", "record with mitmproxy, or export HAR from the browser"
)
_JMETER = FileKind("jmeter", "a test plan of JMeter")
_POSTMAN = FileKind(
    "postman", "a collection of Postman", "it has requests without responses; record their page"
)
_OPENAPI = FileKind("openapi", "a description of an API (OpenAPI)")
_LIGHTHOUSE = FileKind(
    "lighthouse",
    "a report of Lighthouse",
    "record the page that it is of: `headway record URL --out SITE.warc.gz`",
)
_IPERF = FileKind("iperf3", "a result of iperf3", "give its rate and round trip to `[path]`")
_CATCHPOINT = FileKind("catchpoint", "a result of Catchpoint", _EXPORT)
_WEBPAGETEST = FileKind("webpagetest", "a result of WebPageTest", _EXPORT)
_INSOMNIA = FileKind("insomnia", "an export of Insomnia", _POSTMAN.way)
_TSHARK = FileKind(
    "tshark", "packets that tshark decoded", "give their round trip and rate to `[path]`"
)
_FIREFOX = FileKind("firefox-profile", "a profile of Firefox", _EXPORT)
_SABRE = FileKind(
    "sabre", "a trace of Sabre", "`headway trace import {file} --out TRACE` makes a trace of it"
)
_HEADWAY_MANIFEST = FileKind(
    "headway-manifest",
    "the manifest of results of Headway",
    "name the directory that it is in: `headway report DIRECTORY`",
)

_NAME_AND_VERSION = r'"%s"\s*:\s*\{[^{}]{0,400}?"%s"\s*:\s*"([^"]{1,80})"'
_ROLES = ("client", "server", "network", "unknown")
"""Of vantage points, which some name after their role."""
_RECORD_SEPARATOR = "\x1e"


@dataclass(frozen=True)
class _Keys:
    """How a JSON document of a kind can be told.

    Attributes:
        pattern: what its beginning has.
        kind: of it.
        identity: reads more of its beginning.
    """

    pattern: re.Pattern[str]
    kind: FileKind
    identity: Callable[[FileKind, str], Identity] = lambda kind, _: Identity(kind)


def _member(text: str, table: str, key: str) -> str:
    match = re.search(_NAME_AND_VERSION % (table, key), text)
    return match[1] if match else ""


def _har(kind: FileKind, text: str) -> Identity:
    """By the browser and what exported it; HAR 1.2 has its version before its creator, or after it."""
    version = re.search(r'\{\s*"log"\s*:\s*\{[^{}\[\]]*?"version"\s*:\s*"([^"]{1,10})"', text)
    version = version or re.search(r'\}\s*,\s*"version"\s*:\s*"([^"]{1,10})"\s*[,}]', text)
    for table in ("browser", "creator"):
        if name := _member(text, table, "name"):
            maker = f"{name} {_member(text, table, 'version')}".strip()
            return Identity(kind, version[1] if version else "", maker)
    return Identity(kind, version[1] if version else "")


def _qlog(kind: FileKind, text: str) -> Identity:
    version = re.search(r'"qlog_version"\s*:\s*"([^"]{1,40})"', text)
    if version is None and (schema := re.search(r'"file_schema"\s*:\s*"([^"]{1,80})"', text)):
        return Identity(kind, "0.4 or later", schema[1].rpartition(":")[2])
    title = re.search(r'"(?:title|code_version)"\s*:\s*"([^"]{1,60})"', text)
    maker = title[1] if title else _member(text, "vantage_point", "name")
    return Identity(kind, version[1] if version else "", "" if maker in _ROLES else maker)


def _netlog(kind: FileKind, text: str) -> Identity:
    name, version = (_member(text, "clientInfo", key) for key in ("name", "version"))
    return Identity(kind, "", f"{name} {version}".strip())


def _keys(
    pattern: str, kind: FileKind, identity: Callable[[FileKind, str], Identity] | None = None
) -> _Keys:
    compiled = re.compile(pattern, re.DOTALL)
    return _Keys(compiled, kind, identity) if identity else _Keys(compiled, kind)


_JSON_KINDS = (
    _keys(r'[^\n]{0,2000}?"(qlog_version|qlog_format|file_schema)"\s*:|.{0,4000}?"(qlog_version|file_schema)"\s*:\s*"', QLOG, _qlog),
    _keys(r'\{\s*"log"\s*:\s*\{', HAR, _har),
    _keys(r'\[\s*\{\s*"duration_ms"\s*:', _SABRE),
    _keys(r'\{\s*"info"\s*:.{0,4000}?schema\.getpostman\.com', _POSTMAN),
    _keys(r'\{.{0,400}?"(testId|synthetic)"\s*:.{0,400}?"(synthetic|testId)"\s*:', _CATCHPOINT),
    _keys(r'\{\s*"(data|statusCode)"\s*:.{0,4000}?"(testUrl|testRuns|successfulFVRuns)"\s*:', _WEBPAGETEST),
    _keys(r'\{\s*"(_type|__export_format)"\s*:.{0,400}?"(__export_format|_type)"\s*:', _INSOMNIA),
    _keys(r'\[\s*\{\s*"_index"\s*:.{0,4000}?"layers"\s*:', _TSHARK),
    _keys(r'\{\s*"meta"\s*:.{0,4000}?"(preprocessedProfileVersion|geckoVersion|processType)"\s*:', _FIREFOX),
    _keys(r'\{\s*"constants"\s*:', NETLOG, _netlog),
    _keys(r'\{\s*"Requests"\s*:', WPR),
    _keys(r'(\{\s*"traceEvents"\s*:|\[\s*\{\s*"(args|cat|name|ph|pid|ts)"\s*:.{0,2000}"(ph|pid)"\s*:)', TIMELINE),
    _keys(r'.{0,4000}?"lighthouseVersion"\s*:', _LIGHTHOUSE),
    _keys(r'.{0,4000}?"_postman_id"\s*:', _POSTMAN),
    _keys(r'\{\s*"(openapi|swagger)"\s*:', _OPENAPI),
    _keys(r'\{\s*"start"\s*:\s*\{\s*"connected"', _IPERF),
    _keys(r'.{0,2000}?"headway_version"\s*:', _HEADWAY_MANIFEST),
    _keys(r'.{0,4000}?"manifests"\s*:\s*\[.{0,2000}?"digest"\s*:', OCI_INDEX),
    _keys(r'\{.{0,4000}?"log"\s*:\s*\{.{0,4000}?"(entries|creator|pages|version)"\s*:', HAR, _har),
    _keys(r'.{0,4000}?"layers"\s*:\s*\[.{0,2000}?"(digest|blobSum)"\s*:|\[\s*\{\s*"Config"\s*:', IMAGE_MANIFEST),
)  # fmt: skip
_ROOTS = {
    "mpd": MPD,
    "html": HTML,
    "svg": _SVG,
    "smoothstreamingmedia": _SMOOTH,
    "items": _BURP,
    "jmetertestplan": _JMETER,
}
_PROLOG = re.compile(
    r"\s*(?:<\?.*?\?>|<!--.*?-->|<!doctype\s+(?P<doctype>\w+)[^>]*>|\s)*<(?:\w+:)?(?P<root>[A-Za-z]\w*)",
    re.DOTALL | re.IGNORECASE,
)
_HTML_ROOTS = frozenset(
    ("html", "head", "body", "title", "meta", "script", "div", "link", "p", "h1")
)
_MAKER = re.compile(
    r"<!--\s*(?:generated|created|packaged|produced)\s+(?:with|by|using)\s+(.{1,120}?)\s*-->",
    re.DOTALL | re.IGNORECASE,
)


def json_kind(start: Beginning) -> Identity | None:
    """What a JSON text is; None if it is none."""
    text = start.text
    is_sequence = text.startswith(_RECORD_SEPARATOR)
    text = text.lstrip(_RECORD_SEPARATOR).lstrip()
    if not re.match(r'\{\s*("|\}|\Z)|\[\s*(["\[{\]\d-]|true|false|null|\Z)', text):
        return None
    for keys in _JSON_KINDS:
        if keys.pattern.match(text):
            return keys.identity(keys.kind, text)
    if text.startswith("["):
        return Identity(JSON_LIST)
    if (
        is_sequence
        or sum(line.startswith("{") and line.endswith("}") for line in start.lines[:3]) > 1
    ):
        return Identity(JSON_LINES)
    # What browsers write after long entries stands at the end: a HAR file may begin in other ways.
    return Identity(JSON)


def xml_kind(start: Beginning) -> Identity | None:
    """What an XML or HTML text is; None if it is none."""
    match = _PROLOG.match(start.text)
    if match is None:
        return None
    root = match["root"].lower()
    if (match["doctype"] or "").lower() == "html" or root in _HTML_ROOTS:
        return Identity(HTML)
    maker = _MAKER.search(start.text)
    return Identity(_ROOTS.get(root, XML), "", " ".join(maker[1].split()) if maker else "")
