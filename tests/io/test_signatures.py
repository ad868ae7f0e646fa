"""Signatures by ssh-keygen, with real keys: which key signs, what a signature is worth, and that nobody is asked."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pawl.errors import InvalidError
from pawl.io import signatures
from pawl.io.signatures import SigningKey, find_key, is_by, is_sound, sign
from people import ADA, BEN, address, make_key, signer_line
from support import git

DATA = b'{"what":"is signed"}'
AT = "2999-03-01T12:00:00Z"


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_key(tmp_path_factory.mktemp("ada"), ADA)


@pytest.fixture(scope="module")
def ben(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_key(tmp_path_factory.mktemp("ben"), BEN)


@pytest.fixture(scope="module")
def signature(ada: Path) -> str:
    return sign(SigningKey(path=ada), DATA)


def test_a_signature_holds_for_its_data_its_person_and_no_other(ada: Path, ben: Path, signature: str) -> None:
    signers = signer_line(ADA, ada).encode()
    assert is_by(signers, address(ADA), DATA, signature, AT)
    assert not is_by(signers, address(ADA), DATA + b" ", signature, AT)
    assert not is_by(signers, address(BEN), DATA, signature, AT)
    assert not is_by(signers, "", DATA, signature, AT)
    assert not is_by(signer_line(ADA, ben).encode(), address(ADA), DATA, signature, AT)
    assert not is_by(b"", address(ADA), DATA, signature, AT)
    assert (is_sound(DATA, signature), is_sound(DATA + b" ", signature)) == (True, False)


LISTS = [
    # the options of the line, and whether the signature holds
    ("", True),
    ('namespaces="pawl" ', True),
    ('namespaces="git,pawl" ', True),
    ('namespaces="git" ', False),
    ('valid-after="29990301" ', True),
    ('valid-after="29990301120001" ', False),
    ('valid-before="29990301120000" ', True),
    ('valid-before="29990301115959" ', False),
    ('valid-before="29990228" ', False),
    ("cert-authority ", False),
]


@pytest.mark.parametrize(("options", "holds"), LISTS)
def test_what_a_list_says_of_a_key(
    ada: Path, signature: str, options: str, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")  # times are UTC, whatever the machine thinks
    who, rest = signer_line(ADA, ada).split(" ", 1)
    assert is_by(f"{who} {options}{rest}".encode(), address(ADA), DATA, signature, AT) is holds


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "nothing",
        "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n",
        "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n",
        "-----BEGIN SSH SIGNATURE-----\n" + "A" * 20_000,
        "-----BEGIN SSH SIGNATURE-----\n\udcff",
        "-----BEGIN SSH SIGNATURE-----\nä",
    ],
)
def test_what_is_no_signature_is_none(ada: Path, wrong: str) -> None:
    assert not is_by(signer_line(ADA, ada).encode(), address(ADA), DATA, wrong, AT)
    assert not is_sound(DATA, wrong)


@pytest.mark.parametrize("who", ["-n", "*", "!ada@example.invalid", "ada@example.invalid,x", "ada@example.invalid\n"])
def test_an_address_is_no_option_and_no_pattern(ada: Path, signature: str, who: str) -> None:
    assert not is_by(signer_line(ADA, ada).encode(), who, DATA, signature, AT)


def test_a_signature_made_for_git_is_none_here(ada: Path, tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(DATA)
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", str(ada), str(file)], check=True)
    other = (tmp_path / "data.sig").read_text(encoding="ascii")
    assert not is_by(signer_line(ADA, ada).encode(), address(ADA), DATA, other, AT)
    assert not is_sound(DATA, other)


def test_a_locked_key_is_an_error_and_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tmp_path / "asked"
    helper = tmp_path / "askpass"
    helper.write_text(f"#!/bin/sh\ntouch {asked}\necho secret\n", encoding="utf-8")
    helper.chmod(helper.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("SSH_ASKPASS", str(helper))
    monkeypatch.setenv("SSH_ASKPASS_REQUIRE", "force")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with pytest.raises(InvalidError, match="passphrase") as caught:
        sign(SigningKey(path=make_key(tmp_path, ADA, "secret")), DATA)
    assert caught.value.problems[0].code == "signing-failed"
    assert "ssh-add" in (caught.value.problems[0].hint or "")
    assert not asked.exists()


@contextmanager
def agent(folder: Path) -> Iterator[str]:
    socket = str(folder / "agent")
    with subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield socket
        finally:
            process.terminate()


def test_an_agent_signs_for_a_public_key(ada: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public = ada.with_suffix(".pub").read_text(encoding="utf-8").strip()
    with pytest.raises(InvalidError, match="could not sign"):
        sign(SigningKey(literal=public), DATA)
    with agent(tmp_path) as socket:
        monkeypatch.setenv("SSH_AUTH_SOCK", socket)
        subprocess.run(["ssh-add", "-q", str(ada)], check=True)
        made = sign(SigningKey(literal=public), DATA)
    assert is_by(signer_line(ADA, ada).encode(), address(ADA), DATA, made, AT)


@pytest.mark.parametrize("name", ["no-such-file", "."])
def test_a_key_that_is_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidError, match="is no file"):
        sign(SigningKey(path=tmp_path / name), DATA)


def test_a_file_that_is_no_key(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("words\n", encoding="utf-8")
    with pytest.raises(InvalidError, match="could not sign"):
        sign(SigningKey(path=tmp_path / "key"), DATA)


def test_without_ssh_keygen_it_says_so(
    ada: Path, signature: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for act in (lambda: sign(SigningKey(path=ada), DATA), lambda: is_sound(DATA, signature)):
        with pytest.raises(InvalidError, match="ssh-keygen cannot be run") as caught:
            act()
        assert caught.value.problems[0].code == "ssh-keygen-missing"


def test_one_that_hangs_is_ended(ada: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ssh-keygen"
    program.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(signatures, "SIGN_SECONDS", 0.2)
    with pytest.raises(InvalidError, match="did not end"):
        sign(SigningKey(path=ada), DATA)


# Which key signs

CONFIGS = [
    ({}, None),
    ({"user.signingkey": "/keys/ada"}, None),  # a GPG key, unless Git is told otherwise
    ({"user.signingkey": "ABCD1234", "gpg.format": "openpgp"}, None),
    ({"gpg.format": "ssh"}, None),
    ({"user.signingkey": "/keys/ada", "gpg.format": "ssh"}, SigningKey(path=Path("/keys/ada"))),
    ({"user.signingkey": "key::ssh-ed25519 AAAA", "gpg.format": "ssh"}, SigningKey(literal="ssh-ed25519 AAAA")),
    ({"user.signingkey": "ssh-ed25519 AAAA", "gpg.format": "ssh"}, SigningKey(literal="ssh-ed25519 AAAA")),
]


@pytest.mark.parametrize(("config", "key"), CONFIGS)
def test_the_key_is_gits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: dict[str, str], key: SigningKey | None
) -> None:
    monkeypatch.delenv("PAWL_SIGNING_KEY", raising=False)
    git(tmp_path, "init", "-q")
    for name, value in config.items():
        git(tmp_path, "config", name, value)
    assert find_key(tmp_path, in_git=True) == key
    assert find_key(tmp_path, in_git=False) is None


def test_a_path_of_gits_is_below_home_or_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PAWL_SIGNING_KEY", raising=False)
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "gpg.format", "ssh")
    for said, path in (("~/.ssh/ada", Path.home() / ".ssh/ada"), ("keys/ada", tmp_path / "keys/ada")):
        git(tmp_path, "config", "user.signingkey", said)
        assert find_key(tmp_path, in_git=True) == SigningKey(path=path)


def test_the_environment_is_asked_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "gpg.format", "ssh")
    git(tmp_path, "config", "user.signingkey", "/keys/ada")
    monkeypatch.setenv("PAWL_SIGNING_KEY", "/keys/other")
    assert find_key(tmp_path, in_git=True) == find_key(tmp_path, in_git=False) == SigningKey(path=Path("/keys/other"))
    monkeypatch.setenv("PAWL_SIGNING_KEY", "")
    assert find_key(tmp_path, in_git=True) is None
