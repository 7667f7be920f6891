"""Byte Index of a page load: how soon its bytes came."""

from __future__ import annotations

import math

from headway.pages.load import PageLoad


def byte_index_ms(load: PageLoad) -> float | None:
    """Area above the curve of the share of bytes received (Bocchi, De Cicco and Rossi 2016).

    The bytes are those of the content, as sent, of resources that were requested before the load
    event; the integral runs from navigation start to the last of them. As the share is a step for
    every chunk, it equals the mean time of arrival of a byte.

    Returns:
        None if no content came.
    """
    chunks = [
        chunk
        for resource in load.page_resources
        if resource.from_network
        for chunk in resource.chunks
    ]
    total = sum(chunk.encoded_bytes for chunk in chunks)
    if not total:
        return None
    return math.fsum(chunk.at_ms * chunk.encoded_bytes for chunk in chunks) / total
