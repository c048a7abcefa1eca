"""The section of the account itself: its names, preferences and photo.

The e-mail address, password, plan and tokens belong to the instance and are not transferred.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rest_framework import serializers

from accounts.fields import QuietHoursSerializer, SavedListsField, TimeZoneField
from accounts.models import User
from accounts.services.profile import change_preferences
from accounts.transfer.run import SKIPPED, UPDATED, ImportRecord, TransferRun
from accounts.transfer.sections import Section
from accounts.vocabularies import (
    DateFormat,
    DateReminders,
    GraphMode,
    LeapDayRule,
    NameDisplayFormat,
    NameOrder,
    NameSort,
    Theme,
)
from contacts_project.kernel.api.fields import (
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
)
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.languages import CODES
from contacts_project.kernel.texts import define_text
from people.models import Person
from people.photos.files import delete_files
from people.services.me_person import mark_me
from people.transfer.pictures import PictureField, encode_photo, photo_messages, prepare_photo, save_photo

_NOTHING_DIFFERS = define_text("nothing_differs", "Nothing differs.")


_NOT_COLUMNS = frozenset({"photo", "photo_refused", "mePersonId"})


@dataclass
class MePerson:
    """The id in the document of the person that is the user; None if it names nobody."""

    source_id: UUID | None = None


class AccountRecordSerializer(serializers.Serializer[Any]):
    name = StrictCharField(max_length=100, required=False)
    surname = StrictCharField(max_length=100, required=False, allow_null=True)
    nickname = StrictCharField(max_length=100, required=False, allow_null=True)
    photo = PictureField()
    mePersonId = StrictCharField(max_length=36, required=False, allow_null=True)
    theme = StrictChoiceField(Theme.values, required=False)
    dateFormat = StrictChoiceField(DateFormat.values, required=False, source="date_format")
    nameOrder = StrictChoiceField(NameOrder.values, required=False, source="name_order")
    nameSort = StrictChoiceField(NameSort.values, required=False, source="name_sort")
    nameDisplayFormat = StrictChoiceField(NameDisplayFormat.values, required=False, source="name_display_format")
    graphMode = StrictChoiceField(GraphMode.values, required=False, source="graph_mode")
    savedLists = SavedListsField(required=False, source="saved_lists")
    language = StrictChoiceField(CODES, required=False)
    geocodingEnabled = StrictBooleanField(required=False, source="geocoding_enabled")
    timezone = TimeZoneField(required=False, source="time_zone")
    reminderHour = StrictIntegerField(min_value=0, max_value=23, required=False, source="reminder_hour")
    quietHours = QuietHoursSerializer(required=False, allow_null=True, source="quiet_hours")
    leapDayRule = StrictChoiceField(LeapDayRule.values, required=False, source="leap_day_rule")
    defaultReminderLeadDays = StrictIntegerField(
        min_value=0, max_value=365, required=False, source="default_reminder_lead_days"
    )
    dateReminderDefault = StrictChoiceField(DateReminders.values, required=False, source="date_reminder_default")
    emailRemindersEnabled = StrictBooleanField(required=False, source="email_reminders_enabled")
    weeklyDigestEnabled = StrictBooleanField(required=False, source="weekly_digest_enabled")
    weeklyDigestWeekday = StrictIntegerField(min_value=0, max_value=6, required=False, source="weekly_digest_weekday")


class AccountSection(Section):
    """One record."""

    name, order, models = "account", 10, (User,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        fields = AccountRecordSerializer().fields.items()
        record = {key: getattr(owner, str(field.source)) for key, field in fields if key not in _NOT_COLUMNS}
        # In the trash, too: the mark comes back with who has it.
        me = Person.objects.owned_by(owner).filter(is_me=True).first()
        yield {
            "id": str(owner.pk),
            **record,
            "mePersonId": str(me.pk) if me else None,
            "photo": encode_photo(owner.photo),
        }

    def serializer(self) -> AccountRecordSerializer:
        return AccountRecordSerializer()

    def prepare(self, run: TransferRun, records: list[ImportRecord]) -> None:
        for record in records:
            prepare_photo(run, record)

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        for record in records:
            # `run.owner` was read before the account was locked.
            before = User.objects.get(pk=run.owner.pk)
            values = {column: value for column, value in record.data.items() if column not in _NOT_COLUMNS}
            me = self._find_me(run, record)
            if photo := save_photo(run, record.data.get("photo")):
                values["photo"] = photo
            changed = bool(me) or any(getattr(before, column) != value for column, value in values.items())
            record.finish(UPDATED if changed else SKIPPED, before.pk, None if changed else _NOTHING_DIFFERS)
            record.omissions = photo_messages(record)
            if not run.dry:
                delete_files([before.photo] if photo else [])
                change_preferences(user=run.owner, values=values)
                if me:
                    mark_me(run.owner.pk, me)

    def _find_me(self, run: TransferRun, record: ImportRecord) -> UUID | None:
        """The person that is to be the user, if it is here already and is not yet; else the section of people marks it.

        A document that names nobody leaves who was named here.
        """
        source = run.single(MePerson).source_id = parse_id(record.data.get("mePersonId"))
        key = run.resolve_ids(Person, [source]).found.get(source) if source else None
        return key if key and Person.objects.owned_by(run.owner).filter(pk=key, is_me=False).exists() else None
