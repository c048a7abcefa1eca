"""Outbound sessions that may reach loopback."""

from typing import Any

from contacts_project.kernel.outbound.policy import Policy
from contacts_project.kernel.outbound.session import OutboundSession, Rules

LOOPBACK = Policy.parse("127.0.0.0/8", "*")


def open_session(**rules: Any) -> OutboundSession:
    """A session that may reach loopback on every port. `rules` are the fields of Rules."""
    return OutboundSession(Rules(**{"policy": LOOPBACK, "seconds": 10.0, **rules}))
