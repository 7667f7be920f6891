#!/bin/sh
# aioquic: HTTP/0.9 and HTTP/3 on its asyncio interface.
exec python3 "$(dirname "$0")/endpoint.py"
