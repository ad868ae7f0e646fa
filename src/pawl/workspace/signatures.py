"""Whose signatures count: of the records of a channel, what is verified for whoever judges."""

from __future__ import annotations

from typing import Any

from pawl.errors import InvalidError, NotFoundError, PawlError
from pawl.ids import Channel, Serial
from pawl.problems import Problem
from pawl.registry.channels_state import ChannelState
from pawl.registry.journal import unseal
from pawl.registry.signatures import claims, only_verified, signature_of, signed_of
from pawl.values import dataclass
from pawl.workspace.journal_files import record_data
from pawl.workspace.places import Places


@dataclass(frozen=True, slots=True)
class Signatures(Places):
    """What keys vouch for, by the adopted signers and those of the work tree."""

    def signers(self) -> str | None:
        """Return registry/allowed_signers as it is in the work tree, or ``None`` where there is none."""
        try:
            return self.read_source(self.signers_file).decode("utf-8")
        except NotFoundError:
            return None
        except UnicodeDecodeError as error:
            where = self.relative(self.signers_file)
            message = f"{where} is no UTF-8"
            problem = Problem(code="not-utf8", message=message, path=where)
            raise InvalidError(message, problems=(problem,)) from error

    def attested(
        self,
        state: ChannelState,
        adopted: str | None,
        at: str,
        *,
        approvals: bool = True,
        known: dict[Any, bool] | None = None,
    ) -> ChannelState:
        """Return a channel for judging: verified is in it only what a signature vouches for at ``at``.

        A key vouches that the adopted signers and those of the work tree both allow: to add one takes an adoption, to
        take one out does not. What cannot be looked at vouches for nothing. ``approvals`` says whether they matter.
        ``known`` keeps the answers, for whoever asks about the same records many times.
        """
        claimed = claims(state, at, approvals=approvals)
        if not claimed:
            return state
        answers = {} if known is None else known
        for serial in claimed:
            key = (state.channel, serial, adopted, at)
            if key not in answers:
                answers[key] = self._vouched(state.channel, serial, adopted, at)
        held = {serial for serial in claimed if answers[state.channel, serial, adopted, at]}
        return only_verified(state, held, approvals=approvals)

    def vouches(self, who: str | None, data: bytes, signature: str | None, adopted: str | None, at: str) -> bool:
        """Whether a signature of ``data`` is by a key that both lists of signers allow ``who`` at ``at``."""
        from pawl.io.signatures import is_by  # noqa: PLC0415 - few channels have anything signed

        if adopted is None or signature is None or not who:
            return False
        try:
            present = self.signers()
            if present is None:
                return False
            lists = dict.fromkeys((adopted, present))
            return all(is_by(signers.encode(), who, data, signature, at) for signers in lists)
        except (PawlError, ValueError):
            return False

    def _vouched(self, channel: Channel, serial: Serial, adopted: str | None, at: str) -> bool:
        try:
            record = unseal(record_data(self, channel, serial), journal=channel, serial=serial)
            data = signed_of(record)
        except (PawlError, ValueError):
            return False
        return self.vouches(record.actor.email, data, signature_of(record), adopted, at)
