"""What tests ask of a setting that is resolved: its orders, its flow."""

from __future__ import annotations

from dataclasses import replace

from headway.contract.orders import Orders
from headway.lab.assemble import orders_for
from headway.planning.deploy import deploy
from headway.programs.base import Flow
from headway.study.family import HostAddress
from headway.study.setting import Setting


def orders_of(setting: Setting, seed: int = 1) -> Orders:
    """What the guest is ordered to do for a run of a setting."""
    deployment = deploy(setting, seed)
    return orders_for(deployment)


def flow_of(setting: Setting, address: str = "") -> Flow:
    """The flow of a setting; asked of an address, if one is given."""
    asked = deploy(setting).only.asked
    return replace(asked, address=HostAddress(address)) if address else asked
