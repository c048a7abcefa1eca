from django.apps import AppConfig


class SharingConfig(AppConfig):
    name = "sharing"

    def ready(self) -> None:
        # These modules import models, which are all loaded only now.
        from accounts.feed.changes import FeedKind, register_feed_kind  # noqa: PLC0415 - as above
        from contacts_project.kernel.ownership.account_lock import register_shared_write_hook  # noqa: PLC0415 - as above
        from contacts_project.kernel.ownership.larger_work import register_end_hook  # noqa: PLC0415 - as above
        from people.extensions import register_extension  # noqa: PLC0415 - as above
        from sharing import checks, invariants  # noqa: F401, PLC0415 - as above, register themselves
        from sharing.carry.origins import end_origin  # noqa: PLC0415 - as above
        from sharing.extension import SharingExtension  # noqa: PLC0415 - as above
        from sharing.models import ShareConflict, ShareMembership  # noqa: PLC0415 - as above
        from sharing.projection import represent_conflicts, represent_shares  # noqa: PLC0415 - as above
        from sharing.receivers import mark_write  # noqa: PLC0415 - as above
        from sharing.transfer import register_transfer  # noqa: PLC0415 - as above

        register_extension(SharingExtension())
        register_transfer()
        register_shared_write_hook(mark_write)
        register_end_hook(end_origin)
        # A client knows a share by its id for all members, not by that of the membership.
        register_feed_kind(FeedKind(ShareMembership, 68, represent_shares, column="share_id"))
        register_feed_kind(FeedKind(ShareConflict, 69, represent_conflicts))
