"""The lab's certificate authority and its server certificate; both are for tests only.

They are the same on every machine, so that equal seeds give equal packets on all: their keys grow from names
that anybody can read here. Whoever trusts the authority outside of a lab trusts everybody.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import ipaddress
import math
from collections.abc import Iterator
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


_EXPONENT = 65537
_PRIME_BITS = 1024
_SMALL_PRIMES = [n for n in range(2, 2000) if all(n % d for d in range(2, math.isqrt(n) + 1))]
_BASES = _SMALL_PRIMES[:40]
"""So many trials leave a chance of 4^-40 that a number is taken for a prime."""


def _key(name: str) -> rsa.RSAPrivateKey:
    """A key of 2048 bits; equal names have equal keys."""
    # ECDSA signatures differ in length by a byte or two from one to the next; RSA's never do.
    primes = _primes(f"Headway {name}")
    p, q = next(primes), next(primes)
    d = pow(_EXPONENT, -1, math.lcm(p - 1, q - 1))
    public = rsa.RSAPublicNumbers(_EXPONENT, p * q)
    crt = (rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q))
    return rsa.RSAPrivateNumbers(p, q, d, *crt, public).private_key()


def _primes(name: str) -> Iterator[int]:
    number = 0
    while True:
        drawn = hashlib.shake_256(f"{name} {number}".encode()).digest(_PRIME_BITS // 8)
        number += 1
        # The product of two has twice as many bits.
        candidate = int.from_bytes(drawn) | 3 << (_PRIME_BITS - 2) | 1
        if math.gcd(candidate - 1, _EXPONENT) == 1 and _is_prime(candidate):
            yield candidate


def _is_prime(number: int) -> bool:
    """The test of Miller and Rabin, for numbers of many digits."""
    if any(number % small == 0 for small in _SMALL_PRIMES):
        return False
    twos = ((number - 1) & -(number - 1)).bit_length() - 1
    odd = (number - 1) >> twos
    for base in _BASES:
        powers = [pow(base, odd, number)]
        for _ in range(twos - 1):
            powers.append(powers[-1] ** 2 % number)
        if powers[0] != 1 and number - 1 not in powers:
            return False
    return True


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
    """Write an authority and a server certificate, the same ones everywhere.

    Writes ``ca.pem``, ``ca.key``, ``server.pem`` (the server's certificate and the authority's),
    ``server.key`` and ``server.spki``, all readable by everyone.
    """
    ca_key, server_key = _key("lab CA"), _key("lab server")
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
