"""A certificate for the servers that are attacked."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

CERTIFICATE, KEY = "server.pem", "server.key"
NAME = "localhost"


def write_identity(directory: Path) -> None:
    """A certificate that is its own authority, of P-256 as most are: RSA would make handshakes slow."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    addresses = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName(NAME)]
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    directory.joinpath(CERTIFICATE).write_bytes(certificate.public_bytes(pem))
    form, secrecy = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    directory.joinpath(KEY).write_bytes(key.private_bytes(pem, form, secrecy))
