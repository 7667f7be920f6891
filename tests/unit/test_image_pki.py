"""The lab's certificates are the same on all machines."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509 import load_pem_x509_certificate, load_pem_x509_certificates

from headway.image import pki


def test_they_are_equal_whenever_and_wherever_made(tmp_path: Path) -> None:
    for name in ("one", "other"):
        pki.write_pki(tmp_path / name)
    names = [file.name for file in sorted((tmp_path / "one").iterdir())]
    assert len(names) == 5
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_keys_are_keys(tmp_path: Path) -> None:
    pki.write_pki(tmp_path)
    keys = []
    for name in (pki.KEY_FILE, pki.CA_KEY_FILE):
        key = serialization.load_pem_private_key((tmp_path / name).read_bytes(), password=None)
        assert isinstance(key, rsa.RSAPrivateKey)
        assert key.key_size == 2048
        signed = key.sign(b"text", padding.PKCS1v15(), hashes.SHA256())
        key.public_key().verify(signed, b"text", padding.PKCS1v15(), hashes.SHA256())
        keys.append(key.private_numbers().p)
    assert keys[0] != keys[1]


def test_the_authority_signed_the_servers(tmp_path: Path) -> None:
    pki.write_pki(tmp_path)
    server, _ = load_pem_x509_certificates((tmp_path / pki.CERTIFICATE_FILE).read_bytes())
    server.verify_directly_issued_by(
        load_pem_x509_certificate((tmp_path / pki.CA_FILE).read_bytes())
    )
