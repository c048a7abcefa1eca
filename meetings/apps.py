from django.apps import AppConfig


class MeetingsConfig(AppConfig):
    name = "meetings"

    def ready(self) -> None:
        # These modules import models, which are all loaded only now.
        from accounts.feed.changes import FeedKind, register_feed_kind  # noqa: PLC0415 - as above
        from meetings import checks  # noqa: F401, PLC0415 - as above, registers itself
        from meetings.extension import MeetingsExtension  # noqa: PLC0415 - as above
        from meetings.models import MeetingProposal  # noqa: PLC0415 - as above
        from meetings.projection import represent_proposals  # noqa: PLC0415 - as above
        from meetings.transfer import register_transfer  # noqa: PLC0415 - as above
        from people.extensions import register_extension  # noqa: PLC0415 - as above

        register_extension(MeetingsExtension())
        register_transfer()
        register_feed_kind(FeedKind(MeetingProposal, 67, represent_proposals))
