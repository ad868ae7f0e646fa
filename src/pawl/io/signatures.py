"""SSH signatures by ssh-keygen: which key signs, a signature, and whether one is by a key that is allowed.

- ``ssh-keygen -Y`` signs and verifies under the namespace ``pawl``, so that a signature made for anything else (a Git
  commit, a file) is none here, and the other way round.
- It runs without a terminal, without input from anybody and for a bounded time: a key that is locked is an error.
- Times in a list of allowed signers are UTC, whatever the machine thinks that it is.
- The key is ``PAWL_SIGNING_KEY`` (a path; empty for none), or else Git's ``user.signingkey`` where ``gpg.format`` is
  ssh.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pawl.errors import InvalidError
from pawl.io.git.process import run as run_git

NAMESPACE = "pawl"
SIGN_SECONDS = 30.0
"""A key on a token may want to be touched."""
VERIFY_SECONDS = 10.0
MAX_SIGNATURE = 16 * 1024
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_LITERALS = ("ssh-", "ecdsa-", "sk-")


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """Which key signs: a file, or the text of a public key whose other half an agent holds."""

    path: Path | None = None
    literal: str | None = None

    def __str__(self) -> str:
        return str(self.path) if self.path else f"the key {(self.literal or '')[:40]}..."


def find_key(root: Path, *, in_git: bool) -> SigningKey | None:
    """Return the key that signs in a workspace, or ``None`` where nobody has said one."""
    said = os.environ.get("PAWL_SIGNING_KEY")
    if said is not None:
        return SigningKey(path=Path(said).expanduser().absolute()) if said.strip() else None
    if not in_git:
        return None
    done = run_git(root, "config", "--null", "--get-regexp", r"^(user\.signingkey|gpg\.format)$", answers=(0, 1))
    found: dict[str, str] = {}
    for entry in done.stdout.decode("utf-8", "replace").split("\0"):
        name, _, value = entry.partition("\n")
        found[name] = value  # the last one wins, as in Git
    key = found.get("user.signingkey", "").strip()
    if found.get("gpg.format") != "ssh" or not key:
        return None
    if key.startswith("key::") or key.startswith(_LITERALS):
        return SigningKey(literal=key.removeprefix("key::"))
    return SigningKey(path=root / Path(key).expanduser())


def sign(key: SigningKey, data: bytes) -> str:
    """Return an armoured signature; ``InvalidError`` where the key cannot be used without asking anybody."""
    with _folder() as folder:
        path = key.path
        if path is None:
            path = folder / "key.pub"
            path.write_text(f"{key.literal}\n", encoding="utf-8")
        elif not path.is_file():
            raise InvalidError(
                f"the signing key {path} is no file",
                code="signing-failed",
                hint="name one in PAWL_SIGNING_KEY or Git's user.signingkey; with PAWL_SIGNING_KEY= nothing is signed",
            )
        options = ("-U",) if key.path is None else ()
        done = _run(*options, "-Y", "sign", "-n", NAMESPACE, "-f", str(path), data=data, seconds=SIGN_SECONDS)
        text = done.stdout.decode("ascii", "replace").strip()
        if done.returncode or not text.startswith(_BEGIN) or not text.endswith(_END):
            raise InvalidError(
                f"ssh-keygen could not sign with {key}: {_complaint(done)}",
                code="signing-failed",
                hint="a key with a passphrase is unlocked with ssh-add first; with PAWL_SIGNING_KEY= nothing is signed",
            )
        return text + "\n"


@lru_cache(maxsize=4_096)
def is_by(signers: bytes, who: str, data: bytes, signature: str, at: str) -> bool:
    """Whether ``signature`` of ``data`` is by a key that ``signers`` allow ``who`` at the moment ``at``.

    ``signers`` has the form of OpenSSH's ALLOWED SIGNERS. ``InvalidError`` where ssh-keygen cannot be asked.
    """
    if not who or not _could_be(signature):
        return False
    moment = at.translate({ord(character): None for character in "-:TZ"})
    with _folder() as folder:
        (folder / "signers").write_bytes(signers)
        (folder / "signature").write_text(signature, encoding="ascii")
        files = ("-f", str(folder / "signers"), "-s", str(folder / "signature"))
        who_and_when = ("-I", who, "-n", NAMESPACE, "-O", f"verify-time={moment}")
        done = _run("-Y", "verify", *files, *who_and_when, data=data, seconds=VERIFY_SECONDS)
    return done.returncode == 0


def is_sound(data: bytes, signature: str) -> bool:
    """Whether ``signature`` is one of ``data``, by whatever key."""
    if not _could_be(signature):
        return False
    with _folder() as folder:
        (folder / "signature").write_text(signature, encoding="ascii")
        file = ("-s", str(folder / "signature"))
        done = _run("-Y", "check-novalidate", "-n", NAMESPACE, *file, data=data, seconds=VERIFY_SECONDS)
    return done.returncode == 0


def _could_be(signature: str) -> bool:
    return signature.isascii() and len(signature) <= MAX_SIGNATURE and signature.startswith(_BEGIN)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pawl-ssh-") as name:
        yield Path(name)


def _run(*arguments: str, data: bytes, seconds: float) -> subprocess.CompletedProcess[bytes]:
    left_out = {"SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment |= {"LC_ALL": "C", "TZ": "UTC", "SSH_ASKPASS_REQUIRE": "never"}
    try:
        return subprocess.run(
            ["ssh-keygen", *arguments],
            input=data,
            capture_output=True,
            timeout=seconds,
            env=environment,
            check=False,
            start_new_session=True,  # no terminal, so nobody can be asked for a passphrase
        )
    except subprocess.TimeoutExpired as error:
        raise InvalidError(f"ssh-keygen did not end within {seconds:g} seconds", code="signing-failed") from error
    except (OSError, ValueError) as error:
        raise InvalidError(
            f"ssh-keygen cannot be run: {error}", code="ssh-keygen-missing", hint="it comes with OpenSSH 8.2 or later"
        ) from error


def _complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    said = [line.removeprefix("Enter passphrase: ") for line in lines if not line.startswith("Signing data")]
    return "; ".join(said)[-400:] or f"it ended with {done.returncode}"
