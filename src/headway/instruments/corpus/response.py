"""Responses of made sites: the fields that every one of them has."""

from __future__ import annotations

import hashlib

from headway.sites.site import Exchange, Header

CONTENT_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "png": "image/png",
    "gif": "image/gif",
    "ttf": "font/ttf",
}
"""Content type by the kind of an object, which is its file's suffix, too."""

_DOCUMENT_FIELDS: tuple[Header, ...] = (("cache-control", "no-cache"),)
_SUBRESOURCE_FIELDS: tuple[Header, ...] = (("cache-control", "max-age=3600"),)
# Fonts are fetched with CORS even from the page's own origin (CSS Fonts Level 4, section 4.9).
_FONT_FIELDS: tuple[Header, ...] = (("access-control-allow-origin", "*"),)


def response(url: str, content_type: str, body: bytes, *, document: bool = False) -> Exchange:
    """The exchange that gets a body: status 200, with an entity tag, fresh for an hour.

    Args:
        url: absolute.
        content_type: of the body.
        body: not compressed.
        document: the page itself, which a browser has to revalidate.
    """
    fields = _DOCUMENT_FIELDS if document else _SUBRESOURCE_FIELDS
    if content_type.startswith("font/"):
        fields += _FONT_FIELDS
    tag = hashlib.sha256(body).hexdigest()[:16]
    headers = (("content-type", content_type), *fields, ("etag", f'"{tag}"'))
    return Exchange("GET", url, 200, headers, body)
