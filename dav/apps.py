from django.apps import AppConfig


class DavConfig(AppConfig):
    name = "dav"

    def ready(self) -> None:
        from accounts.lifecycle import on_account_deleted  # noqa: PLC0415 - needs loaded models
        from accounts.transfer.sections import exclude_table  # noqa: PLC0415
        from dav import invariants  # noqa: F401, PLC0415
        from dav.cards.photo_files import files_of_account, find_referenced_files  # noqa: PLC0415
        from dav.services import gone_cards  # noqa: PLC0415
        from dav.services.deletions import find_deleters  # noqa: PLC0415
        from dav.services.replaced_values import owners_with_old_values, purge_replaced  # noqa: PLC0415
        from people.extensions import register_extension  # noqa: PLC0415
        from people.photos.files import register_reference_finder  # noqa: PLC0415
        from people.trash.registry import PurgeJob, register_deleter_finder, register_purge_job  # noqa: PLC0415

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
        register_reference_finder(find_referenced_files)
        on_account_deleted(files_of_account)
        register_purge_job(PurgeJob("values that devices replaced", owners_with_old_values, purge_replaced))
        register_extension(gone_cards.CardsOfPeople())
        for name, owners, remove in (
            ("texts of what no longer exists", gone_cards.owners_with_full_cards, gone_cards.blank_gone_cards),
            ("texts that no device has", gone_cards.owners_with_unheld_texts, gone_cards.drop_unheld_texts),
            ("cards of what no longer exists", gone_cards.owners_with_gone_cards, gone_cards.purge_gone_cards),
        ):
            register_purge_job(PurgeJob(name, owners, remove))
