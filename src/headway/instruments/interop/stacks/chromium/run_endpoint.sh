#!/bin/sh
# Chromium's headless shell as a client, over HTTP/3: a page's script fetches the files, and prints them in its document.
[ "$ROLE" = client ] && [ "$ALPN" = h3 ] || exit 127
case "$TESTCASE" in
handshake | transfer | retry | http3) ;;
*) exit 127 ;;
esac
host=${REQUESTS#https://}
host=${host%%/*}
{
    echo '<!doctype html><meta charset="utf-8"><body><script>'
    for request in $REQUESTS; do
        echo "fetched('$request');"
    done
    cat <<'EOF'
function fetched(url) {
  // The document's load waits for it.
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.overrideMimeType("text/plain; charset=x-user-defined");
  let text = "";
  try { request.send(); text = request.status === 200 ? request.responseText : ""; } catch (error) { return; }
  const bytes = Array.from(text, (letter) => String.fromCharCode(letter.charCodeAt(0) & 255));
  const pre = document.createElement("pre");
  pre.textContent = url.split("/").pop() + " " + btoa(bytes.join(""));
  document.body.append(pre);
}
EOF
    echo '</script>'
} >/tmp/page.html
/usr/lib/chromium/chromium-headless-shell --headless --no-sandbox \
    --disable-gpu --in-process-gpu --disable-dev-shm-usage --disable-site-isolation-trials --no-first-run \
    --no-proxy-server --disable-background-networking --disable-component-update --disable-extensions \
    --disable-sync --disable-breakpad --disable-web-security --allow-file-access-from-files \
    --ignore-certificate-errors-spki-list="$(cat /lab/pki/server.spki)" --user-data-dir=/tmp/chromium \
    --enable-quic --origin-to-force-quic-on="$host" --dump-dom file:///tmp/page.html >/tmp/page.out || exit 1
python3 - <<'EOF'
import base64
import re
from pathlib import Path

text = Path("/tmp/page.out").read_text(encoding="utf-8")
for name, content in re.findall(r"<pre>(\S+) ([A-Za-z0-9+/=]*)</pre>", text):
    (Path("/downloads") / name).write_bytes(base64.b64decode(content))
EOF
