"""Programs from outside, as adapters: used like those that come with Headway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.image.outsideroot import USUAL_PATH
from headway.overriding import override
from headway.programs.base import (
    CA_FILE,
    CERTIFICATE_FILE,
    KEY_FILE,
    QLOG_DIRECTORY,
    SECRETS_FILE,
    SERVER_NAME,
    Adapter,
    Client,
    Flow,
    Knob,
    Listener,
    Server,
    Started,
    port_of,
    served_on,
)
from headway.programs.client import hosts_file, in_new_directory, secrets_environment
from headway.programs.measurement import Measurement
from headway.programs.outsideresult import measured
from headway.study.capture import Capture
from headway.study.family import HostAddress
from headway.study.host import Host, Protocol
from headway.study.user_programs import (
    OPTIONS,
    ClientDeclaration,
    OutsideProgram,
    ServerDeclaration,
    When,
)
from headway.study.workload import Download, Parallel

GUEST_DIRECTORY = "/lab/extras"
"""Where a lab shows what a program from outside consists of, in a directory of its own."""
_ALPN = {Protocol.H1: "http/1.1", Protocol.H2: "h2", Protocol.H3: "h3"}
_USUAL_WINDOW = 10


class OutsideAdapter(Adapter):
    """What servers and clients from outside have in common."""

    def __init__(self, program: OutsideProgram) -> None:
        declared = program.declared
        self.outside = program
        self.name = program.name
        self.version = _version(program)
        self.protocols = frozenset(declared.protocols)
        self.quic_congestion_controls = declared.congestion_controls
        self.sets_quic_initial_window = declared.uses("initial_window")
        self.writes_qlog = declared.uses("qlog")
        self.reads_tsc = declared.virtual_tsc
        self.memory_mib = declared.memory_mib
        self.knobs = tuple(
            Knob(name, knob.default, knob.meaning, knob.choices)
            for name, knob in declared.knobs.items()
        )

    def _said(self, host: Host, namespace: str, protocol: Protocol, seed: int) -> dict[str, str]:
        """What placeholders stand for that servers and clients share."""
        assert self.outside
        return {
            "name": SERVER_NAME,
            "protocol": protocol.value,
            "alpn": _ALPN[protocol],
            "files": f"{GUEST_DIRECTORY}/{self.outside.directory}",
            "congestion_control": self.quic_congestion_control(host),
            "initial_window": str(host.initial_window.quic or _USUAL_WINDOW),
            "seed": str(seed),
            "qlog": f"{QLOG_DIRECTORY}/{namespace}",
            **{knob.name: self.knob(knob.name, host) for knob in self.knobs},
        }

    def _started(
        self,
        program: Program,
        values: Mapping[str, str],
        needed: Iterable[When],
        urls: tuple[str, ...],
    ) -> Program:
        """The program with its words, its environment and, if it writes qlog, a directory for that."""
        assert self.outside
        declared = self.outside.declared
        options = [word for when in needed for word in declared.options.get(when, ())]
        words = [
            inner
            for word in declared.argv
            for inner in (options if word == OPTIONS else urls if word == "{urls}" else (word,))
        ]
        argv = [inner if inner in urls else filled(inner, values) for inner in words]
        if self.outside.executable:
            argv[0] = f"{values['files']}/{self.outside.executable.place}"
        if any(values["qlog"] in word for word in argv) and not self.outside.has_own_root:
            argv = list(in_new_directory(values["qlog"], argv))
        own = {name: filled(value, values) for name, value in declared.env.items()}
        if self.outside.has_own_root:
            of_image = self.outside.image.env if self.outside.image else {}
            own = {"PATH": USUAL_PATH, **of_image, **own}
        return Program(
            name=program.name,
            namespace=program.namespace,
            argv=tuple(argv),
            env={**program.env, **own},
            service=program.service,
            listens=program.listens,
            finishes=program.finishes,
            leaves_nothing=True,
        )

    def _rooted(self, started: Started, values: Mapping[str, str]) -> Started:
        """The same in the program's own root tree, if it has one, in which there need be no shell."""
        assert self.outside
        if not self.outside.has_own_root:
            return started
        image = self.outside.image
        words = (word for program in started.programs for word in program.argv)
        made = (
            {f"{values['qlog']}/.made": ""} if any(values["qlog"] in word for word in words) else {}
        )
        return replace(
            started,
            files={**started.files, **made},
            root=f"{GUEST_DIRECTORY}/{self.outside.root_directory}",
            begins_in=image.begins_in if image else "/",
        )


class OutsideServer(OutsideAdapter, Server):
    """A server from outside, which serves the files of a directory."""

    @override
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        assert self.outside and isinstance(self.outside.declared, ServerDeclaration)
        (protocol,) = listener.protocols
        texts = {
            **self._said(host, listener.namespace, protocol, listener.seed),
            "address": listener.address,
            "port": str(port_of(listener.tls)),
            "certificate": CERTIFICATE_FILE,
            "key": KEY_FILE,
            "root": "/lab/www",
        }
        program = Program(
            f"{listener.namespace}-{self.name}",
            listener.namespace,
            (),
            service=True,
            listens=tuple(_reached(sign, listener.address) for sign in served_on(listener)),
            finishes=self.outside.declared.finishes,
        )
        needed = _needed(protocol, capture)
        return self._rooted(Started((self._started(program, texts, needed, ()),)), texts)


class OutsideClient(OutsideAdapter, Client):
    """A client from outside; several requests at once are for those that take several URLs."""

    def __init__(self, program: OutsideProgram) -> None:
        super().__init__(program)
        self.workloads = (Download, Parallel) if program.declared.uses("urls") else (Download,)

    @override
    def start(self, flow: Flow) -> Started:
        bodies = flow.body_files if self._declared.uses("output") else ()
        texts = {
            **self._said(flow.host, flow.namespace, flow.protocol, flow.seed),
            "address": flow.address,
            "port": str(flow.port),
            "ca": CA_FILE,
            "url": flow.urls[0],
            "output": bodies[0] if bodies else "/dev/null",
            "keylog": f"/lab/run/{SECRETS_FILE}",
        }
        program = Program(self.name, flow.namespace, (), env=secrets_environment(flow))
        needed = _needed(flow.protocol, flow.capture, compared=bool(bodies))
        started = self._started(program, texts, needed, flow.urls)
        return self._rooted(Started((started,), hosts_file(flow.address), bodies), texts)

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        return measured(self.name, self._declared.result, flow, directory, ended)

    @property
    def _declared(self) -> ClientDeclaration:
        assert self.outside and isinstance(self.outside.declared, ClientDeclaration)
        return self.outside.declared


def filled(word: str, values: Mapping[str, str]) -> str:
    """A word with what its placeholders stand for; where a port may follow, addresses of IPv6 have brackets.

    Args:
        word: of a command line, or a value of the environment.
        values: by the names of placeholders.
    """
    in_url = HostAddress(values["address"]).in_url
    return word.replace("{address}:", f"{in_url}:").format_map(values)


def _reached(sign: str, address: HostAddress) -> str:
    """A port that has to be open for other hosts: own servers listen on the loopback, unless told otherwise."""
    transport, port = sign.split(":")
    return f"{transport}:{address.in_url}:{port}"


def _needed(protocol: Protocol, capture: Capture, *, compared: bool = False) -> list[When]:
    """What a run needs options for, in the order in which these stand."""
    asked = {When.QLOG: capture.qlog, When.KEYLOG: capture.packets, When.BODIES: compared}
    return [When(protocol.value), *(when for when, needed in asked.items() if needed)]


def _version(program: OutsideProgram) -> str:
    """What it says of itself, and a hash of all that it consists of, or of its command line."""
    own = program.executable
    if program.has_own_root:
        what = f"image {program.image.digest[:23]}" if program.image else "packages"
        text = f"{what}, files {program.files_key}" if program.files else what
    elif own and len(program.files) == 1:
        text = f"sha256:{own.sha256[:16]}"
    else:
        text = f"files {program.files_key}" if program.files else "of the lab image"
    return f"{program.declared.version} ({text})" if program.declared.version else text


@lru_cache(maxsize=1024)
def adapter_of(program: OutsideProgram) -> OutsideServer | OutsideClient:
    """The adapter of a program from outside."""
    return OutsideServer(program) if program.role == "server" else OutsideClient(program)


def from_outside(programs: Iterable[OutsideProgram], role: str) -> dict[str, Adapter]:
    """Those of a role, by name."""
    return {program.name: adapter_of(program) for program in programs if program.role == role}
