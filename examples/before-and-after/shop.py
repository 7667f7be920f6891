"""Writes a page before and after a change, as a browser's developer tools save what they loaded (HAR)."""

import json
import sys
from pathlib import Path

SCRIPT = "// what the page can do\n" + "void 0;\n" * 40_000
PAGE = """<!doctype html><title>shop</title>
<link rel="stylesheet" href="/style.css">
<script {how} src="/shop.js"></script>
<h1>Shop</h1><p>Everything must go.</p>
"""


def exchange(path: str, kind: str, body: str) -> dict[str, object]:
    """A request and its response."""
    content = {"mimeType": kind, "size": len(body), "text": body}
    headers = [{"name": "content-type", "value": kind}]
    return {
        "request": {"method": "GET", "url": f"https://shop.test{path}", "headers": []},
        "response": {"status": 200, "headers": headers, "content": content},
    }


def main() -> None:
    """Write the page with its script waited for, and deferred."""
    for name, how in (("before", ""), ("after", "defer")):
        entries = [
            exchange("/", "text/html; charset=utf-8", PAGE.format(how=how)),
            exchange("/style.css", "text/css", "h1 { color: navy }"),
            exchange("/shop.js", "text/javascript", SCRIPT),
        ]
        log = {"version": "1.2", "creator": {"name": "shop.py", "version": "1"}, "entries": entries}
        Path(sys.argv[1], f"{name}.har").write_text(json.dumps({"log": log}), encoding="utf-8")


if __name__ == "__main__":
    main()
