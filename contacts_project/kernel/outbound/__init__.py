"""Outbound HTTP: every request to another server uses these sessions. docs/notifications.md describes the policy."""

from contacts_project.kernel.outbound.failures import Code, OutboundError, TooLongError, check_status, parse_retry_after
from contacts_project.kernel.outbound.policy import BlockedError, CheckedUrl, Policy, Reason, Schemes, check_url
from contacts_project.kernel.outbound.session import (
    OutboundResponse,
    OutboundSession,
    Rules,
    configured_rules,
    guard,
    outbound_session,
    reuse_sessions,
)

__all__ = [
    "BlockedError",
    "CheckedUrl",
    "Code",
    "OutboundError",
    "OutboundResponse",
    "OutboundSession",
    "Policy",
    "Reason",
    "Rules",
    "Schemes",
    "TooLongError",
    "check_status",
    "check_url",
    "configured_rules",
    "guard",
    "outbound_session",
    "parse_retry_after",
    "reuse_sessions",
]
