"""Three files over HTTP/3."""

from __future__ import annotations

from headway.instruments.interop.case import H3, KIB, InteropCase


class Http3(InteropCase):
    """The same as a transfer, over HTTP/3."""

    name = "http3"
    abbreviation = "3"
    place = 9
    description = "An H3 transaction succeeded."
    sizes = (5 * KIB, 10 * KIB, 500 * KIB)
    protocols = (H3,)


CASE = Http3()
