"""A certificate for all hosts of a page, so that they may share a connection."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from headway.contract.orders import Orders
from headway.planning.deployment import DeployedFlow
from headway.programs.base import CA_FILE, CERTIFICATE_FILE
from headway.sites.finding import find_outline

NAMES_FILE = "/lab/pki/names"
"""The names that the server's certificate holds in a lab, if they are not the usual ones."""
CHAIN_FILE = "/lab/pki/chain"
"""How many bytes the server's certificates have in a lab, if not as many as usual."""
_FILLER = ".names.test"
_LONGEST_NAME = 60
_NAME_OVERHEAD_BYTES = 2
_CA_KEY_FILE = "/lab/pki/ca.key"


def named_files(flow: DeployedFlow) -> dict[str, str]:
    """What orders say of the server's certificate; nothing if it is the image's."""
    files, workload = dict[str, str](), flow.setting.workload
    if workload.replay.site and workload.replay.one_connection:
        files[NAMES_FILE] = "\n".join(find_outline(workload.replay.site).hosts)
    if size := flow.setting.certificate_chain:
        files[CHAIN_FILE] = str(int(size))
    return files


def certified(orders: Orders, root: Path) -> Orders:
    """Orders with the certificate for the names and of the size in them, signed by the authority of a root tree."""
    names, size = (orders.files.get(file) for file in (NAMES_FILE, CHAIN_FILE))
    if names is None and size is None:
        return orders
    named = tuple(names.split("\n")) if names else ()
    chain = grown(named, int(size), root) if size else certificate_for(named, root)
    return replace(orders, files={**orders.files, CERTIFICATE_FILE: chain})


@lru_cache
def grown(names: tuple[str, ...], size_bytes: int, root: Path) -> str:
    """A chain of a size in bytes of DER, as TLS sends it, reached by names that nobody asks for.

    What makes certificates of real sites large are such names, of all who share a server. The last one fills up what is
    left, so that the size is met but for what the length of lengths in DER leaves.

    Args:
        names: of hosts; the image's if empty.
        size_bytes: of both certificates.
        root: the image's root tree.
    """
    fillers: list[str] = []
    chain = certificate_for(names, root)
    while (left := size_bytes - _der_bytes(chain)) > _NAME_OVERHEAD_BYTES + len(_FILLER):
        # As many as surely fit are added at once, then one by one.
        many = max(left // (2 * _LONGEST_NAME) - 1, 1)
        room = min(left - _NAME_OVERHEAD_BYTES, _LONGEST_NAME)
        fillers += [_filler(len(fillers) + number, room) for number in range(many)]
        chain = certificate_for(names, root, fillers)
    return chain


def _filler(number: int, length: int) -> str:
    """A name that no compression makes much smaller."""
    drawn = hashlib.sha256(str(number).encode()).hexdigest()
    return f"n{drawn}"[: length - len(_FILLER)] + _FILLER


def _der_bytes(chain: str) -> int:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    certificates = x509.load_pem_x509_certificates(chain.encode("ascii"))
    return sum(
        len(certificate.public_bytes(serialization.Encoding.DER)) for certificate in certificates
    )


def certificate_for(names: Sequence[str], root: Path, more: Sequence[str] = ()) -> str:
    """The image's server certificate under other names, with the authority's; both as PEM.

    Its key is the same. Equal names have equal certificates: signatures of RSA are not drawn.

    Args:
        names: of hosts; the image's if empty.
        root: the image's root tree.
        more: names besides.
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
    number = (
        int.from_bytes(hashlib.sha256("\n".join((*names, *more)).encode()).digest()[:8]) >> 2
        | 1 << 62
    )
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
            known = [x509.DNSName(name) for name in names] or list(value)
            value = x509.SubjectAlternativeName([*known, *map(x509.DNSName, more)])
        builder = builder.add_extension(value, extension.critical)
    signed = builder.sign(key, hashes.SHA256())
    return (signed.public_bytes(serialization.Encoding.PEM) + read(CA_FILE)).decode()
