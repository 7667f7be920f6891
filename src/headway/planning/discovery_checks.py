"""Discovery of the version of HTTP: whether what is said of it is so, and comes to the client."""

from __future__ import annotations

from collections.abc import Iterator

from headway.errors import WrongInputError
from headway.planning.deployment import DeployedFlow
from headway.study.discovery import Alternative, Means, offered
from headway.study.host import Protocol

_HTTPS_PORT = 443
_ALPN = {Protocol.H1: ("http/1.1",), Protocol.H2: ("h2",), Protocol.H3: ("h3",)}


def check_discovers(flow: DeployedFlow) -> None:
    """Check what a study says of where HTTP/3 is.

    Raises:
        WrongInputError: it is not so, or the client cannot learn of it.
    """
    if flow.setting.discovery is None:
        return
    _check_record(flow)
    if flow.setting.discovery.alternative != Alternative():
        _check_alternative(flow, flow.setting.discovery.alternative)
    if flow.setting.discovery.alternative.port != _HTTPS_PORT:
        _check_port(flow)


def _check_record(flow: DeployedFlow) -> None:
    """A client that has a record alone has one, or else it speaks h2 where the study has h3."""
    setting = flow.setting
    has_record = setting.dns is not None and setting.dns.https is not None
    if has_record or setting.protocol is not Protocol.H3:
        return
    if flow.client.discovers_by == {Means.RECORD}:
        reason = f"{flow.client.name} finds h3 by an HTTPS record alone; state dns.https = true"
        raise WrongInputError(reason, where="discovery")


def _check_alternative(flow: DeployedFlow, alternative: Alternative) -> None:
    """What is said of HTTP/3's place is so, and is said to the client."""
    where, setting = "discovery.alternative", flow.setting
    if setting.protocol is not Protocol.H3:
        reason = f"it says where h3 is, and the server has {setting.protocol} at most; leave it out"
        raise WrongInputError(reason, where=where)
    if setting.workload.advertises:
        return
    if setting.workload.replayed is not None:
        reason = "with alt_svc = false no response says where h3 is; leave it out"
        raise WrongInputError(reason, where=where)
    if alternative.host is not None:
        reason = "only the responses of pages have the field Alt-Svc, which names it; leave it out"
        raise WrongInputError(reason, where=f"{where}.host")


def _check_port(flow: DeployedFlow) -> None:
    """The client can learn of it."""
    if flow.client.discovers_by == {Means.RACE}:
        reason = f"{flow.client.name} follows no Alt-Svc, and tries QUIC on the port of TCP alone"
        raise WrongInputError(reason, where="discovery.alternative.port")


def contradicting(flow: DeployedFlow) -> Iterator[str]:
    """What an HTTPS record says that is not so."""
    setting = flow.setting
    if setting.discovery is None or setting.dns is None or setting.dns.https is None:
        return
    falls_back = flow.programs[0].host.knobs.get("fall_back") == "on"
    comes_to = "falls back" if falls_back else "fails"
    offers = offered(setting.protocol, setting.discovery)
    names = {name for offer in offers for name in _ALPN[offer]}
    for name in setting.dns.https.alpn:
        if name not in names:
            yield (
                f"the HTTPS record names {name}, which the server does not speak (protocol is {setting.protocol}): a "
                f"client that follows it {comes_to}"
            )
    port, offered_at = setting.dns.https.port or _HTTPS_PORT, setting.discovery.alternative.port
    if "h3" in setting.dns.https.alpn and "h3" in names and port != offered_at:
        yield f"the HTTPS record names port {port}, and the server has h3 at {offered_at}: a client that follows it {comes_to}"
