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


def has_own_server(name: str) -> bool:
    """Whether the channel of this name sends to a server of the operator."""
    channel = channels().get(name)
    return channel is not None and channel.has_own_server


def channels() -> dict[str, Channel]:
    """All channels by name."""
    return {channel.name: channel for channel in CHANNELS}
