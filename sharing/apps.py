from django.apps import AppConfig


class SharingConfig(AppConfig):
    name = "sharing"

    def ready(self) -> None:
        # These modules import models, which are all loaded only now.
        from accounts.feed.changes import FeedKind, register_feed_kind  # noqa: PLC0415 - as above
        from sharing.models import ShareConflict, ShareMembership  # noqa: PLC0415 - as above
        from sharing.projection import represent_conflicts, represent_shares  # noqa: PLC0415 - as above
        from sharing.transfer import register_transfer  # noqa: PLC0415 - as above

        register_transfer()
        # A client knows a share by its id for all members, not by that of the membership.
        register_feed_kind(FeedKind(ShareMembership, 68, represent_shares, column="share_id"))
        register_feed_kind(FeedKind(ShareConflict, 69, represent_conflicts))
