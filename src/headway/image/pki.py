"""The lab's certificate authority and its server certificate; both are for tests only."""

from __future__ import annotations

import base64
import datetime
import hashlib
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CA_FILE, CA_KEY_FILE = "ca.pem", "ca.key"
CERTIFICATE_FILE, KEY_FILE = "server.pem", "server.key"
SPKI_FILE = "server.spki"
"""Base64 of the SHA-256 of the server's public key (RFC 7469, section 2.4), by which Chromium may be
told to trust it whatever name it is asked for."""

_NAMES = ("server.test", "*.server.test", "www.example.test", "localhost")
_ADDRESSES = ("127.0.0.1", "::1")
# Valid whatever the lab's clock starts at.
_FROM = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
_UNTIL = datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC)


def _key() -> rsa.RSAPrivateKey:
    # ECDSA signatures differ in length by a byte or two from one to the next; RSA's never do.
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(subject: str, key: rsa.RSAPrivateKey, serial: int) -> x509.CertificateBuilder:
    # Fixed serial numbers, as random ones differ in length.
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name("Headway lab CA"))
        .public_key(key.public_key())
        .serial_number(serial)
        .not_valid_before(_FROM)
        .not_valid_after(_UNTIL)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def write_pki(directory: Path) -> None:
    """Make an authority and a server certificate, and write them.

    Writes ``ca.pem``, ``ca.key``, ``server.pem`` (the server's certificate and the authority's),
    ``server.key`` and ``server.spki``, all readable by everyone.
    """
    ca_key, server_key = _key(), _key()
    ca = (
        _builder("Headway lab CA", ca_key, 1)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    names: list[x509.GeneralName] = [x509.DNSName(name) for name in _NAMES]
    names += [x509.IPAddress(ipaddress.ip_address(address)) for address in _ADDRESSES]
    server = (
        _builder("server.test", server_key, 2)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False
        )
        .sign(ca_key, hashes.SHA256())
    )
    directory.mkdir(parents=True, exist_ok=True)
    ca_pem = ca.public_bytes(serialization.Encoding.PEM)
    contents = {
        CA_FILE: ca_pem,
        CA_KEY_FILE: _private(ca_key),
        CERTIFICATE_FILE: server.public_bytes(serialization.Encoding.PEM) + ca_pem,
        KEY_FILE: _private(server_key),
        SPKI_FILE: _pin(server_key),
    }
    for name, content in contents.items():
        (directory / name).write_bytes(content)


def _pin(key: rsa.RSAPrivateKey) -> bytes:
    public = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return base64.b64encode(hashlib.sha256(public).digest())


def _private(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
