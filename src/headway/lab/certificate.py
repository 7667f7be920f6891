"""A certificate for all hosts of a page, so that they may share a connection."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from headway.contract.orders import Orders
from headway.planning.deployment import Deployment
from headway.programs.base import CA_FILE, CERTIFICATE_FILE
from headway.sites.library import find_outline
from headway.study.workload import Connections, Page

NAMES_FILE = "/lab/pki/names"
"""The names that the server's certificate holds in a lab, if they are not the usual ones."""
_CA_KEY_FILE = "/lab/pki/ca.key"


def named_files(deployment: Deployment) -> dict[str, str]:
    """What orders say of the server's certificate; nothing if it is the image's."""
    page = deployment.setting.workload
    if not isinstance(page, Page) or page.connections is not Connections.ONE:
        return {}
    return {NAMES_FILE: "\n".join(find_outline(page.site).hosts)}


def certified(orders: Orders, root: Path) -> Orders:
    """Orders with the certificate for the names in them, signed by the authority of a root tree."""
    names = orders.files.get(NAMES_FILE)
    if names is None:
        return orders
    chain = certificate_for(names.split("\n"), root)
    return replace(orders, files={**orders.files, CERTIFICATE_FILE: chain})


def certificate_for(names: Sequence[str], root: Path) -> str:
    """The image's server certificate under other names, with the authority's; both as PEM.

    Its key is the same. Equal names have equal certificates: signatures of RSA are not drawn.

    Args:
        names: of hosts.
        root: the image's root tree.
    """
    # Loading it takes a while, and few runs need it.
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    def read(file: str) -> bytes:
        return (root / file.lstrip("/")).read_bytes()

    usual = x509.load_pem_x509_certificate(read(CERTIFICATE_FILE))
    key = serialization.load_pem_private_key(read(_CA_KEY_FILE), password=None)
    assert isinstance(key, rsa.RSAPrivateKey), "the image's authority has such a key"
    # Of the same length whatever the names; an authority gives no number twice.
    number = int.from_bytes(hashlib.sha256("\n".join(names).encode()).digest()[:8]) >> 2 | 1 << 62
    builder = (
        x509.CertificateBuilder()
        .subject_name(usual.subject)
        .issuer_name(usual.issuer)
        .public_key(usual.public_key())
        .serial_number(number)
        .not_valid_before(usual.not_valid_before_utc)
        .not_valid_after(usual.not_valid_after_utc)
    )
    for extension in usual.extensions:
        value: x509.ExtensionType = extension.value
        if isinstance(value, x509.SubjectAlternativeName):
            value = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        builder = builder.add_extension(value, extension.critical)
    signed = builder.sign(key, hashes.SHA256())
    return (signed.public_bytes(serialization.Encoding.PEM) + read(CA_FILE)).decode()
