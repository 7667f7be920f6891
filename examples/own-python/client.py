"""A client of HTTP/1.1 over TLS that fetches a file in pieces, one after the other, by one connection.

client.py CA URL PIECES
"""

import http.client
import json
import ssl
import sys
import time
from urllib.parse import urlsplit

authority, url, pieces = sys.argv[1], urlsplit(sys.argv[2]), int(sys.argv[3])
size = int(url.path.strip("/").removesuffix(".bin"))  # N.bin has N bytes.
part = -(-size // pieces)

began = time.monotonic()
context = ssl.create_default_context(cafile=authority)
server = http.client.HTTPSConnection(url.hostname, url.port, context=context)
got = 0
for first in range(0, size, part):
    last = min(first + part, size) - 1
    server.request("GET", url.path, headers={"Range": f"bytes={first}-{last}"})
    answer = server.getresponse()
    assert answer.status == 206, answer.status
    got += len(answer.read())
print(json.dumps({"total_s": time.monotonic() - began, "bytes": got}))
