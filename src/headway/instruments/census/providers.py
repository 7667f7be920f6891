"""The provider that answers a request, told by the field Server and by the host's name."""

from __future__ import annotations

import ibis
import ibis.expr.types as ir

from headway.tables import table

NOBODY = "none"
_OTHER = "other"
_HOST = r"^[a-z]+://([^/:?#]+)"


def provider(server: ir.StringValue, url: ir.StringValue) -> ir.StringValue:
    """The provider by the rules of `providers.csv`; "other" if none of them holds.

    Args:
        server: value of the field, null if there is none.
        url: of the request.
    """
    by = {"server": server.lower(), "host": url.lower().re_extract(_HOST, 1)}
    rules = [
        (by[rule["by"]].re_search(rule["pattern"]), rule["provider"])
        for rule in table("headway.instruments.census", "providers.csv")
    ]
    return ibis.cases(*rules, else_=_OTHER)
