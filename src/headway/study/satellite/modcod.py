"""Modulation and coding: what a modem's frames carry, and the SNR that they need.

DVB-S2 (ETSI EN 302 307-1) sends BBFRAMEs in one stream, DVB-RCS2 (ETSI EN 301 545-2) bursts of a
few symbols in time slots. How packets are put into them is Generic Stream Encapsulation (GSE, ETSI
TS 102 606-1) and Return Link Encapsulation (RLE, ETSI TS 103 179).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache

from headway.tables import table

_BITS_PER_SYMBOL = {"QPSK": 2, "8PSK": 3, "16APSK": 4, "16QAM": 4, "32APSK": 5}

_FECFRAME_BITS = 64_800
_PLHEADER_SYMBOLS = 90
_BBHEADER_BITS = 80
_GUARD_SYMBOLS = 4
"""Between bursts: with these, bits per symbol are those that OpenSAND has for all waveforms."""

_PACKET_BYTES = 1500
_ETHERNET_HEADER_BYTES = 14


class Standard(StrEnum):
    """What a carrier's modems speak."""

    DVB_S2 = "dvb-s2"
    DVB_RCS2 = "dvb-rcs2"


class Overhead(StrEnum):
    """What is subtracted from modulation and code rate: nothing, or framing and encapsulation."""

    NONE = "none"
    DVB = "dvb"


@dataclass(frozen=True)
class Encapsulation:
    """What is added to packets on their way into frames.

    Attributes:
        packet_bytes: to every packet.
        frame_bytes: to every frame, when packets follow each other without a gap.
    """

    packet_bytes: int
    frame_bytes: int


_ENCAPSULATIONS = {
    # GSE, of every packet: flags and length 2, protocol type 2, label 6. Every BBFRAME's end
    # divides a packet: fragment ID and total length 3; flags, length and fragment ID 3; CRC 4.
    Standard.DVB_S2: Encapsulation(packet_bytes=10, frame_bytes=10),
    # RLE, of every packet: protocol type 2, sequence number 1, and where it begins amid a burst,
    # a header of 4. The rest of it in each burst has a header of 2.
    Standard.DVB_RCS2: Encapsulation(packet_bytes=7, frame_bytes=2),
}


@dataclass(frozen=True)
class Modcod:
    """A modulation and code rate of a standard.

    Attributes:
        name: as ``"QPSK 1/4"``.
        standard: whose it is.
        bits_per_symbol: of the modulation.
        code_rate: of the forward error correction, nominally.
        frame_bytes: what a frame has room for: a BBFRAME's data field, or a burst's payload.
        frame_symbols: that a frame takes, header or guard included.
        es_n0_db: the least signal-to-noise ratio, in the bandwidth of the symbol rate.
    """

    name: str
    standard: Standard
    bits_per_symbol: int
    code_rate: Fraction
    frame_bytes: int
    frame_symbols: int
    es_n0_db: float

    @property
    def efficiency(self) -> float:
        """Bits of frames' contents per symbol: the standards' spectral efficiency."""
        return 8 * self.frame_bytes / self.frame_symbols

    def link_efficiency(self, overhead: Overhead) -> float:
        """Bits of Ethernet frames per symbol, those of full-size packets.

        Without overhead, bits per symbol times code rate. Else as many packets of 1500 bytes as
        there is room for, each counted with the Ethernet header that it has in a lab instead of
        its encapsulation.
        """
        if overhead is Overhead.NONE:
            return float(self.bits_per_symbol * self.code_rate)
        added = _ENCAPSULATIONS[self.standard]
        room = (self.frame_bytes - added.frame_bytes) / self.frame_bytes
        shown = (_PACKET_BYTES + _ETHERNET_HEADER_BYTES) / (_PACKET_BYTES + added.packet_bytes)
        return self.efficiency * room * shown


@cache
def modcods(standard: Standard, burst_symbols: int) -> dict[str, Modcod]:
    """All that a standard has, by name, the most robust one first.

    Args:
        standard: of the modems.
        burst_symbols: length of a burst, which DVB-S2 has none of.
    """
    result = _dvb_s2() if standard is Standard.DVB_S2 else _dvb_rcs2(burst_symbols)
    return {modcod.name: modcod for modcod in sorted(result, key=lambda modcod: modcod.es_n0_db)}


def _dvb_s2() -> list[Modcod]:
    return [
        Modcod(
            f"{row['modulation']} {row['code_rate']}",
            Standard.DVB_S2,
            bits := _BITS_PER_SYMBOL[row["modulation"]],
            Fraction(row["code_rate"]),
            (int(row["k_bch"]) - _BBHEADER_BITS) // 8,
            _FECFRAME_BITS // bits + _PLHEADER_SYMBOLS,
            float(row["es_n0_db"]),
        )
        for row in table("headway.study", "data/dvb-s2.csv")
    ]


def _dvb_rcs2(burst_symbols: int) -> list[Modcod]:
    return [
        Modcod(
            f"{row['modulation']} {row['code_rate']}",
            Standard.DVB_RCS2,
            _BITS_PER_SYMBOL[row["modulation"]],
            Fraction(row["code_rate"]),
            int(row["payload_bytes"]),
            burst_symbols + _GUARD_SYMBOLS,
            float(row["es_n0_db"]),
        )
        for row in table("headway.study", "data/dvb-rcs2.csv")
        if int(row["burst_symbols"]) == burst_symbols
    ]
