"""The host's side of one run: its lab is booted, and what came of it is read."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from headway.contract.names import QLOG_DIRECTORY
from headway.contract.orders import Orders
from headway.contract.outcome import Body, Outcome
from headway.image.outsidefiles import outside_files
from headway.image.outsideroot import outside_root
from headway.lab.assemble import orders_for
from headway.lab.bodies import body_sha256, served_bodies
from headway.lab.cancel import Cancellation
from headway.lab.captures import CAPTURE_ENDINGS, convert_captures
from headway.lab.certificate import certified
from headway.lab.machine import Machine, SharedDirectory
from headway.lab.meter import Meter
from headway.lab.pcapng import CaptureError
from headway.lab.quota import MOST_BYTES, MOST_PRINTED_BYTES, Quota
from headway.lab.spoilt import spoilt_by_program
from headway.lab.videofiles import needed_videos, video_files
from headway.planning.deployment import DeployedFlow, Deployment, Role
from headway.planning.runs import Run
from headway.programs.base import Adapter, Client, Flow
from headway.programs.client import said_last
from headway.programs.measurement import DigestedBody, Measurement
from headway.sites.altsvc import advertising
from headway.sites.finding import find_site
from headway.sites.hints import hinting
from headway.sites.ownfonts import with_own_fonts
from headway.sites.replay import replay_tree
from headway.study.clock import Clock
from headway.study.discovery import Alternative
from headway.study.host import Protocol
from headway.study.units import Duration

STOOD_STILL_NS = 250_000_000
"""How late what is due in a lab may be done in the host's time."""
_SHOWN = 200
_NO_BODY = Body("", "", 0, hashlib.sha256().hexdigest())


@dataclass(frozen=True)
class Result:
    """What came of a run: how the lab ended, what the client of each flow measured, and what it took of this machine."""

    outcome: Outcome
    measured: tuple[Measurement, ...]
    wall_s: float
    processor_s: float


def carry_out(
    run: Run,
    machine: Machine,
    directory: Path,
    *,
    cpu: int | None = None,
    cancellation: Cancellation | None = None,
) -> Result:
    """Boot a lab for a run and measure.

    Raises:
        Cancelled: the study was ended meanwhile.
    """
    meter = Meter()
    deployment = run.deployment
    orders = certified(orders_for(deployment), machine.image.root)
    boot = booting(deployment, machine, meter, cpu, cancellation)
    if orders.migration and (client := deployment.only.client).rehearses:
        try:
            orders = _rehearsed(orders, client, boot, directory / "rehearsal")
        except Exception as error:
            # The run itself will tell, too.
            spoilt_by_program(error, deployment, directory / "rehearsal")
        shutil.rmtree(directory / "rehearsal")
    outcome, measured = measure(deployment, orders, boot(orders, directory), directory)
    return Result(outcome, measured, meter.wall_s, meter.processor_s)


def _undisturbed(outcome: Outcome) -> Outcome:
    """The outcome of a lab in the host's time, or that the machine stood still meanwhile.

    The agent has something to do at least every 100 ms, or every 0.5 % of a longer time.
    """
    if outcome.late_ns <= STOOD_STILL_NS:
        return outcome
    reason = (
        f"the machine stood still for {outcome.late_ns / 1e9:.1f} s, or was too busy: "
        f'with clock = "real" no more than {STOOD_STILL_NS / 1e9} s is tolerated'
    )
    return replace(outcome, status="failed", reason=reason)


def booting(
    deployment: Deployment,
    machine: Machine,
    meter: Meter,
    cpu: int | None,
    cancellation: Cancellation | None,
) -> Callable[[Orders, Path], Outcome]:
    """What boots a lab for a run, or for several rounds of its setting."""
    setting = deployment.setting
    adapters = [end.adapter for end in deployment.programs]
    boot = partial(
        machine.boot,
        seed=deployment.seed or 0,
        clock=setting.clock,
        rewrite_calls=setting.rewrite_calls,
        cpu=cpu,
        virtual_tsc=any(adapter.reads_tsc for adapter in adapters),
        cancellation=cancellation,
        meter=meter,
        shown=shown_directories(deployment, machine),
        memory_mib=max(machine.memory_mib, memory_mib(deployment)),
    )

    def boot_of(orders: Orders, directory: Path) -> Outcome:
        rounds = len(orders.rounds)
        cpu_limit = Duration(setting.limits.cpu.ns * rounds)
        quota = _quota(deployment, orders, rounds)
        return boot(orders, directory, cpu_limit=cpu_limit, quota=quota)

    return boot_of


def _quota(deployment: Deployment, orders: Orders, rounds: int = 1) -> Quota:
    """How much programs may print, and write beside what the study asked for, in some rounds."""
    asked = deployment.setting.capture
    uncounted = (
        *(CAPTURE_ENDINGS if asked.at_devices else ()),
        *([QLOG_DIRECTORY] if asked.qlog else ()),
    )
    writers = " or ".join(_outside_names(deployment)) or "programs"
    printers = tuple(program.name for program in orders.programs)
    return Quota(MOST_BYTES * rounds, writers, uncounted, printers, MOST_PRINTED_BYTES * rounds)


def memory_mib(deployment: Deployment) -> int:
    """What programs ask for: of each flow the most that one of its programs does."""
    each = ([end.adapter.memory_mib for end in flow.programs] for flow in deployment.flows)
    return sum(max(asked) for asked in each)


def shown_directories(deployment: Deployment, machine: Machine) -> dict[str, SharedDirectory]:
    """What the lab sees of the host: what this deployment can ask for, whatever else was asked for before."""
    videos = {
        needed_video.place: video_files(needed_video) for needed_video in needed_videos(deployment)
    }
    shown = {"www": SharedDirectory(served_bodies(deployment.setting.served_sizes, videos))}
    if (site := _replayed(deployment)) is not None:
        shown["site"] = SharedDirectory(site)
    for end in deployment.programs:
        programs = _programs(end.adapter, machine)
        shown |= {f"extras/{name}": program for name, program in programs.items()}
    return shown


def _programs(adapter: Adapter, machine: Machine) -> dict[str, SharedDirectory]:
    """What a program consists of that is not in the image, by the name of its directory."""
    shown = {name: SharedDirectory(place) for name, place in adapter.shows.items()}
    if adapter.extra is not None and adapter.extra in machine.extras:
        shown[adapter.extra] = SharedDirectory(machine.extras[adapter.extra])
    if (program := adapter.outside) and program.files:
        shown[program.directory] = SharedDirectory(outside_files(program))
    if (program := adapter.outside) and program.has_own_root:
        # An image and packages have times that are the same everywhere, a directory of this machine not.
        own_times = program.image is None or program.image.container
        shown[program.root_directory] = SharedDirectory(outside_root(program), own_times)
    return shown


def _replayed(deployment: Deployment) -> Path | None:
    """The replay tree of a page's site; one that any flow loads over HTTP/3 may advertise that."""
    loading = [flow.asked for flow in deployment.flows if flow.asked.workload.replay.site]
    if not loading:
        return None
    site = find_site(str(loading[0].workload.replay.site))
    if any(flow.workload.replay.one_connection for flow in loading):
        site = with_own_fonts(site)
    if hints := next(filter(None, (flow.workload.replay.hints for flow in loading)), None):
        site = hinting(site, hints)
    if any(flow.workload.replay.advertises and flow.protocol is Protocol.H3 for flow in loading):
        older = {
            host
            for flow in loading
            for group in flow.elsewhere
            if group.protocol is not Protocol.H3
            for host in group.hosts
        }
        alternatives = (flow.discovery.alternative for flow in loading if flow.discovery)
        site = advertising(site, older, next(alternatives, Alternative()).field_value)
    return replay_tree(site)


def _rehearsed(
    orders: Orders, client: Client, boot: Callable[[Orders, Path], Outcome], directory: Path
) -> Orders:
    """Orders for a client that has to be told beforehand when its address will change."""
    migrated_ns = boot(orders, directory).migrated_ns
    *others, program = orders.programs
    if migrated_ns is not None:
        program = client.after_rehearsal(program, directory, migrated_ns)
    return replace(orders, programs=(*others, program))


def _outside_names(deployment: Deployment) -> list[str]:
    """Programs from outside, as their files are named."""
    ends = (end for end in deployment.programs if end.adapter.outside)
    names = dict.fromkeys(
        end.adapter.name if end.role is Role.CLIENT else f"{end.name}-{end.adapter.name}"
        for end in ends
    )
    return list(names)


def _with_outputs(outcome: Outcome, deployment: Deployment, directory: Path) -> Outcome:
    """An outcome whose reason names the programs from outside: if it has none of them, one of them may be it.

    They may have waited for ever, or computed, or made processes.
    """
    reason, names = outcome.reason or "", _outside_names(deployment)
    if outcome.status == "ok" or any(name in reason for name in names):
        return outcome
    texts = (f"; {name} {_printed(said_last(directory, name))}" for name in names)
    return replace(outcome, reason=f"{reason}{''.join(texts)}")


def _printed(last: str) -> str:
    return f"last printed: {last[:_SHOWN]}" if last else "printed nothing"


def measure(
    deployment: Deployment, orders: Orders, outcome: Outcome, directory: Path
) -> tuple[Outcome, tuple[Measurement, ...]]:
    """How a lab ended, and what the client of each flow says, unless a body is not what was served.

    A program may have spoilt what is read for that: then the lab has failed.
    """
    flows = deployment.flows
    quota = _quota(deployment, orders)
    if excess := quota.excess(directory):
        quota.cut(directory)
        outcome = replace(outcome, status="failed", reason=excess)
        return outcome, (Measurement(),) * len(flows)
    try:
        outcome = _with_outputs(outcome, deployment, directory)
        if deployment.setting.clock is Clock.REAL:
            outcome = _undisturbed(outcome)
        if orders.captures:
            outcome = _captured(outcome, deployment, directory)
        return outcome, tuple(_measured(flow, orders, outcome, directory) for flow in flows)
    except Exception as error:
        reason = spoilt_by_program(error, deployment, directory)
        if outcome.status == "ok":
            outcome = replace(outcome, status="failed", reason=reason)
        return outcome, (Measurement(),) * len(flows)


def _captured(outcome: Outcome, deployment: Deployment, directory: Path) -> Outcome:
    try:
        convert_captures(directory, deployment.flows)
    except CaptureError as error:
        return replace(outcome, status="failed", reason=outcome.reason or str(error))
    return outcome


def _measured(flow: DeployedFlow, orders: Orders, outcome: Outcome, directory: Path) -> Measurement:
    asked = flow.asked
    ended = next(
        (process for process in outcome.ended if process.namespace == asked.namespace), None
    )
    if ended is None:
        return Measurement(error=f"{flow.client.name} did not end")
    if ended.as_ordered:
        return Measurement(total_s=(ended.at_ns - asked.at_ns) / 1e9)
    measurement = flow.client.measure(asked, directory / flow.directory, ended)
    if measurement.error:
        return measurement
    if flow.setting.workload.migrates and outcome.migrated_ns is None:
        return Measurement(error="the download ended before the address changed")
    error = _wrong_body(asked, orders, outcome, measurement)
    return Measurement(error=error) if error else measurement


def _wrong_body(
    flow: Flow, orders: Orders, outcome: Outcome, measurement: Measurement
) -> str | None:
    """What is wrong with the bodies that came, compared with those that were asked for."""
    files = {(body.namespace, body.path): body for body in outcome.bodies}
    came = [*measurement.bodies]
    for asked in orders.bodies:
        if asked.namespace != flow.namespace:
            continue
        # Some programs make no file for a body without bytes.
        body = files.get((asked.namespace, asked.path), _NO_BODY)
        came.append(DigestedBody(flow.body_bytes, body.size, body.sha256))
    for number, digested_body in enumerate(came, start=1):
        which = f"response {number} of {len(came)}" if len(came) > 1 else "the response"
        if digested_body.bytes != digested_body.asked_bytes:
            return f"{which} has {digested_body.bytes} of {digested_body.asked_bytes} bytes"
        if digested_body.sha256 != body_sha256(digested_body.asked_bytes):
            return (
                f"{which} has other bytes than {digested_body.asked_bytes}.bin, which was asked for"
            )
    return None
