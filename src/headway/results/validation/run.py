"""A run's evidence, from what it left in its directory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.guest.orders import Counts, Outcome
from headway.lab.captures import capture_files, missed_packets
from headway.lab.network import Leg
from headway.lab.run import Result
from headway.programs.base import CLIENT, SERVER
from headway.results.samples import read_samples
from headway.results.transfer import Transfer
from headway.results.validation.evidence import Crossing, Echoes, Evidence
from headway.results.validation.expected import (
    delay_span,
    drops_are_counted,
    mean_loss,
    there_and_back,
)
from headway.results.validation.passage import Passage, passage
from headway.results.validation.rates import find_rates
from headway.selftest.ideal import Way
from headway.study.chain import Section, host_names, http_end, sections
from headway.study.model import Clock, Setting


def validate(
    setting: Setting, result: Result, transfer: Transfer, run_directory: Path
) -> Evidence | None:
    """What validates a run in virtual time that had control pings or captures; None for others.

    The evidence is kept in the run's directory, too.
    """
    if not (setting.control or setting.capture.packets) or setting.clock is not Clock.VIRTUAL:
        return None
    found = Evidence(
        echoes=_echoes(setting, result.outcome),
        crossings=tuple(_crossings(setting, result, run_directory)),
        rates=find_rates(setting, transfer, run_directory),
    )
    found.save(run_directory)
    return found


def _echoes(setting: Setting, outcome: Outcome) -> Echoes | None:
    if not outcome.pings_ns:
        return None
    end = http_end(setting)
    span, loss = there_and_back(setting.paths[:end])
    names = host_names(setting, CLIENT, SERVER)
    return Echoes(
        between=f"{names[0]} > {names[end]}",
        sent=len(outcome.pings_ns),
        rtts_ms=tuple(took / 1e6 for took in outcome.pings_ns if took is not None),
        span=span,
        loss=loss,
    )


def _crossings(setting: Setting, result: Result, run_directory: Path) -> Iterator[Crossing]:
    # With segmentation offload, packets are cut and joined on the way; a lab that was ended before
    # its time has counted nothing.
    if setting.offload or not result.outcome.counts:
        return
    names = host_names(setting, CLIENT, SERVER)
    epoch_ns = round(read_samples(run_directory).epoch_s * 1e9)
    until_ns = epoch_ns + result.outcome.duration_ns
    for section in sections(setting):
        files = capture_files(setting, section.receiver, section.sender)
        left, right = (run_directory / file for file in files)
        if not (left.exists() and right.exists()):
            continue
        legs = result.network.legs[section.receiver : section.sender]
        devices = f"{names[section.receiver]}-up", f"{names[section.sender]}-down"
        for way in Way:
            ends = names[section.receiver], names[section.sender]
            between = " > ".join(ends if way is Way.UP else ends[::-1])
            yield _crossing(
                setting,
                section,
                way,
                between,
                missed_packets(run_directory, devices),
                passage(left, right, way, until_ns),
                _counts(legs, way, result),
            )


def _crossing(
    setting: Setting,
    section: Section,
    way: Way,
    between: str,
    missed: int,
    found: Passage,
    counts: Counts,
) -> Crossing:
    paths = setting.paths[section.receiver : section.sender]
    delays_ns = found.delays_ns
    counted = drops_are_counted(paths, way)
    path_drops = counts.lost + counts.blacked_out + counts.dropped_by_number
    return Crossing(
        between=between,
        way=way.value,
        missed=missed,
        packets=len(found.sent_ns),
        missing=found.missing,
        strangers=found.strangers,
        unfinished=found.unfinished,
        queue_drops=counts.queue_dropped if counted else None,
        path_drops=path_drops if counted else None,
        least_ms=min(delays_ns) / 1e6 if delays_ns else None,
        greatest_ms=max(delays_ns) / 1e6 if delays_ns else None,
        span=delay_span(paths, way),
        loss=mean_loss(paths, way),
    )


def _counts(legs: Sequence[Leg], way: Way, result: Result) -> Counts:
    places = [place for leg in legs for place in (leg.up if way is Way.UP else leg.down)]
    return Counts.total(result.outcome.counts[place.queue_device] for place in places)
