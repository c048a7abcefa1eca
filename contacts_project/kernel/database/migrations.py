"""The tables of a new database, and which version of the service another one is of, by its recorded migrations.

A new database gets its tables directly, in the state in which the migrations would leave them: in a third of a second
of CPU, where they take ten. Beside tables, indexes and constraints, migrations only change rows, and a new database has
none. tests/contacts_project/test_upgrade.py compares the result with that of the migrations. It fails for a migration
whose SQL adds something to the schema that is not in the models; such SQL must be repeated here.

Databases and backups of before also name the migrations that `0001_tables` of each app has replaced. No code is left of
them. Commit b8b56eaa has the tables of `0001_tables`; its databases have recorded both that and what it replaced, and
its backups name only what was replaced.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from pkgutil import iter_modules

from django.apps import apps
from django.core.management.sql import emit_post_migrate_signal
from django.db import DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model

MigrationKey = tuple[str, str]  # app label and name
LAST_VERSION_WITH_THEM = "b8b56eaa"

_NAMES_BY_APP = {
    "accounts": """
        0001_initial 0002_sessions_and_registration_turns 0003_account_mails 0004_doomed_files 0005_second_factor
        0006_oidc_identities 0007_known_devices 0008_proven_addresses 0009_one_account_proves_an_address
        0010_lease_account_mails 0011_name_locks_and_file_deletions 0012_revisions_of_rows 0013_vocabularies
        0014_newest_accounts_first 0015_mirrored_accounts 0016_kept_answers 0017_device_tokens 0018_app_codes
        0019_quiet_hours 0020_filters_of_operators 0021_stored_responses 0022_digests_of_stored_responses
        0023_folded_addresses 0024_one_account_proves_an_address 0025_sizes_of_stored_responses 0026_compose_texts
        0027_settings_of_devices
    """,
    "carddav": """
        0001_pending_imports 0002_connection_and_sync_state 0003_connection_lease 0004_other_cards
        0005_tombstone_reasons 0006_former_photos 0007_indexes_for_operators 0008_mirrored_accounts
        0009_one_open_write_of_a_contact 0010_connection_revision 0011_failures_and_dry_runs
        0012_filters_of_operators 0013_compose_texts 0014_cards_held_back
    """,
    "contacts_project": """
        0001_budgets 0002_tombstones 0003_daily_counts 0004_forget_draws 0005_pending_messages
    """,
    "dav": """
        0001_cards_of_devices 0002_group_cards_refusals_and_replaced_values 0003_settings_of_devices
        0004_what_devices_deleted 0005_ticks_of_tasks 0006_moved_tasks 0007_what_calendars_show
        0008_unread_tasks_and_interactions
    """,
    "notifications": """
        0001_destinations_and_devices 0002_heartbeats 0003_ledger_and_digest_schedule 0004_holders_of_deliveries
        0005_find_old_deliveries 0006_drop_budget_draws 0007_release_ended_deliveries 0008_revisions_of_rows
        0009_vocabularies 0010_tell_of_found_contacts 0011_indexes_for_operators 0012_calendar_feeds
        0013_lead_days_of_deliveries 0014_reminder_answers 0015_defaults_in_the_database 0016_filters_of_operators
        0017_lease_of_disable_notices 0018_compose_texts 0019_devices_of_push 0020_notices_of_devices
    """,
    "people": """
        0001_initial 0002_links_of_people 0003_next_reminder_of_dates_and_contacts 0004_duplicates_and_merges
        0005_geocoded_addresses 0006_uid_of_every_person 0007_uid_is_never_null 0008_counts_of_accounts
        0009_lines_of_cards 0010_lease_addresses_and_the_geocoder 0011_name_the_pace_of_the_geocoder
        0012_revisions_of_rows 0013_relationship_types_of_people 0014_vocabularies 0015_bytes_of_photos
        0016_no_index_of_owner_alone 0017_interactions 0018_words_to_find_by 0019_fill_words_to_find_by
        0020_deathday_phonetic_names_and_more 0021_read_what_else_cards_held 0022_imports_from_elsewhere
        0023_related_names 0024_fill_related_names_and_addresses 0025_extra_lead_days
        0026_photos_stored_without_the_lock 0027_imports_undone_while_they_run 0028_find_trash_of_all_accounts
        0029_who_is_in_the_trash 0030_filters_of_operators 0031_counts_of_many_rows 0032_own_rules_by_day
        0033_stored_photo_is_being_deleted 0034_compose_texts_and_index_them_again
        0035_awaited_members_and_vcard_imports 0036_favourite_and_quiet_people 0037_read_stars_of_cards
        0038_rules_of_groups 0039_keys_of_whole_addresses 0040_orders_of_people 0041_know_next_dates_and_marks
        0042_without_groups 0043_mark_and_count_people_in_groups 0044_orders_of_people_without_groups
        0045_triggers_of_changed_rows
    """,
    "relationships": """
        0001_initial 0002_make_types_whole 0003_let_types_lose_their_inverse 0004_count_relationships
        0005_revisions_of_rows 0006_types_are_of_people 0007_no_index_of_owner_alone 0008_answered_suggestions
        0009_name_on_card 0010_compose_texts
    """,
}
REPLACED_MIGRATIONS = {app: frozenset((app, name) for name in names.split()) for app, names in _NAMES_BY_APP.items()}
"""By app. They are neither unknown nor newer, wherever they are recorded."""


class TooOldError(Exception):
    """The tables are of a version before b8b56eaa: only some of the replaced migrations have created them."""


def current_migrations(migrations: Iterable[MigrationKey]) -> frozenset[MigrationKey]:
    """These migrations, with `0001_tables` in place of all that it replaced. Raises TooOldError if some are missing."""
    found = frozenset(migrations)
    for app, replaced in REPLACED_MIGRATIONS.items():
        if steps := found & replaced:
            if steps != replaced:
                raise TooOldError
            found = (found - replaced) | {(app, "0001_tables")}
    return found


def check_tables(connection: BaseDatabaseWrapper) -> None:
    """Raises TooOldError if the tables of the database are not those of `0001_tables`, which must be recorded."""
    applied = frozenset(MigrationRecorder(connection).applied_migrations())
    try:
        is_current = current_migrations(applied) <= applied
    except TooOldError:
        is_current = False
    if not is_current:
        version = LAST_VERSION_WITH_THEM
        raise TooOldError(
            f"The database is of a version before {version}: run manage.py migrate of {version} first, then that of "
            "this version. Nothing was changed."
        )


class NewerDatabaseError(Exception):
    """The database has migrations that this version does not know. `str()` is one line for the operator."""


def newer_migrations(applied: Iterable[MigrationKey]) -> list[MigrationKey]:
    """Those of our apps that this version does not know, which a newer one must have applied.

    Other apps are not ours to judge: Django and its packages say themselves which versions of theirs go together.
    """
    return sorted(
        (app, name)
        for app, name in set(applied)
        if app in REPLACED_MIGRATIONS and (app, name) not in REPLACED_MIGRATIONS[app] and name not in _names_of(app)
    )


def _names_of(app: str) -> set[str]:
    # From the names of the files: importing them takes long, and a process asks at each start.
    return {module.name for module in iter_modules([str(Path(apps.get_app_config(app).path, "migrations"))])}


def check_not_newer(connection: BaseDatabaseWrapper) -> None:
    """Raises NewerDatabaseError if a newer version of the service has migrated the database."""
    if newer := newer_migrations(MigrationRecorder(connection).applied_migrations()):
        app, name = newer[0]
        more = f" and {len(newer) - 1} more" if newer[1:] else ""
        raise NewerDatabaseError(
            f"The database is of a newer version than this program, which does not know its migration {app}.{name}"
            f"{more}: run that version, or restore a backup of before into a new database. Nothing was changed."
        )


def exit_if_database_is_newer() -> None:
    """For the start of a process: end it with one line. A database that does not answer may do so later."""
    try:
        check_not_newer(connections["default"])
    except NewerDatabaseError as error:
        sys.exit(str(error))
    except DatabaseError:
        return
    finally:
        connections.close_all()


def is_empty_database(connection: BaseDatabaseWrapper) -> bool:
    """Whether the database has no table at all."""
    return not connection.introspection.table_names()


def create_tables(connection: BaseDatabaseWrapper, targets: Sequence[MigrationKey] = ()) -> None:
    """Create the tables as of the migrations `targets` (default: the newest), in one transaction.

    The receivers of post_migrate (triggers, statistics, the schedule) run only for the newest migrations.
    """
    executor = MigrationExecutor(connection)
    nodes = list(targets) or executor.loader.graph.leaf_nodes()
    plan = executor.migration_plan(nodes, clean_start=True)
    state = executor.loader.project_state(nodes)
    models: list[type[Model]] = [*state.apps.get_models(), executor.recorder.Migration]
    # The migrations are recorded in the same transaction: after a crash the database is still empty.
    with connection.schema_editor() as editor:
        for model in models:
            if model._meta.can_migrate(connection):
                editor.create_model(model)
        for migration, _ in plan:
            executor.record_migration(migration)
    # Triggers and statistics are defined for the newest tables only.
    if not targets:
        emit_post_migrate_signal(0, False, connection.alias, apps=state.apps, plan=plan)
