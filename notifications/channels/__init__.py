"""The channels, one module each. To add one, add a module and a line in CHANNELS (docs/notifications.md)."""

from notifications.channels.email import EmailChannel
from notifications.channels.interface import Channel
from notifications.channels.ntfy import NtfyChannel
from notifications.channels.push import PushChannel
from notifications.channels.webhook import WebhookChannel

CHANNELS: tuple[Channel, ...] = (
    EmailChannel(),
    PushChannel(),
    NtfyChannel(),
    WebhookChannel(),
)


def channels() -> dict[str, Channel]:
    """All channels by name."""
    return {channel.name: channel for channel in CHANNELS}
