from django.apps import AppConfig


class DavConfig(AppConfig):
    name = "dav"

    def ready(self) -> None:
        from accounts.signals import on_account_deleted  # noqa: PLC0415 - needs loaded models
        from accounts.transfer.sections import exclude_table  # noqa: PLC0415
        from dav import invariants  # noqa: F401, PLC0415
        from dav.services import retention  # noqa: PLC0415
        from dav.services.deletions import find_deleters  # noqa: PLC0415
        from dav.services.history import owners_with_old_values, purge_replaced  # noqa: PLC0415
        from people.extensions import register_extension  # noqa: PLC0415
        from people.photos.files import register_reference_finder  # noqa: PLC0415
        from people.trash import PurgeJob, register_deleter_finder, register_purge_job  # noqa: PLC0415

        for label in (
            "Book",
            "BookCard",
            "FormerText",
            "CollectionProperty",
            "DeviceDeletion",
            "TaskTick",
            "TaskSnooze",
        ):
            exclude_table(f"dav.{label}", "How devices of this instance see the people, who are exported themselves.")
        for label in ("Device", "GivenCard", "SelectedCard", "ListedAgain", "Refusal", "UnreadTask", "ReplacedValue"):
            exclude_table(f"dav.{label}", "Of an app password, which is not exported.")
        register_deleter_finder(find_deleters)
        register_reference_finder(retention.find_referenced_files)
        on_account_deleted(retention.files_of_account)
        register_purge_job(PurgeJob("values that devices replaced", owners_with_old_values, purge_replaced))
        register_extension(retention.CardsOfPeople())
        for name, owners, remove in (
            (
                "texts of what no longer exists",
                retention.owners_with_cards_of_nobody,
                retention.blank_cards_of_nobody,
            ),
            ("texts that no device has", retention.owners_with_texts_of_nobody, retention.drop_texts_of_nobody),
            ("cards of what no longer exists", retention.owners_with_expired_tombstones, retention.purge_tombstones),
        ):
            register_purge_job(PurgeJob(name, owners, remove))
