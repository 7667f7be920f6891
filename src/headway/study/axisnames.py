"""Names of the axes around a cell, which completion knows without the model of studies."""

from __future__ import annotations

from enum import StrEnum


class AxisName(StrEnum):
    """What may be varied around a cell; the axes themselves are in ``headway.nearby.axes``."""

    BURSTS = "bursts"
    CONSTANT_RATE = "constant rate"
    CONTROLLER = "controller"
    ANY_LOSS = "any loss"
    DIRECTION_OF_LOSSES = "direction of losses"
    QUEUE = "queue"
    DISCIPLINE = "discipline"
    RTT = "RTT"
    LATENCY = "latency"
    RATE = "rate"
    CACHE = "cache"
    PACING_OF_TCP = "TCP pacing"
    PACING_OF_QUIC = "QUIC pacing"
    SIZE = "size"
    LOAD = "load"
    CHANGING_RATE = "changing rate"
    LOSS = "loss"
    ARITHMETIC = "arithmetic"
    SLOW_START = "slow start"
    SERVER = "server"
    CLIENT = "client"
    ACKNOWLEDGMENTS = "acknowledgments"
    INITIAL_WINDOW = "initial window"
    PROCESSOR = "processor"
    PACKET_SIZE = "packet size"
    CERTIFICATES = "certificates"
    FAMILY = "family"
    TLS = "TLS"
    BESIDE = "flow beside"
