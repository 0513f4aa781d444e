"""TLS by certificate files: a client that trusts the certificate is answered, and no other."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import sulq
from sulq.errors import RemoteError
from tests.serve.services import running

openssl = shutil.which("openssl")


@pytest.mark.skipif(openssl is None, reason="needs openssl to make a certificate")
def test_a_certificate_is_shown_and_checked(tmp_path: Path) -> None:
    command = (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    subprocess.run(
        [str(openssl), *command.split(), "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    with running(tmp_path, server={"certificate": "cert.pem", "private_key": "key.pem"}) as service:
        secret, url = service.keys.add("ada"), service.url.replace("127.0.0.1", "localhost")
        assert url.startswith("https://")
        with sulq.connect(url, secret, "people", certificate=str(tmp_path / "cert.pem")) as people:
            assert people.remaining == 8
        with pytest.raises(RemoteError, match="certificate verify failed"):
            sulq.connect(url, secret, "people", patience=0)
        with pytest.raises(RemoteError, match="cannot reach"):
            sulq.connect(url.replace("https", "http"), secret, "people", patience=0)
        with pytest.raises(RemoteError, match="cannot read a certificate"):
            sulq.connect(url, secret, "people", certificate=str(tmp_path / "people.csv"))
