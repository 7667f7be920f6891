"""An HTTP client that Headway does not know, which tells its result as JSON."""

import json
import ssl
import sys
import time
import urllib.request

authority, output, *urls = sys.argv[1:]
context = ssl.create_default_context(cafile=authority)
began = time.monotonic()
received, first = 0, None
for url in urls:
    with (
        urllib.request.urlopen(url, context=context) as answer,
        open(output, "wb") as body,  # noqa: PTH123
    ):
        first = first or time.monotonic()
        while block := answer.read(65536):
            received += body.write(block)
ended = time.monotonic()
times = {"first": (first - began) * 1e3, "last": (ended - began) * 1e3}
print(json.dumps({"times": times, "received": received}))
