"""Keys: 256 bits that are kept as hashes, and are worth nothing once they are revoked or expired."""

from __future__ import annotations

import base64
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sulq.errors import SulqError
from sulq.serve.keys import Keys
from sulq.serve.refusals import RefusedError
from tests.effort import either


def refusal(keys: Keys, secret: str) -> str:
    with pytest.raises(RefusedError) as refused:
        keys.of(secret)
    return refused.value.code


def test_the_file_holds_no_secret_and_is_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    with Keys(path) as keys:
        secrets = [keys.add("ada") for _ in range(20)]
    content = path.read_bytes()
    for secret in secrets:
        _, _, random = secret.split("_", 2)
        assert len(base64.urlsafe_b64decode(random + "=")) == 32
        assert random.encode() not in content
    assert len({secret.split("_", 2)[2] for secret in secrets}) == 20
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_is_valid_until_it_expires_or_is_revoked(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    with Keys(tmp_path / "keys") as keys:
        good = keys.add("ada", datasets=["people"], expires=now + timedelta(hours=1))
        old = keys.add("ada", expires=now - timedelta(seconds=1))
        assert keys.of(good).allows("people") and not keys.of(good).allows("others")
        assert refusal(keys, old) == "key_expired"
        number = keys.of(good).id
        keys.revoke(number)
        assert refusal(keys, good) == "key_revoked"
        before = keys.list()
        keys.revoke(number)
        assert keys.list() == before  # when it was revoked first is what counts


def test_what_another_process_changes_holds_at_once(tmp_path: Path) -> None:
    with Keys(tmp_path / "keys") as serving, Keys(tmp_path / "keys") as command:
        secret = command.add("ada")
        number = serving.of(secret).id
        command.revoke(number)
        assert refusal(serving, secret) == "key_revoked"


def test_a_service_and_a_command_may_make_the_file_at_the_same_time(tmp_path: Path) -> None:
    many, tries = 4, either(10, 100)
    together = threading.Barrier(many, timeout=20)

    def make(number: int) -> None:
        for place in range(tries):
            together.wait()
            with Keys(tmp_path / f"{place}.keys") as keys:
                keys.add(f"ada{number}")

    with ThreadPoolExecutor(many) as threads:
        list(threads.map(make, range(many)))
    for place in range(tries):
        with Keys(tmp_path / f"{place}.keys") as keys:
            assert len(keys.list()) == many


def test_only_the_whole_secret_opens(tmp_path: Path) -> None:
    with Keys(tmp_path / "keys") as keys:
        secret, other = keys.add("ada"), keys.add("bob")
        _, number, random = secret.split("_", 2)
        crossed = f"sulq_{number}_{other.split('_', 2)[2]}"
        for wrong in (
            "",
            "_",
            "__",
            number,
            random,
            secret[:-1],
            secret + " ",
            crossed,
            "sulq_%_x",
            "\ud800__",
        ):
            assert refusal(keys, wrong) == "key_unknown"


@pytest.mark.parametrize("name", ["", "a/b", "*", "a b", "x" * 65, "ä", 7, ".hidden/.."])
def test_a_name_is_one_that_an_account_can_have(tmp_path: Path, name: str) -> None:
    with Keys(tmp_path / "keys") as keys, pytest.raises(SulqError, match="whose key it is"):
        keys.add(name)


def test_another_file_is_not_taken_for_keys(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but quite a long text about something else" * 20)
    with pytest.raises(SulqError, match="cannot open the keys"):
        Keys(tmp_path / "text")
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("CREATE TABLE people (name)")
    with pytest.raises(SulqError, match="is not a file of keys"):
        Keys(tmp_path / "other")
    with pytest.raises(SulqError, match="cannot open the keys"):
        Keys(tmp_path / "nowhere" / "keys")
