"""The one door to the network. See docs/notifications.md for the policy it keeps."""

from contacts_project.kernel.outbound.answers import Answer
from contacts_project.kernel.outbound.door import Door, Rules, configured_rules, guard, open_door
from contacts_project.kernel.outbound.failures import Code, OutboundError, check_status, parse_retry_after
from contacts_project.kernel.outbound.policy import Policy, Reason, Refused, Schemes, Target, check_url

__all__ = [
    "Answer",
    "Code",
    "Door",
    "OutboundError",
    "Policy",
    "Reason",
    "Refused",
    "Rules",
    "Schemes",
    "Target",
    "check_status",
    "check_url",
    "configured_rules",
    "guard",
    "open_door",
    "parse_retry_after",
]
