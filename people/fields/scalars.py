"""The fields of a person that hold one value each, and their columns."""

from collections.abc import Mapping

SCALARS: Mapping[str, str] = {
    "name": "name",
    "surname": "surname",
    "middleName": "middle_name",
    "secondLastName": "second_last_name",
    "nickname": "nickname",
    "prefix": "prefix",
    "suffix": "suffix",
    "displayNameOverride": "display_name_override",
    "organization": "organization",
    "jobTitle": "job_title",
    "gender": "gender",
    "anniversary": "anniversary",
    "lastContact": "last_contact",
    "notes": "notes",
    "contactReminderEnabled": "contact_reminder_enabled",
    "contactReminderInterval": "contact_reminder_interval",
    "contactReminderIntervalUnit": "contact_reminder_interval_unit",
    "cardDavSyncEnabled": "card_dav_sync_enabled",
}
