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
from headway.instruments.interop.case import Case, Role
from headway.instruments.interop.crosstraffic import competing
from headway.instruments.interop.evidence import Evidence, Failure, NotCheckable
from headway.instruments.interop.network import LEFT, RIGHT, Laid, laid
from headway.instruments.interop.pairing import Pairing
from headway.instruments.interop.reasons import explained
from headway.instruments.interop.stack import ENDPOINT, Brought, Stack
from headway.instruments.interop.verdict import Result, Verdict
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
_HOSTS = {Role.CLIENT: CLIENT, Role.SERVER: SERVER}
_SIMULATOR = "sim"
UNSUPPORTED = 127
_STATUS_FILE, _KEYS_FILE = "exit-status", "keys.log"
_OWN = Path(__file__).parent
_SHOWN = 160
_READY_NS = 20 * 10**9


@dataclass(frozen=True)
class Conduct:
    """What is needed to carry a pairing out: the machine that boots labs."""

    machine: Machine

    def carry_out(
        self, pairing: Pairing, seed: int, directory: Path, *, cpu: int | None = None
    ) -> Verdict:
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
                memory_mib=max(
                    self.machine.memory_mib, pairing.client.memory_mib, pairing.server.memory_mib
                ),
                shown=self._shown(pairing, served),
            )
            return _verdict(pairing, outcome, seed, network, served, directory)
        finally:
            shutil.rmtree(served, ignore_errors=True)

    def alone(self, pairing: Pairing, role: Role, seed: int, directory: Path) -> int | None:
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

    def _orders(self, pairing: Pairing, seed: int, network: Laid, served: Path) -> Orders:
        case = pairing.case
        return Orders(
            namespaces=network.namespaces,
            ip=network.layout.ip,
            sysctls=GLOBAL_SYSCTLS,
            views=tuple(self._view(pairing, role, network) for role in Role),
            programs=(
                *(competing(network) if case.scenario.cross_traffic else ()),
                *(_program(pairing, role, seed, network) for role in reversed(Role)),
            ),
            fault_links=network.fault_links,
            captures=network.captures,
            counted=network.layout.counted,
            rounds=(Round(changes=network.layout.changes),),
            limit_ns=case.timeout_s * 10**9,
        )

    def _view(self, pairing: Pairing, role: Role, network: Laid) -> View:
        brought = pairing.stack(role).brought.get(role)
        files = {**_certificates(pairing.case, self.machine.image.root), **_hosts_file(network.servers)}
        if brought is None or not brought.program.has_own_root:
            return View(_HOSTS[role], role.value, files)
        image = brought.program.image
        begins_in = image.begins_in if image else "/"
        return View(_HOSTS[role], role.value, files, f"/lab/{_root_name(role)}", begins_in)

    def _shown(self, pairing: Pairing, served: Path) -> dict[str, SharedDirectory]:
        shown = {"www": SharedDirectory(served), "extras/interop": SharedDirectory(_OWN / "shell")}
        for role in Role:
            stack = pairing.stack(role)
            if stack.directory:
                shown[f"extras/{_own_name(role)}"] = SharedDirectory(stack.directory)
            if brought := stack.brought.get(role):
                shown |= _brought_directories(brought, role)
            for name in stack.extras:
                shown[f"extras/{name}"] = SharedDirectory(self.machine.extras[name])
        return shown


def _brought_directories(brought: Brought, role: Role) -> dict[str, SharedDirectory]:
    """What a lab shows of a program that somebody brought."""
    shown, program = {}, brought.program
    if program.files:
        shown[f"extras/{program.directory}"] = SharedDirectory(outside_files(program))
    if program.has_own_root:
        # An image has times that are the same everywhere, a directory of this machine not.
        own_times = program.image is None or program.image.container
        shown[_root_name(role)] = SharedDirectory(outside_root(program), own_times)
    return shown


def _own_name(role: Role) -> str:
    """Name of the directory in a lab that has a stack's `run_endpoint.sh`."""
    return f"endpoint-{role}"


def _root_name(role: Role) -> str:
    return f"extras/root-{role}"


def _serve(case: Case, seed: int, served: Path) -> None:
    """Write the files that the server has: their content is that of the seed."""
    shutil.rmtree(served, ignore_errors=True)
    served.mkdir(parents=True)
    from headway.instruments.interop.scenario import draws

    draw = draws(seed, f"contents of {case.name}")
    for file in case.files(seed):
        (served / file.name).write_bytes(draw.randbytes(file.size))


def _certificates(case: Case, root: Path) -> dict[str, str]:
    """What `/certs` holds."""

    def read(file: str) -> str:
        return (root / file.lstrip("/")).read_text(encoding="ascii")

    size = case.scenario.certificate_bytes
    chain = grown(NAMES, size, root) if size else certificate_for(NAMES, root)
    return {"/certs/cert.pem": chain, "/certs/priv.key": read(KEY_FILE), "/certs/ca.pem": read(CA_FILE)}


def _hosts_file(servers: Mapping[Family, HostAddress]) -> dict[str, str]:
    every = tuple(servers.values())
    names = {f"server{family.version}": (address,) for family, address in servers.items()}
    return hosts_files({**names, "server46": every, "server": every[:1], "server.test": every[:1]})


def _program(pairing: Pairing, role: Role, seed: int, network: Laid) -> Program:
    """An endpoint, as the runner's contract has it."""
    stack, case = pairing.stack(role), pairing.case
    files = case.files(seed)
    requests = " ".join(f"https://{case.host}:443/{file.name}" for file in files)
    env = {
        "ROLE": role.value,
        "TESTCASE": pairing.told(role),
        "ALPN": pairing.alpn,
        "REQUESTS": requests if role is Role.CLIENT else "",
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
    brought = stack.brought.get(role)
    if brought and brought.program.has_own_root:
        env = {"PATH": USUAL_PATH, "HOME": "/root", **brought.env, **env}
    is_server = role is Role.SERVER
    address = next(iter(network.servers.values()))
    return Program(
        name=role.value,
        namespace=_HOSTS[role],
        argv=("/bin/sh", "/lab/extras/interop/start.sh", *_argv(stack, role)),
        env=env,
        service=is_server,
        listens=(f"udp:{address.in_url}:443",) if is_server else (),
        ready_within_ns=_READY_NS,
        finishes=is_server,
    )


def _argv(stack: Stack, role: Role) -> tuple[str, ...]:
    if brought := stack.brought.get(role):
        return brought.argv
    return ("/bin/sh", f"/lab/extras/{_own_name(role)}/{ENDPOINT}")


def _verdict(
    pairing: Pairing, outcome: Outcome, seed: int, network: Laid, served: Path, directory: Path
) -> Verdict:
    """Judge what a run left."""
    statuses = {role: _exit_status(directory / role.value) for role in Role}
    for role in Role:
        if statuses[role] == UNSUPPORTED:
            stack = pairing.stack(role)
            text = f"{stack.name} answers 127 as a {role}: it does not know {pairing.told(role)}"
            return Verdict(Result.UNSUPPORTED, text)
    try:
        evidence = _evidence(pairing.case, seed, network, served, directory)
    except (CaptureError, FileNotFoundError) as error:
        return Verdict(Result.FAILED, outcome.reason or str(error))
    try:
        _check_end(pairing, outcome, statuses, directory)
        return Verdict(Result.SUCCEEDED, pairing.case.verify(evidence))
    except NotCheckable as missing:
        return Verdict(Result.UNSUPPORTED, missing.reason)
    except Failure as failure:
        return Verdict(Result.FAILED, explained(failure.reason, evidence))


def _check_end(
    pairing: Pairing, outcome: Outcome, statuses: Mapping[Role, int | None], directory: Path
) -> None:
    """Let both programs have ended as they should.

    Raises:
        Failure: one hung, ended early, or said that it failed.
    """
    case, client = pairing.case, pairing.client.name
    if outcome.status == "timeout":
        raise Failure(f"{client} had not ended after {case.timeout_s} s of virtual time")
    if outcome.status != "ok":
        raise Failure(_named(outcome.reason or "the lab failed", pairing))
    if (status := statuses[Role.CLIENT]) not in (0, None):
        raise Failure(f"{client} ended with exit status {status}{_printed(directory, Role.CLIENT)}")


def _printed(directory: Path, role: Role) -> str:
    """The last line that an endpoint printed, as the end of a sentence."""
    text = said_last(directory / role.value, role.value)
    return f' ("{readable(text, _SHOWN)}")' if text else ""


def _named(reason: str, pairing: Pairing) -> str:
    """A lab's reason, which names programs by their roles, with the stacks' names."""
    for role in Role:
        if reason.startswith(f"{role} "):
            return f"{pairing.stack(role).name} as a {reason}"
    return reason


def _exit_status(directory: Path) -> int | None:
    """How an endpoint ended; None if it did not."""
    try:
        return int(read_text(directory / _STATUS_FILE, exact=False))
    except (FileNotFoundError, ValueError):
        return None


def _evidence(case: Case, seed: int, network: Laid, served: Path, directory: Path) -> Evidence:
    """What a run left, its captures with the secrets inside."""
    logs = [directory / role.value / _KEYS_FILE for role in Role]
    simulator = directory / _SIMULATOR
    simulator.mkdir(exist_ok=True)
    for name in (LEFT, RIGHT):
        to_pcapng(directory / name, logs, simulator / name)
        (directory / name).unlink()
    texts = (read_text(log, exact=False) for log in logs if log.is_file())
    return Evidence(
        client_capture=simulator / LEFT,
        server_capture=simulator / RIGHT,
        secrets="\n".join(text for text in texts if text.strip()),
        served=served,
        downloads=directory / Role.CLIENT.value / "downloads",
        names=[file.name for file in case.files(seed)],
        servers=frozenset(map(str, network.servers.values())),
    )
