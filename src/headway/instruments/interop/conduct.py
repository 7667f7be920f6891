"""One run of a test case: its lab is booted, and what came of it is judged."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from headway.contract.artifact import read_text, readable
from headway.contract.orders import Orders, Round, View
from headway.contract.outcome import Outcome
from headway.contract.program import Program
from headway.image.outsidefiles import outside_files
from headway.image.outsideroot import USUAL_PATH, outside_root
from headway.instruments.interop.case import EndpointRole, InteropCase
from headway.instruments.interop.crosstraffic import competing
from headway.instruments.interop.evidence import CaseEvidence, CheckError, UncheckableError
from headway.instruments.interop.network import LEFT, RIGHT, Laid, laid
from headway.instruments.interop.reasons import explained
from headway.instruments.interop.scenario import draws
from headway.instruments.interop.stack import ENDPOINT, Brought, Stack
from headway.instruments.interop.stackpair import StackPair
from headway.instruments.interop.userprograms import command, environment, placeholders
from headway.instruments.interop.verdict import CaseResult, CaseVerdict
from headway.lab.certificate import certificate_for, grown
from headway.lab.machine import Machine, SharedDirectory
from headway.lab.network import GLOBAL_SYSCTLS
from headway.lab.pcapng import CaptureError, to_pcapng
from headway.programs.base import CA_FILE, KEY_FILE
from headway.programs.client import hosts_files, said_last
from headway.study.family import Family, HostAddress
from headway.study.network import CLIENT, SERVER
from headway.study.units import Duration

NAMES = ("server4", "server6", "server46", "server", "server.test", "localhost")
"""That the server's certificate holds."""
_HOSTS = {EndpointRole.CLIENT: CLIENT, EndpointRole.SERVER: SERVER}
_SIMULATOR = "sim"
UNSUPPORTED = 127
_STATUS_FILE, _KEYS_FILE = "exit-status", "keys.log"
_OWN = Path(__file__).parent
_SHOWN = 160
_CPU_LIMIT = Duration(90 * 10**9)
"""Of a run's processor time: none of the cases takes a tenth of that of a stack that does not poll."""
_READY_NS = 20 * 10**9


@dataclass(frozen=True)
class Conduct:
    """What is needed to carry a pairing out: the machine that boots labs."""

    machine: Machine

    def carry_out(
        self, pairing: StackPair, seed: int, directory: Path, *, cpu: int | None = None
    ) -> CaseVerdict:
        """Carry a pairing out with a seed, and judge it.

        Args:
            pairing: who plays what.
            seed: of everything random.
            directory: for all that it leaves; replaced if it is there.
            cpu: the core that the lab is pinned to; any if None.
        """
        case = pairing.case
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        served = directory.with_name(f".{directory.name}.www")
        _serve(case, seed, served)
        try:
            network = laid(case.scenario, seed, Duration(case.timeout_s * 10**9))
            orders = self._orders(pairing, seed, network, served)
            outcome = self.machine.boot(
                orders,
                directory,
                seed=seed,
                cpu=cpu,
                cpu_limit=_CPU_LIMIT,
                virtual_tsc=pairing.client.virtual_tsc or pairing.server.virtual_tsc,
                memory_mib=max(
                    self.machine.memory_mib, pairing.client.memory_mib, pairing.server.memory_mib
                ),
                shown=self._shown(pairing, served),
            )
            return _verdict(pairing, outcome, seed, network, served, directory)
        finally:
            shutil.rmtree(served, ignore_errors=True)

    def alone(
        self, pairing: StackPair, role: EndpointRole, seed: int, directory: Path
    ) -> int | None:
        """The exit status of a pairing's client or server if the other one is not there; None if it does not end."""
        directory.mkdir(parents=True)
        served = directory.with_name(".www")
        served.mkdir()
        network = laid(pairing.case.scenario, seed, Duration(pairing.case.timeout_s * 10**9))
        orders = self._orders(pairing, seed, network, served)
        program = next(program for program in orders.programs if program.name == role.value)
        lonely = replace(program, service=False, listens=(), finishes=False)
        self.machine.boot(
            replace(orders, programs=(lonely,), captures=()),
            directory,
            seed=seed,
            shown=self._shown(pairing, served),
        )
        return _exit_status(directory / role.value)

    def _orders(self, pairing: StackPair, seed: int, network: Laid, served: Path) -> Orders:
        case = pairing.case
        return Orders(
            namespaces=network.namespaces,
            ip=network.layout.ip,
            sysctls=GLOBAL_SYSCTLS,
            views=tuple(self._view(pairing, role, network) for role in EndpointRole),
            programs=(
                *(competing(network) if case.scenario.cross_traffic else ()),
                *(_program(pairing, role, seed, network) for role in reversed(EndpointRole)),
            ),
            fault_links=network.fault_links,
            captures=network.captures,
            counted=network.layout.counted,
            rounds=(Round(changes=network.layout.changes),),
            limit_ns=case.timeout_s * 10**9,
        )

    def _view(self, pairing: StackPair, role: EndpointRole, network: Laid) -> View:
        brought = pairing.stack(role).brought.get(role)
        files = {
            **_certificates(pairing.case, self.machine.image.root),
            **_hosts_file(network.servers),
        }
        if brought is None or not brought.program.has_own_root:
            return View(_HOSTS[role], role.value, files)
        image = brought.program.image
        begins_in = image.begins_in if image else "/"
        return View(_HOSTS[role], role.value, files, f"/lab/{_root_name(role)}", begins_in)

    def _shown(self, pairing: StackPair, served: Path) -> dict[str, SharedDirectory]:
        shown = {"www": SharedDirectory(served), "extras/interop": SharedDirectory(_OWN / "shell")}
        for role in EndpointRole:
            stack = pairing.stack(role)
            if stack.directory:
                shown[f"extras/{_own_name(role)}"] = SharedDirectory(stack.directory)
            if brought := stack.brought.get(role):
                shown |= _brought_directories(brought, role)
            for name in stack.extras:
                shown[f"extras/{name}"] = SharedDirectory(self.machine.extras[name])
        return shown


def _brought_directories(brought: Brought, role: EndpointRole) -> dict[str, SharedDirectory]:
    """What a lab shows of a program that somebody brought."""
    shown, program = {}, brought.program
    if program.files:
        shown[f"extras/{program.directory}"] = SharedDirectory(outside_files(program))
    if program.has_own_root:
        # An image has times that are the same everywhere, a directory of this machine not.
        own_times = program.image is None or program.image.container
        shown[_root_name(role)] = SharedDirectory(outside_root(program), own_times)
    return shown


def _own_name(role: EndpointRole) -> str:
    """Name of the directory in a lab that has a stack's `run_endpoint.sh`."""
    return f"endpoint-{role}"


def _root_name(role: EndpointRole) -> str:
    return f"extras/root-{role}"


def _serve(case: InteropCase, seed: int, served: Path) -> None:
    """Write the files that the server has: their content is that of the seed."""
    shutil.rmtree(served, ignore_errors=True)
    served.mkdir(parents=True)
    draw = draws(seed, f"contents of {case.name}")
    for file in case.files(seed):
        (served / file.name).write_bytes(draw.randbytes(file.size))


def _certificates(case: InteropCase, root: Path) -> dict[str, str]:
    """What `/certs` holds."""

    def read(file: str) -> str:
        return (root / file.lstrip("/")).read_text(encoding="ascii")

    size = case.scenario.certificate_bytes
    chain = grown(NAMES, size, root) if size else certificate_for(NAMES, root)
    return {
        "/certs/cert.pem": chain,
        "/certs/priv.key": read(KEY_FILE),
        "/certs/ca.pem": read(CA_FILE),
    }


def _hosts_file(servers: Mapping[Family, HostAddress]) -> dict[str, str]:
    every = tuple(servers.values())
    names = {f"server{family.version}": (address,) for family, address in servers.items()}
    return hosts_files({**names, "server46": every, "server": every[:1], "server.test": every[:1]})


def _program(pairing: StackPair, role: EndpointRole, seed: int, network: Laid) -> Program:
    """An endpoint, as the runner's contract has it."""
    stack, case = pairing.stack(role), pairing.case
    files = case.files(seed)
    requests = " ".join(f"https://{case.host}:443/{file.name}" for file in files)
    env = {
        "ROLE": role.value,
        "TESTCASE": pairing.told(role),
        "ALPN": pairing.alpn,
        "REQUESTS": requests if role is EndpointRole.CLIENT else "",
        "SSLKEYLOGFILE": f"/logs/{_KEYS_FILE}",
        "QLOGDIR": "/logs/qlog/",
        "PROTOCOLS": pairing.alpn,
        "SERVER_PARAMS": "",
        "CLIENT_PARAMS": "",
        "CRON": "",
        "SERVER4": str(network.servers.get(Family.IPV4, "")),
        "SERVER6": str(network.servers.get(Family.IPV6, "")),
        "SEED": str(seed),
    }
    brought, argv = stack.brought.get(role), _argv(stack, role)
    address = next(iter(network.servers.values()))
    if brought and brought.program.has_own_root:
        env = {"PATH": USUAL_PATH, "HOME": "/root", **brought.env, **env}
    if brought and not brought.argv:
        values = placeholders(brought.program, str(address), case.host, seed)
        argv = command(brought.program, values, files)
        env |= environment(brought.program, values)
    is_server = role is EndpointRole.SERVER
    return Program(
        name=role.value,
        namespace=_HOSTS[role],
        argv=("/bin/sh", "/lab/extras/interop/start.sh", *argv),
        env=env,
        service=is_server,
        listens=(f"udp:{address.in_url}:443",) if is_server else (),
        ready_within_ns=_READY_NS,
        finishes=is_server,
    )


def _argv(stack: Stack, role: EndpointRole) -> tuple[str, ...]:
    if brought := stack.brought.get(role):
        return brought.argv
    return ("/bin/sh", f"/lab/extras/{_own_name(role)}/{ENDPOINT}")


def _verdict(
    pairing: StackPair, outcome: Outcome, seed: int, network: Laid, served: Path, directory: Path
) -> CaseVerdict:
    """Judge what a run left."""
    statuses = {role: _exit_status(directory / role.value) for role in EndpointRole}
    for role in EndpointRole:
        if statuses[role] == UNSUPPORTED:
            stack = pairing.stack(role)
            text = f"{stack.name} answers 127 as a {role}: it does not know {pairing.told(role)}"
            return CaseVerdict(CaseResult.UNSUPPORTED, text)
    try:
        evidence = _evidence(pairing.case, seed, network, served, directory)
    except (CaptureError, FileNotFoundError) as error:
        return CaseVerdict(CaseResult.FAILED, outcome.reason or str(error))
    try:
        _check_end(pairing, outcome, statuses, directory)
        return CaseVerdict(CaseResult.SUCCEEDED, pairing.case.verify(evidence))
    except UncheckableError as missing:
        return CaseVerdict(CaseResult.UNSUPPORTED, missing.reason)
    except CheckError as failure:
        return CaseVerdict(CaseResult.FAILED, explained(failure.reason, evidence))


def _check_end(
    pairing: StackPair,
    outcome: Outcome,
    statuses: Mapping[EndpointRole, int | None],
    directory: Path,
) -> None:
    """Let both programs have ended as they should.

    Raises:
        CheckError: one hung, ended early, or said that it failed.
    """
    case, client = pairing.case, pairing.client.name
    if outcome.status == "timeout":
        raise CheckError(f"{client} had not ended after {case.timeout_s} s of virtual time")
    if outcome.status != "ok":
        raise CheckError(_named(outcome.reason or "the lab failed", pairing))
    if (status := statuses[EndpointRole.CLIENT]) not in (0, None):
        raise CheckError(
            f"{client} ended with exit status {status}{_printed(directory, EndpointRole.CLIENT)}"
        )


def _printed(directory: Path, role: EndpointRole) -> str:
    """The last line that an endpoint printed, as the end of a sentence."""
    text = said_last(directory / role.value, role.value)
    return f' ("{readable(text, _SHOWN)}")' if text else ""


def _named(reason: str, pairing: StackPair) -> str:
    """A lab's reason, which names programs by their roles, with the stacks' names."""
    for role in EndpointRole:
        if reason.startswith(f"{role} "):
            return f"{pairing.stack(role).name} as a {reason}"
    return reason


def _exit_status(directory: Path) -> int | None:
    """How an endpoint ended; None if it did not."""
    try:
        return int(read_text(directory / _STATUS_FILE, exact=False))
    except (FileNotFoundError, ValueError):
        return None


def _evidence(
    case: InteropCase, seed: int, network: Laid, served: Path, directory: Path
) -> CaseEvidence:
    """What a run left, its captures with the secrets inside."""
    logs = [directory / role.value / _KEYS_FILE for role in EndpointRole]
    simulator = directory / _SIMULATOR
    simulator.mkdir(exist_ok=True)
    for name in (LEFT, RIGHT):
        to_pcapng(directory / name, logs, simulator / name)
        (directory / name).unlink()
    texts = (read_text(log, exact=False) for log in logs if log.is_file())
    return CaseEvidence(
        client_capture=simulator / LEFT,
        server_capture=simulator / RIGHT,
        secrets="\n".join(text for text in texts if text.strip()),
        served=served,
        downloads=directory / EndpointRole.CLIENT.value / "downloads",
        names=[file.name for file in case.files(seed)],
        servers=frozenset(map(str, network.servers.values())),
        opens_short=case.needs_keys,
    )
