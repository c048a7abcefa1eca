"""The channels, one file each. A further one is a file beside these and a line in CHANNELS."""

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
    """Every channel by its name."""
    return {channel.name: channel for channel in CHANNELS}
