"""Programs under study on aioquic, which run inside a lab: a client and a server of HTTP/3."""
