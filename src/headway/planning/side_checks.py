"""Requests to a program on one of its sides: its congestion control, initial window, knobs."""

from __future__ import annotations

from collections.abc import Callable

from headway.errors import WrongInputError
from headway.planning.deployment import Endpoint, Role
from headway.programs.base import Adapter
from headway.study.host import OF_THE_KERNEL, Protocol


def check_asked(end: Endpoint) -> None:
    """Check that a program can do what is asked of it: of its QUIC, or of the kernel's TCP.

    Raises:
        WrongInputError: it cannot; names the key, what it can do, and who can do it.
    """
    if end.protocol is Protocol.UDP:
        # What a study asks of senders in general is nothing to one that nothing slows down.
        return
    if not end.protocol.over_quic:
        _check_tcp(end)
    else:
        _check_congestion_control(end)
        _check_initial_window(end)
        _check_knobs_of_controls(end)
        _check_knobs_over_quic(end)


def _check_tcp(end: Endpoint) -> None:
    asked = end.host.congestion_control.tcp
    if asked and asked not in OF_THE_KERNEL:
        raise WrongInputError(
            f"the kernel's TCP has {', '.join(OF_THE_KERNEL)}, not {asked}; to ask it of QUIC "
            f"alone, write {{ quic = {_quoted(asked)} }}",
            where=f"{end.where}.congestion_control",
        )


def _check_congestion_control(end: Endpoint) -> None:
    asked, has = end.host.congestion_control.quic, end.adapter.quic_congestion_controls
    if asked is None or asked in has:
        return
    able = _able(end, lambda other: asked in other.quic_congestion_controls)
    raise WrongInputError(
        f"{end.adapter.name}'s QUIC has {', '.join(has) or 'none'}, not {asked}; "
        f"{_who(end, able, f'whose QUIC has {asked}')}; "
        f"to ask it of TCP alone, write {{ tcp = {_quoted(end.host.tcp_congestion_control)} }}",
        where=f"{end.where}.congestion_control",
    )


def _check_initial_window(end: Endpoint) -> None:
    asked = end.host.initial_window.quic
    if asked is None or end.adapter.sets_quic_initial_window:
        return
    able = _able(end, lambda other: other.sets_quic_initial_window)
    raise WrongInputError(
        f"{end.adapter.name}'s QUIC decides itself on its initial window; "
        f"{_who(end, able, 'whose QUIC has the option')}; "
        f"to ask it of TCP alone, write {{ tcp = {end.host.initial_window.tcp or asked} }}",
        where=f"{end.where}.initial_window",
    )


def _check_knobs_of_controls(end: Endpoint) -> None:
    control = end.adapter.quic_congestion_control(end.host)
    for knob in end.adapter.knobs:
        value = end.host.knobs.get(knob.name, knob.default)
        # The default takes back what a study asks elsewhere; a controller that has the knob may lack it, too.
        is_taken_back = value == knob.default and (
            knob.name not in end.host.knobs or control not in knob.controls
        )
        if not (is_taken_back or knob.is_of(control, value)):
            controls = " and ".join(knob.controls_with(value))
            what = f"{knob.name} = {_quoted(value)}" if value in knob.controls_of else knob.name
            raise WrongInputError(
                f"{what} is for {controls}; {end.adapter.name}'s QUIC uses {control}",
                where=f"{end.where}.knobs.{knob.name}",
            )


def _check_knobs_over_quic(end: Endpoint) -> None:
    for knob in end.adapter.knobs:
        value = end.host.knobs.get(knob.name, knob.default)
        if knob.over_quic and value not in knob.over_quic:
            raise WrongInputError(
                f"over {end.protocol} it is {' or '.join(knob.over_quic)}, not {value}; leave it out there",
                where=f"{end.where}.knobs.{knob.name}",
            )


def _able(end: Endpoint, can: Callable[[Adapter], bool]) -> list[str]:
    return [
        name for name, other in end.known.items() if end.protocol in other.protocols and can(other)
    ]


def _who(end: Endpoint, able: list[str], what: str) -> str:
    kinds = "proxies" if end.role is Role.REVERSE_PROXY else f"{end.role.label}s"
    return f"{kinds} {what}: {', '.join(able)}" if able else f"there are no {kinds} {what}"


def _quoted(word: str) -> str:
    return f'"{word}"'
