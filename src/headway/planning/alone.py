"""A flow's setting as if there were no other flow: what its client asks for, and its way as a chain of hops."""

from __future__ import annotations

from headway.study.network import StatedFlow, StatedNetwork
from headway.study.path import Path
from headway.study.setting import Setting

_CABLE = Path()


def alone(setting: Setting, network: StatedNetwork, flow: StatedFlow) -> Setting:
    """What a setting says of one of its flows; all of it, if it states only one.

    Args:
        setting: the setting.
        network: that it states.
        flow: of the network.
    """
    competing_flow = flow.said
    if competing_flow is None:
        return setting
    first, *others = (path or _CABLE for path in flow.paths)
    hops = {
        name: network.between[name].hop.model_copy(update={"path": path})
        for name, path in zip(flow.hosts[1:-1], others, strict=True)
    }
    # Rules are checked of all flows together. This one may have more ways than its chain here, by contacts.
    return Setting.model_construct(
        protocol=competing_flow.protocol,
        tls=competing_flow.tls,
        certificate_chain=setting.certificate_chain if competing_flow.tls else None,
        clock=setting.clock,
        client=competing_flow.client,
        server=competing_flow.server,
        hops=hops,
        bypass=tuple(name for name in setting.bypass if name in hops),
        path=first,
        family=setting.family,
        dns=setting.dns and setting.dns.at_client,
        discovery=setting.discovery if competing_flow.workload.over_http else None,
        offload=setting.offload,
        workload=competing_flow.workload,
        variation=setting.variation,
        limits=setting.limits,
        capture=setting.capture,
        control=setting.control if flow.number == 1 else None,
        programs=setting.programs,
    )
