"""The steps by which the tables of people and what belongs to them came to be what 0001_tables makes of nothing.

For databases and backups of before the first release, which may have some of these steps only: the others run
(contacts_project.kernel.database.earlier_migrations).
"""

import contacts_project.kernel.ids
import datetime
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import people.models.dates
import uuid_utils.compat
from collections import defaultdict
from contacts_project.kernel.database.normal_forms import compose_row, compose_rows, iterate_rows, update_rows
from dataclasses import replace
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery, Value
from django.db.models.functions import Cast, Coalesce, Concat, Replace, Substr
from functools import partial
from people.duplicates.keys import address_keys, whole_address_key
from people.fields.more import more_of
from people.lookup import keys_of
from people.models.groups import group_key
from people.models.person import UidField
from people.names import keys_of_names
from people.related.rows import related_people_on
from people.vcard.content_lines import parse_line
from people.vcard.readers import Context, read_line
from people.words import reversed_word, words_of, words_of_value
from typing import Any


class Step0001(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='CustomFieldTemplate',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('name', models.CharField(max_length=60)),
                ('slug', models.CharField(max_length=80)),
                ('type', models.CharField(max_length=7)),
                ('options', models.JSONField(blank=True, default=list)),
                ('position', models.PositiveIntegerField(default=0)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='CustomFieldValue',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('value', models.JSONField()),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('template', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='values', to='people.customfieldtemplate')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Group',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('name', models.CharField(max_length=100)),
                ('name_key', models.CharField(editable=False, max_length=300)),
                ('description', models.CharField(blank=True, max_length=500, null=True)),
                ('color', models.CharField(max_length=7)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='ImportantDate',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('type', models.CharField(blank=True, max_length=11, null=True)),
                ('title', models.CharField(blank=True, max_length=100, null=True)),
                ('date', models.DateField()),
                ('year_unknown', models.BooleanField(default=False)),
                ('reminder_enabled', models.BooleanField(default=False)),
                ('reminder_type', models.CharField(blank=True, max_length=9, null=True)),
                ('reminder_interval', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('reminder_interval_unit', models.CharField(blank=True, max_length=6, null=True)),
                ('reminder_lead_days', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('next_due_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='LookupKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.PositiveSmallIntegerField()),
                ('key', models.CharField(max_length=320)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='people.group')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Person',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('name', models.CharField(max_length=100)),
                ('surname', models.CharField(blank=True, max_length=100, null=True)),
                ('middle_name', models.CharField(blank=True, max_length=100, null=True)),
                ('second_last_name', models.CharField(blank=True, max_length=100, null=True)),
                ('nickname', models.CharField(blank=True, max_length=100, null=True)),
                ('prefix', models.CharField(blank=True, max_length=50, null=True)),
                ('suffix', models.CharField(blank=True, max_length=50, null=True)),
                ('gender', models.CharField(blank=True, max_length=50, null=True)),
                ('organization', models.CharField(blank=True, max_length=200, null=True)),
                ('job_title', models.CharField(blank=True, max_length=200, null=True)),
                ('display_name_override', models.CharField(blank=True, max_length=200, null=True)),
                ('anniversary', models.DateField(blank=True, null=True)),
                ('last_contact', models.DateField(blank=True, null=True)),
                ('notes', models.TextField(blank=True, max_length=10000, null=True)),
                ('phone_numbers', models.JSONField(blank=True, default=list)),
                ('emails', models.JSONField(blank=True, default=list)),
                ('addresses', models.JSONField(blank=True, default=list)),
                ('urls', models.JSONField(blank=True, default=list)),
                ('im_handles', models.JSONField(blank=True, default=list)),
                ('locations', models.JSONField(blank=True, default=list)),
                ('custom_fields', models.JSONField(blank=True, default=list)),
                ('contact_reminder_enabled', models.BooleanField(default=False)),
                ('contact_reminder_interval', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('contact_reminder_interval_unit', models.CharField(blank=True, max_length=6, null=True)),
                ('contact_due_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('card_dav_sync_enabled', models.BooleanField(default=True)),
                ('photo', models.CharField(blank=True, max_length=200, null=True)),
                ('uid', models.CharField(blank=True, max_length=255, null=True)),
                ('vcard_extra', models.JSONField(blank=True, default=list)),
                ('sort_key', models.BinaryField(default=b'')),
                ('search_key', models.TextField(default='', editable=False)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0002(migrations.Migration):

    initial = True

    dependencies = [
        ('people', '0001_initial'),
        ('relationships', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='person',
            name='relationship_to_user',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='relationships.relationshiptype'),
        ),
        migrations.AddField(
            model_name='membership',
            name='person',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='people.person'),
        ),
        migrations.AddField(
            model_name='lookupkey',
            name='person',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lookup_keys', to='people.person'),
        ),
        migrations.AddField(
            model_name='importantdate',
            name='person',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='important_dates', to='people.person'),
        ),
        migrations.AddField(
            model_name='customfieldvalue',
            name='person',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='custom_field_values', to='people.person'),
        ),
        migrations.AddConstraint(
            model_name='customfieldtemplate',
            constraint=models.UniqueConstraint(fields=('owner', 'slug'), name='template_slug_unique'),
        ),
        migrations.AddIndex(
            model_name='group',
            index=models.Index(fields=['owner', 'deleted_at'], name='group_trash'),
        ),
        migrations.AddConstraint(
            model_name='group',
            constraint=models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('owner', 'name_key'), name='group_name_unique'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('deleted_at', None)), fields=['owner', 'sort_key', 'id'], name='person_name_order'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'deleted_at'], name='person_trash'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'uid'], name='person_uid'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('contact_due_at__isnull', False)), fields=['contact_due_at'], name='person_contact_due'),
        ),
        migrations.AddIndex(
            model_name='membership',
            index=models.Index(fields=['owner', 'person'], name='membership_owner'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('person', 'group'), name='membership_once'),
        ),
        migrations.AddIndex(
            model_name='lookupkey',
            index=models.Index(fields=['owner', 'kind', 'key', 'person'], name='lookup_key'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(fields=['owner', 'person'], name='important_date_owner'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(condition=models.Q(('next_due_at__isnull', False)), fields=['next_due_at'], name='important_date_due'),
        ),
        migrations.AddConstraint(
            model_name='importantdate',
            constraint=models.UniqueConstraint(condition=models.Q(('deleted_at', None), ('type__isnull', False)), fields=('person', 'type'), name='important_date_type_once'),
        ),
        migrations.AddIndex(
            model_name='customfieldvalue',
            index=models.Index(fields=['owner', 'person'], name='custom_value_owner'),
        ),
        migrations.AddConstraint(
            model_name='customfieldvalue',
            constraint=models.UniqueConstraint(fields=('person', 'template'), name='custom_value_once'),
        ),
    ]


class Step0003(migrations.Migration):

    dependencies = [
        ('people', '0002_links_of_people'),
    ]

    operations = [
        migrations.AddField(
            model_name='importantdate',
            name='next_kind',
            field=models.CharField(blank=True, default='', editable=False, max_length=4),
        ),
        migrations.AddField(
            model_name='importantdate',
            name='next_occurrence_on',
            field=models.DateField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='person',
            name='contact_due_on',
            field=models.DateField(blank=True, editable=False, null=True),
        ),
    ]


class Step0004(migrations.Migration):

    dependencies = [
        ('people', '0003_next_reminder_of_dates_and_contacts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='DuplicateDismissal',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            options={
                'indexes': [models.Index(fields=['owner'], name='duplicate_dismissal_owner')],
                'constraints': [models.UniqueConstraint(fields=('first', 'second'), name='duplicate_dismissal_once'), models.CheckConstraint(condition=models.Q(('first__lt', models.F('second'))), name='duplicate_dismissal_order')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='MergeRecord',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('image', models.JSONField(default=dict)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('primary', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.person')),
                ('secondary', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.person')),
            ],
            options={
                'indexes': [models.Index(fields=['owner', 'created_at'], name='merge_record_age')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0005(migrations.Migration):

    dependencies = [
        ('people', '0004_duplicates_and_merges'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='GeocoderTurn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('next_request_at', models.DateTimeField()),
                ('busy_until', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='GeocodedAddress',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('key', models.CharField(max_length=64)),
                ('text', models.TextField()),
                ('state', models.CharField(max_length=7)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_try_at', models.DateTimeField()),
                ('latitude', models.FloatField(blank=True, null=True)),
                ('longitude', models.FloatField(blank=True, null=True)),
                ('is_copied', models.BooleanField(default=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'pending')), fields=['next_try_at'], name='geocoded_address_due'), models.Index(condition=models.Q(('is_copied', False)), fields=['owner'], name='geocoded_address_copying')],
                'constraints': [models.UniqueConstraint(fields=('owner', 'key'), name='geocoded_address_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


def give_uids(apps: Any, schema_editor: Any) -> None:
    digits = Replace(Cast("id", models.CharField()), Value("-"), Value(""))  # SQLite keeps ids without hyphens
    parts = [Substr(digits, start, length) for start, length in ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))]
    hyphened = [part for piece in parts for part in (Value("-"), piece)][1:]
    uid = Concat(Value("urn:uuid:"), *hyphened, output_field=models.CharField())
    apps.get_model("people", "Person")._base_manager.filter(uid=None).update(uid=uid)


class Step0006(migrations.Migration):
    """Gives people without a vCard UID the one made of their id, as new ones get it, in one statement."""
    dependencies = [("people", "0005_geocoded_addresses")]

    operations = [migrations.RunPython(give_uids, migrations.RunPython.noop)]


class Step0007(migrations.Migration):
    dependencies = [("people", "0006_uid_of_every_person")]

    operations = [
        migrations.AlterField(
            model_name="person",
            name="uid",
            field=UidField(max_length=255),
        ),
    ]


def count(apps, schema_editor):
    from people.counts import COUNTED_OF_PEOPLE, DAYS, MEMBERS, PEOPLE, recount

    # There are no quiet people yet, and no column for them.
    kinds = tuple(replace(one, mentioned=False) for one in COUNTED_OF_PEOPLE if one.kind in {PEOPLE, MEMBERS, DAYS})
    with schema_editor.connection.cursor() as cursor:
        recount(cursor, kinds)


class Step0008(migrations.Migration):

    dependencies = [
        ('people', '0007_uid_is_never_null'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AccountCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('key', models.CharField(max_length=36)),
                ('number', models.IntegerField()),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('owner', 'kind', 'key'), name='account_count_once'),
                ],
            },
        ),
        migrations.AddField(
            model_name='importantdate',
            name='month_day',
            field=models.GeneratedField(db_persist=True, expression=people.models.dates.MonthDay('date'), output_field=models.SmallIntegerField()),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(condition=models.Q(('deleted_at', None)), fields=['owner', 'month_day'], name='important_date_of_year'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(condition=models.Q(('deleted_at', None), ('reminder_enabled', True), ('type', None)), fields=['owner'], name='important_date_own_rule'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(condition=models.Q(('deleted_at', None)), fields=['owner', 'date'], name='important_date_ahead'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('contact_due_on__isnull', False), ('deleted_at', None)), fields=['owner', 'contact_due_on'], name='person_contact_reminder'),
        ),
        migrations.RunPython(count, migrations.RunPython.noop),
    ]


def name_lines(apps: Any, schema_editor: Any) -> None:
    people = apps.get_model("people", "Person")._base_manager
    for person in people.exclude(card_lines=[]).only("card_lines").iterator(500):
        person.card_lines = [{"line": line} for line in person.card_lines]
        person.save(update_fields=["card_lines"])
    for record in apps.get_model("people", "MergeRecord")._base_manager.iterator(500):
        before, after = record.image.get("scalars", {}).pop("vcard_extra", [[], []])
        record.image["cardLines"] = [{"line": line} for line in after if line not in before]
        record.save(update_fields=["image"])


def keep_unheld_lines(apps: Any, schema_editor: Any) -> None:
    people = apps.get_model("people", "Person")._base_manager
    for person in people.exclude(card_lines=[]).only("card_lines").iterator(500):
        person.card_lines = [line["line"] for line in person.card_lines if not line.get("fields")]
        person.save(update_fields=["card_lines"])


class Step0009(migrations.Migration):
    """Person.vcard_extra, lines that no field held, becomes card_lines: all lines of a card, each with what it holds."""
    dependencies = [("people", "0008_counts_of_accounts")]

    operations = [
        migrations.RenameField("person", "vcard_extra", "card_lines"),
        migrations.RunPython(name_lines, keep_unheld_lines),
    ]


class Step0010(migrations.Migration):

    dependencies = [
        ('people', '0009_lines_of_cards'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='geocoderturn',
            name='busy_until',
        ),
        migrations.AddField(
            model_name='geocodedaddress',
            name='claim',
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='geocodedaddress',
            name='held_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='geocodedaddress',
            name='holder',
            field=models.CharField(blank=True, max_length=150),
        ),
        migrations.AddField(
            model_name='geocoderturn',
            name='claim',
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='geocoderturn',
            name='held_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='geocoderturn',
            name='holder',
            field=models.CharField(blank=True, max_length=150),
        ),
    ]


class Step0011(migrations.Migration):

    dependencies = [
        ('people', '0010_lease_addresses_and_the_geocoder'),
    ]

    operations = [
        migrations.RenameModel(old_name='GeocoderTurn', new_name='GeocoderPace'),
    ]


_FILL = "UPDATE {table} SET revision = (SELECT revision FROM accounts_user u WHERE u.id = {table}.owner_id)"
_TABLES = ("people_person", "people_group", "people_importantdate", "people_customfieldtemplate", "people_duplicatedismissal", )


class Step0012(migrations.Migration):
    """Rows carry the revision of the write that changed them last; those that are there, their account's."""

    dependencies = [
        ('people', '0011_name_the_pace_of_the_geocoder'),
        ('relationships', '0004_count_relationships'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='customfieldtemplate',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='duplicatedismissal',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='group',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='importantdate',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddIndex(
            model_name='customfieldtemplate',
            index=models.Index(fields=['owner', 'revision', 'id'], name='template_feed'),
        ),
        migrations.AddIndex(
            model_name='duplicatedismissal',
            index=models.Index(fields=['owner', 'revision', 'id'], name='dismissal_feed'),
        ),
        migrations.AddIndex(
            model_name='group',
            index=models.Index(fields=['owner', 'revision', 'id'], name='group_feed'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(fields=['owner', 'revision', 'id'], name='important_date_feed'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'revision', 'id'], name='person_feed'),
        ),
        *(migrations.RunSQL(_FILL.format(table=table), migrations.RunSQL.noop) for table in _TABLES),
    ]


def to_people(apps: Any, schema_editor: Any) -> None:
    _move(apps, "relationships", "people")


def to_relationships(apps: Any, schema_editor: Any) -> None:
    _move(apps, "people", "relationships")


def _move(apps: Any, before: str, after: str) -> None:
    """What refers to the model by its content type, such as the log of the admin, goes on doing so."""
    types = apps.get_model("contenttypes", "ContentType").objects.filter(model="relationshiptype")
    if types.filter(app_label=before).exists():
        types.filter(app_label=after).delete()
        types.filter(app_label=before).update(app_label=after)


class Step0013(migrations.Migration):
    """Relationship types move here from the app above. State only: the table, its indexes and triggers stay as they are."""

    dependencies = [
        ('contenttypes', '0002_remove_content_type_name'),
        ('people', '0012_revisions_of_rows'),
        ('relationships', '0005_revisions_of_rows'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='RelationshipType',
                    fields=[
                        ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                        ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                        ('updated_at', models.DateTimeField(auto_now=True)),
                        ('revision', models.BigIntegerField(default=0, editable=False)),
                        ('deleted_at', models.DateTimeField(blank=True, null=True)),
                        ('name', models.CharField(max_length=50)),
                        ('label', models.CharField(max_length=50)),
                        ('color', models.CharField(max_length=7)),
                        ('inverse', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.relationshiptype')),
                        ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'db_table': 'relationships_relationshiptype',
                    },
                    managers=[
                        ('unscoped', django.db.models.manager.Manager()),
                    ],
                ),
                migrations.AlterField(
                    model_name='person',
                    name='relationship_to_user',
                    field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.relationshiptype'),
                ),
                migrations.AddIndex(
                    model_name='relationshiptype',
                    index=models.Index(fields=['owner', 'revision', 'id'], name='relationship_type_feed'),
                ),
                migrations.AddIndex(
                    model_name='relationshiptype',
                    index=models.Index(fields=['owner', 'deleted_at'], name='relationship_type_trash'),
                ),
                migrations.AddConstraint(
                    model_name='relationshiptype',
                    constraint=models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('owner', 'name'), name='relationship_type_name_unique'),
                ),
            ],
        ),
        migrations.RunPython(to_people, to_relationships),
    ]


class Step0014(migrations.Migration):
    """Columns that hold a word of a vocabulary take no other."""

    dependencies = [
        ('people', '0013_relationship_types_of_people'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='customfieldtemplate',
            name='type',
            field=models.CharField(choices=[('TEXT', 'Text'), ('NUMBER', 'Number'), ('BOOLEAN', 'Boolean'), ('SELECT', 'Select')], max_length=7),
        ),
        migrations.AlterField(
            model_name='geocodedaddress',
            name='state',
            field=models.CharField(choices=[('pending', 'Pending'), ('skipped', 'Skipped'), ('done', 'Done'), ('failed', 'Failed')], max_length=7),
        ),
        migrations.AlterField(
            model_name='importantdate',
            name='next_kind',
            field=models.CharField(blank=True, choices=[('lead', 'Lead'), ('day', 'Day')], default='', editable=False, max_length=4),
        ),
        migrations.AlterField(
            model_name='importantdate',
            name='reminder_interval_unit',
            field=models.CharField(blank=True, choices=[('DAYS', 'Days'), ('WEEKS', 'Weeks'), ('MONTHS', 'Months'), ('YEARS', 'Years')], max_length=6, null=True),
        ),
        migrations.AlterField(
            model_name='importantdate',
            name='reminder_type',
            field=models.CharField(blank=True, choices=[('ONCE', 'Once'), ('RECURRING', 'Recurring')], max_length=9, null=True),
        ),
        migrations.AlterField(
            model_name='importantdate',
            name='type',
            field=models.CharField(blank=True, choices=[('BIRTHDAY', 'Birthday'), ('ANNIVERSARY', 'Anniversary'), ('NAMEDAY', 'Nameday'), ('MEMORIAL', 'Memorial')], max_length=11, null=True),
        ),
        migrations.AlterField(
            model_name='person',
            name='contact_reminder_interval_unit',
            field=models.CharField(blank=True, choices=[('DAYS', 'Days'), ('WEEKS', 'Weeks'), ('MONTHS', 'Months'), ('YEARS', 'Years')], max_length=6, null=True),
        ),
        migrations.AddConstraint(
            model_name='customfieldtemplate',
            constraint=models.CheckConstraint(condition=models.Q(('type__in', ['TEXT', 'NUMBER', 'BOOLEAN', 'SELECT'])), name='template_type_known'),
        ),
        migrations.AddConstraint(
            model_name='geocodedaddress',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'skipped', 'done', 'failed'])), name='geocoded_address_state_known'),
        ),
        migrations.AddConstraint(
            model_name='importantdate',
            constraint=models.CheckConstraint(condition=models.Q(('type__in', ['BIRTHDAY', 'ANNIVERSARY', 'NAMEDAY', 'MEMORIAL'])), name='important_date_type_known'),
        ),
        migrations.AddConstraint(
            model_name='importantdate',
            constraint=models.CheckConstraint(condition=models.Q(('reminder_type__in', ['ONCE', 'RECURRING'])), name='important_date_reminder_type_known'),
        ),
        migrations.AddConstraint(
            model_name='importantdate',
            constraint=models.CheckConstraint(condition=models.Q(('reminder_interval_unit__in', ['DAYS', 'WEEKS', 'MONTHS', 'YEARS'])), name='important_date_reminder_interval_unit_known'),
        ),
        migrations.AddConstraint(
            model_name='importantdate',
            constraint=models.CheckConstraint(condition=models.Q(('next_kind__in', ['lead', 'day', ''])), name='important_date_next_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='person',
            constraint=models.CheckConstraint(condition=models.Q(('contact_reminder_interval_unit__in', ['DAYS', 'WEEKS', 'MONTHS', 'YEARS'])), name='person_contact_reminder_interval_unit_known'),
        ),
    ]


class Step0015(migrations.Migration):

    dependencies = [
        ('people', '0014_vocabularies'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='StoredPhoto',
            fields=[
                ('name', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('size', models.PositiveIntegerField()),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AlterField(
            model_name='accountcount',
            name='number',
            field=models.BigIntegerField(),
        ),
        migrations.AddIndex(
            model_name='accountcount',
            index=models.Index(condition=models.Q(('key', '')), fields=['kind', 'number'], name='account_count_whole'),
        ),
    ]


class Step0016(migrations.Migration):
    """Rows of an account are found by an index that goes on after the owner, never by one that ends there."""

    dependencies = [
        ('people', '0015_bytes_of_photos'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='importantdate',
            name='important_date_of_year',
        ),
        migrations.RemoveIndex(
            model_name='importantdate',
            name='important_date_ahead',
        ),
        migrations.RemoveIndex(
            model_name='person',
            name='person_name_order',
        ),
        migrations.RemoveIndex(
            model_name='person',
            name='person_trash',
        ),
        migrations.AlterField(
            model_name='customfieldvalue',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='importantdate',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='lookupkey',
            name='owner',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='membership',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='person',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(fields=['owner', 'month_day'], name='important_date_of_year'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(fields=['owner', 'date'], name='important_date_ahead'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'sort_key', 'id', 'deleted_at'], name='person_name_order'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='person_trash'),
        ),
    ]


class Step0017(migrations.Migration):
    """What passed between the user and people; lastContact follows it, and keeps apart what was typed."""

    dependencies = [
        ('people', '0016_no_index_of_owner_alone'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='person',
            name='contact_before',
            field=models.DateField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='person',
            name='interacted_on',
            field=models.DateField(blank=True, editable=False, null=True),
        ),
        migrations.CreateModel(
            name='Interaction',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('kind', models.CharField(choices=[('CALL', 'Call'), ('MESSAGE', 'Message'), ('EMAIL', 'Email'), ('MEETING', 'Meeting'), ('GIFT', 'Gift'), ('NOTE', 'Note'), ('OTHER', 'Other')], max_length=7)),
                ('at', models.DateTimeField()),
                ('title', models.CharField(blank=True, max_length=200, null=True)),
                ('notes', models.TextField(blank=True, max_length=10000, null=True)),
                ('counts_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'revision', 'id'], name='interaction_feed'),
                    models.Index(fields=['owner', 'at', 'id'], name='interaction_list'),
                    models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='interaction_trash'),
                    models.Index(condition=models.Q(('counts_at__isnull', False)), fields=['counts_at'], name='interaction_ahead'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('kind__in', ['CALL', 'MESSAGE', 'EMAIL', 'MEETING', 'GIFT', 'NOTE', 'OTHER'])), name='interaction_kind_known'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Participation',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('position', models.PositiveSmallIntegerField()),
                ('at', models.DateTimeField()),
                ('interaction', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='participations', to='people.interaction')),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='participations', to='people.person')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'person', 'at', 'interaction'], name='participation_of_person'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('interaction', 'person'), name='participation_once'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.RunSQL(
            "UPDATE people_person SET contact_before = last_contact WHERE last_contact IS NOT NULL",
            migrations.RunSQL.noop,
        ),
    ]


class Step0018(migrations.Migration):
    """Words of what is known of people, and an index that finds beginnings under any collation."""

    dependencies = [
        ('people', '0017_interactions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='InteractionWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=40)),
                ('interaction', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='words', to='people.interaction')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'key', 'interaction'], name='interaction_word', opclasses=['uuid_ops', 'varchar_pattern_ops', 'uuid_ops']),
                ],
            },
        ),
        migrations.CreateModel(
            name='ValueWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=40)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('value', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='words', to='people.customfieldvalue')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'key', 'value'], name='value_word', opclasses=['uuid_ops', 'varchar_pattern_ops', 'uuid_ops']),
                ],
            },
        ),
        migrations.RemoveIndex(
            model_name='lookupkey',
            name='lookup_key',
        ),
        migrations.AddIndex(
            model_name='lookupkey',
            index=models.Index(fields=['owner', 'kind', 'key', 'person'], name='lookup_key', opclasses=['uuid_ops', 'int2_ops', 'varchar_pattern_ops', 'uuid_ops']),
        ),
    ]


_FIRST_KIND = 5
_AT_ONCE_0019 = 500
# As the table has them here: keys are made of other columns some day.
_COLUMNS = (
    *("name", "surname", "middle_name", "second_last_name", "nickname", "prefix", "suffix", "display_name_override"),
    *("emails", "phone_numbers", "organization", "job_title", "notes", "custom_fields"),
)


def fill_0019(apps, schema_editor):
    person, lookup_key = apps.get_model("people", "Person"), apps.get_model("people", "LookupKey")
    for rows in _chunks(person, "owner_id", *_COLUMNS):
        lookup_key.objects.bulk_create(
            [
                lookup_key(owner_id=row.owner_id, person_id=row.pk, kind=kind, key=key)
                for row in rows
                for kind, key in sorted(keys_of({column: getattr(row, column) for column in _COLUMNS}))
                if kind >= _FIRST_KIND
            ]
        )
    value_word = apps.get_model("people", "ValueWord")
    for rows in _chunks(apps.get_model("people", "CustomFieldValue"), "owner_id", "value"):
        value_word.objects.bulk_create(
            [
                value_word(owner_id=row.owner_id, value_id=row.pk, key=word)
                for row in rows
                for word in sorted(set(words_of_value(row.value)))
            ]
        )
    interaction_word = apps.get_model("people", "InteractionWord")
    for rows in _chunks(apps.get_model("people", "Interaction"), "owner_id", "title", "notes"):
        interaction_word.objects.bulk_create(
            [
                interaction_word(owner_id=row.owner_id, interaction_id=row.pk, key=word)
                for row in rows
                for word in sorted(set(words_of(row.title, row.notes)))
            ]
        )


def empty_0019(apps, schema_editor):
    apps.get_model("people", "LookupKey").objects.filter(kind__gte=_FIRST_KIND).delete()


def _chunks(model, *columns):
    """All rows, in the order of their ids."""
    last = None
    while True:
        rows = model._base_manager.order_by("pk").only(*columns)
        rows = list((rows.filter(pk__gt=last) if last else rows)[:_AT_ONCE_0019])
        if not rows:
            return
        yield rows
        last = rows[-1].pk


class Step0019(migrations.Migration):
    """The words of everybody who is there already. Killed half way, nothing is committed, and it runs again."""

    dependencies = [
        ('people', '0018_words_to_find_by'),
    ]

    operations = [
        migrations.RunPython(fill_0019, empty_0019),
    ]


class Step0020(migrations.Migration):
    """The day of death, how a name is spoken, and what else a card held."""

    dependencies = [
        ('people', '0019_fill_words_to_find_by'),
    ]

    operations = [
        migrations.AddField(
            model_name='person',
            name='deathday',
            field=models.DateField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='person',
            name='more',
            field=models.JSONField(blank=True, default=list, editable=False),
        ),
        migrations.AddField(
            model_name='person',
            name='phonetic_name',
            field=models.CharField(blank=True, max_length=100, null=True),
        ),
        migrations.AddField(
            model_name='person',
            name='phonetic_surname',
            field=models.CharField(blank=True, max_length=100, null=True),
        ),
    ]


_FIELDS = ("deathday", "phonetic_name", "phonetic_surname")
_NAMES_0021 = ("name", "surname", "middle_name", "second_last_name", "nickname", "prefix", "suffix", "display_name_override")
_LIMIT = 100
_NAME_WORD, _NAME_TAIL, _SHORTEST_TAIL = 5, 6, 3
_AT_ONCE_0021 = 500


def fill_0021(apps, schema_editor):
    person, lookup_key = apps.get_model("people", "Person"), apps.get_model("people", "LookupKey")
    rows = person._base_manager.exclude(card_lines=[]).order_by("pk")
    rows = rows.only("owner_id", "card_lines", "more", "sort_key", "search_key", *_FIELDS, *_NAMES_0021)
    last = None
    while chunk := list((rows.filter(pk__gt=last) if last else rows)[:_AT_ONCE_0021]):
        changed = [row for row in chunk if _read_0021(row)]
        columns = ["card_lines", "more", "sort_key", "search_key", *_FIELDS]
        person._base_manager.bulk_update(changed, columns, batch_size=50)
        lookup_key.objects.bulk_create(
            [
                lookup_key(owner_id=row.owner_id, person_id=row.pk, kind=kind, key=key)
                for row in changed
                for kind, key in _new_words(row)
            ]
        )
        last = chunk[-1].pk


def _read_0021(row):
    """Whether the lines of the row's card say anything new."""
    for kept in row.card_lines:
        said = [] if kept.get("fields") else read_line(parse_line(kept["line"]), Context())
        for field, value in said:
            if field in _FIELDS and getattr(row, field) is None:
                setattr(row, field, value[:_LIMIT].rstrip() if isinstance(value, str) else value)
                kept["fields"] = [field]
    row.more = more_of(row.card_lines)
    row.sort_key, row.search_key = keys_of_names(row)
    return bool(row.more) or any(getattr(row, field) for field in _FIELDS)


def _new_words(row):
    known = set(words_of(*(getattr(row, column) for column in _NAMES_0021)))
    for word in sorted(set(words_of(row.phonetic_name, row.phonetic_surname)) - known):
        yield _NAME_WORD, word
        if len(word) >= _SHORTEST_TAIL:
            yield _NAME_TAIL, reversed_word(word)


class Step0021(migrations.Migration):
    """Lines of cards that no field held until now are read into the new fields. Killed half way, it runs again."""

    dependencies = [
        ('people', '0020_deathday_phonetic_names_and_more'),
    ]

    operations = [
        migrations.RunPython(fill_0021, migrations.RunPython.noop),
    ]


class Step0022(migrations.Migration):

    dependencies = [
        ('people', '0021_read_what_else_cards_held'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ContactImport',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('source', models.CharField(choices=[('csv', 'Csv'), ('google', 'Google'), ('outlook', 'Outlook'), ('linkedin', 'Linkedin'), ('monica', 'Monica'), ('nametag', 'Nametag')], max_length=8)),
                ('file_name', models.CharField(max_length=255)),
                ('imported', models.PositiveIntegerField(default=0)),
                ('updated', models.PositiveIntegerField(default=0)),
                ('skipped', models.PositiveIntegerField(default=0)),
                ('errors', models.PositiveIntegerField(default=0)),
                ('last_revision', models.BigIntegerField(default=0)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'created_at', 'id'], name='contact_import_list'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('source__in', ['csv', 'google', 'outlook', 'linkedin', 'monica', 'nametag'])), name='contact_import_source_known'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='ImportedRecord',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('kind', models.CharField(choices=[('person', 'Person'), ('group', 'Group'), ('interaction', 'Interaction'), ('relationship', 'Relationship')], max_length=12)),
                ('record_id', models.UUIDField()),
                ('is_new', models.BooleanField(default=True)),
                ('fingerprint', models.CharField(blank=True, default='', max_length=64)),
                ('before', models.JSONField(blank=True, default=dict)),
                ('contact_import', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='records', to='people.contactimport')),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'created_at'], name='imported_record_age'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('kind__in', ['person', 'group', 'interaction', 'relationship'])), name='imported_record_kind_known'),
                    models.UniqueConstraint(fields=('contact_import', 'kind', 'record_id'), name='imported_record_once'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0023(migrations.Migration):
    """Whom the cards of people name as related."""

    dependencies = [
        ('people', '0022_imports_from_elsewhere'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='RelatedName',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('type_name', models.CharField(max_length=20)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='related_names', to='people.person')),
            ],
            options={
                'indexes': [models.Index(fields=['owner', 'id'], name='related_name_order')],
            },
        ),
    ]


_ADDRESS = 12
_AT_ONCE_0024 = 500


def fill_0024(apps, schema_editor):
    person, lookup_key = apps.get_model("people", "Person"), apps.get_model("people", "LookupKey")
    related_name = apps.get_model("people", "RelatedName")
    rows = person._base_manager.order_by("pk").only("owner_id", "addresses", "card_lines")
    last = None
    while chunk := list((rows.filter(pk__gt=last) if last else rows)[:_AT_ONCE_0024]):
        lookup_key.objects.bulk_create(
            [
                lookup_key(owner_id=row.owner_id, person_id=row.pk, kind=_ADDRESS, key=key)
                for row in chunk
                for key in sorted({key for entry in row.addresses for key in address_keys(entry)})
            ]
        )
        related_name.objects.bulk_create(
            [
                related_name(owner_id=row.owner_id, person_id=row.pk, name=name, type_name=kind)
                for row in chunk
                for name, kind in related_people_on(row.card_lines)
            ]
        )
        last = chunk[-1].pk


def empty_0024(apps, schema_editor):
    apps.get_model("people", "LookupKey").objects.filter(kind=_ADDRESS).delete()
    apps.get_model("people", "RelatedName").objects.all().delete()


class Step0024(migrations.Migration):
    """Whom cards name, and where people live, of everybody who is there already. Killed half way, it runs again."""

    dependencies = [
        ('people', '0023_related_names'),
    ]

    operations = [
        migrations.RunPython(fill_0024, empty_0024),
    ]


def fill_0025(apps, schema_editor):
    """Which notice a row waits for: until now a date had one."""
    owner = apps.get_model("accounts", "User").objects.filter(pk=OuterRef("owner_id"))
    lead_days = Coalesce("reminder_lead_days", Subquery(owner.values("default_reminder_lead_days")))
    dates = apps.get_model("people", "ImportantDate")
    dates._base_manager.filter(next_kind="lead").update(next_lead_days=lead_days)


class Step0025(migrations.Migration):

    dependencies = [
        ('people', '0024_fill_related_names_and_addresses'),
    ]

    operations = [
        migrations.AddField(
            model_name='importantdate',
            name='extra_lead_days',
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name='importantdate',
            name='next_lead_days',
            field=models.PositiveSmallIntegerField(default=0, editable=False),
        ),
        migrations.RunPython(fill_0025, migrations.RunPython.noop),
    ]


class Step0026(migrations.Migration):

    dependencies = [
        ('people', '0025_extra_lead_days'),
    ]

    operations = [
        migrations.AddField(
            model_name='storedphoto',
            name='busy_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='storedphoto',
            name='is_going',
            field=models.BooleanField(default=False),
        ),
    ]


def end_imports(apps, schema_editor):
    """Those of before have ended, as far as anybody knows."""
    apps.get_model("people", "ContactImport")._base_manager.update(ended_at=F("updated_at"))


class Step0027(migrations.Migration):
    """Which writes were an import's own, whether it has ended, and the lease of its undo."""
    dependencies = [("people", "0026_photos_stored_without_the_lock")]

    operations = [
        migrations.AddField("contactimport", "own_revisions", models.JSONField(db_default=[], default=list)),
        migrations.AddField("contactimport", "ended_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("contactimport", "undo_until", models.DateTimeField(blank=True, null=True)),
        migrations.AlterField("contactimport", "last_revision", models.BigIntegerField(db_default=0, default=0)),
        migrations.RunPython(end_imports, migrations.RunPython.noop),
    ]


class Step0028(migrations.Migration):

    dependencies = [
        ('people', '0027_imports_undone_while_they_run'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='group',
            name='group_trash',
        ),
        migrations.RemoveIndex(
            model_name='relationshiptype',
            name='relationship_type_trash',
        ),
        migrations.AddIndex(
            model_name='customfieldtemplate',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='template_trash'),
        ),
        migrations.AddIndex(
            model_name='group',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='group_trash'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='important_date_trash'),
        ),
        migrations.AddIndex(
            model_name='relationshiptype',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='relationship_type_trash'),
        ),
    ]


class Step0029(migrations.Migration):

    dependencies = [
        ('people', '0028_find_trash_of_all_accounts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['id'], name='person_in_trash'),
        ),
    ]


class Step0030(migrations.Migration):

    dependencies = [
        ('people', '0029_who_is_in_the_trash'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='geocodedaddress',
            index=models.Index(condition=models.Q(('state', 'done'), _negated=True), fields=['state', 'id'], name='geocoded_address_open'),
        ),
    ]


class Step0031(migrations.Migration):
    """Changes no table. A migration has the triggers made anew: on PostgreSQL those of counts run once a statement."""
    dependencies = [("people", "0030_filters_of_operators")]
    operations = []


class Step0032(migrations.Migration):

    dependencies = [
        ('people', '0031_counts_of_many_rows'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='importantdate',
            name='important_date_own_rule',
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(condition=models.Q(('deleted_at', None), ('reminder_enabled', True), ('type', None)), fields=['owner', 'month_day'], name='important_date_own_rule'),
        ),
    ]


class Step0033(migrations.Migration):

    dependencies = [
        ('people', '0032_own_rules_by_day'),
    ]

    operations = [
        migrations.RenameField(model_name='storedphoto', old_name='is_going', new_name='is_being_deleted'),
    ]


_NAMES_0034 = (
    *("name", "surname", "middle_name", "second_last_name", "nickname", "prefix", "suffix", "display_name_override"),
    *("phonetic_name", "phonetic_surname"),
)
_LISTS = ("phone_numbers", "emails", "addresses", "urls", "im_handles", "locations", "custom_fields")
_TEXTS = (*_NAMES_0034, "gender", "organization", "job_title", "notes", *_LISTS, "more")
_KEYED = (*_NAMES_0034, "organization", "job_title", "notes", "emails", "phone_numbers", "addresses", "custom_fields")
_KEYS = ("sort_key", "search_key")
_KEYS_AT_ONCE_0034 = 2_000
_GROUP_NAME, _TYPE_NAME = 100, 50


def compose_and_index(apps, schema_editor):
    compose_people(apps)
    for name, column, texts, words in (
        ("CustomFieldValue", "value", ("value",), lambda row: words_of_value(row.value)),
        ("Interaction", "interaction", ("title", "notes"), lambda row: words_of(row.title, row.notes)),
    ):
        index_words(apps, name, column, texts, words)
    compose_rows(apps.get_model("people", "ImportantDate"), "title")
    compose_rows(apps.get_model("people", "MergeRecord"), "image")
    compose_related_names(apps.get_model("people", "RelatedName"))
    compose_templates(apps.get_model("people", "CustomFieldTemplate"))
    compose_groups(apps.get_model("people", "Group"))
    compose_types(apps.get_model("people", "RelationshipType"))


def compose_people(apps):
    person, lookup_key = apps.get_model("people", "Person"), apps.get_model("people", "LookupKey")
    for rows in iterate_rows(person._base_manager, "owner_id", *_TEXTS, *_KEYS):
        changed = [row for row in rows if compose_row(row, *_TEXTS)]
        if changed:
            update_rows(person, changed, *_TEXTS)
        renamed = []
        for row in rows:
            keys = keys_of_names(row)
            if (bytes(row.sort_key), row.search_key) != keys:
                row.sort_key, row.search_key = keys
                renamed.append(row)
        if renamed:
            update_rows(person, renamed, *_KEYS)
        replace_keys(lookup_key, rows)


def replace_keys(lookup_key, rows):
    stored = defaultdict(dict)
    found = lookup_key.objects.filter(person__in=[row.pk for row in rows])
    for pk, person_id, kind, key in found.values_list("pk", "person_id", "kind", "key"):
        stored[person_id][kind, key] = pk
    stale, missing = [], []
    for row in rows:
        before, now = stored[row.pk], keys_of({column: getattr(row, column) for column in _KEYED})
        stale += [pk for key, pk in before.items() if key not in now]
        missing += [
            lookup_key(owner_id=row.owner_id, person_id=row.pk, kind=kind, key=key)
            for kind, key in sorted(now - before.keys())
        ]
    for start in range(0, len(stale), _KEYS_AT_ONCE_0034):
        lookup_key.objects.filter(pk__in=stale[start : start + _KEYS_AT_ONCE_0034]).delete()
    lookup_key.objects.bulk_create(missing, batch_size=_KEYS_AT_ONCE_0034)


def index_words(apps, name, column, texts, words_of_row):
    model = apps.get_model("people", name)
    word_model = apps.get_model("people", "ValueWord" if column == "value" else "InteractionWord")
    for rows in iterate_rows(model._base_manager, "owner_id", *texts):
        changed = [row for row in rows if compose_row(row, *texts)]
        if changed:
            update_rows(model, changed, *texts)  # a trigger deletes their words
        stored = defaultdict(dict)
        found = word_model.objects.filter(**{f"{column}__in": [row.pk for row in rows]})
        for pk, row_id, word in found.values_list("pk", f"{column}_id", "key"):
            stored[row_id][word] = pk
        now = {row.pk: set(words_of_row(row)) for row in rows}
        stale = [pk for row in rows for word, pk in stored[row.pk].items() if word not in now[row.pk]]
        for start in range(0, len(stale), _KEYS_AT_ONCE_0034):
            word_model.objects.filter(pk__in=stale[start : start + _KEYS_AT_ONCE_0034]).delete()
        word_model.objects.bulk_create(
            [
                word_model(owner_id=row.owner_id, key=word, **{f"{column}_id": row.pk})
                for row in rows
                for word in sorted(now[row.pk] - stored[row.pk].keys())
            ],
            batch_size=_KEYS_AT_ONCE_0034,
        )


def compose_related_names(related_name):
    """Two names of one card that become one are one row."""
    for rows in iterate_rows(related_name.objects, "person_id", "name", "type_name"):
        for row in rows:
            if not compose_row(row, "name"):
                continue
            same = related_name.objects.filter(person_id=row.person_id, name=row.name, type_name=row.type_name)
            if same.exclude(pk=row.pk).exists():
                row.delete()
            else:
                row.save(update_fields=["name"])


def compose_templates(template):
    for rows in iterate_rows(template._base_manager, "name", "options"):
        changed = [row for row in rows if compose_row(row, "name", "options")]
        for row in changed:
            row.options = list(dict.fromkeys(row.options))
        if changed:
            update_rows(template, changed, "name", "options")


def compose_groups(group):
    for rows in iterate_rows(group._base_manager, "owner_id", "name", "name_key", "description", "deleted_at"):
        for row in rows:
            changed = compose_row(row, "name", "description")
            if not changed and group_key(row.name) == row.name_key:
                continue
            row.name_key = group_key(row.name)
            if row.deleted_at is None:
                others = group._base_manager.filter(owner_id=row.owner_id, deleted_at=None).exclude(pk=row.pk)
                is_taken = partial(lambda rows, name: rows.filter(name_key=group_key(name)).exists(), others)
                row.name = numbered(row.name, " ", _GROUP_NAME, is_taken)
                row.name_key = group_key(row.name)
            row.save(update_fields=["name", "name_key", "description"])


def compose_types(relationship_type):
    for rows in iterate_rows(relationship_type._base_manager, "owner_id", "name", "label", "deleted_at"):
        for row in rows:
            if not compose_row(row, "name", "label"):
                continue
            if row.deleted_at is None:
                others = relationship_type._base_manager.filter(owner_id=row.owner_id, deleted_at=None)
                is_taken = partial(lambda rows, name: rows.filter(name=name).exists(), others.exclude(pk=row.pk))
                row.name = numbered(row.name, "_", _TYPE_NAME, is_taken)
            row.save(update_fields=["name", "label"])


def numbered(name, separator, limit, is_taken):
    """`name`, with a number behind it if it is taken."""
    free, number = name, 2
    while is_taken(free):
        suffix = f"{separator}{number}"
        free, number = name[: limit - len(suffix)] + suffix, number + 1
    return free


class Step0034(migrations.Migration):
    """Texts in NFC, and the keys to search and compare them by, of everybody who is there already.

    Numbers have other keys than before (extensions, trunk prefixes, short ones), and so have words and names with variants
    of letters. Of two groups or types of an account whose names become one, the younger gets a number; nothing is deleted.
    Revisions stay: for clients, composed and decomposed letters are the same text. An import of a person in decomposed
    letters can no longer take that person out again: it counts as edited. Killed half way, nothing is committed, and it
    runs again.
    """

    dependencies = [
        ('people', '0033_stored_photo_is_being_deleted'),
    ]

    operations = [
        migrations.RunPython(compose_and_index, migrations.RunPython.noop),
    ]


class Step0035(migrations.Migration):

    dependencies = [
        ('people', '0034_compose_texts_and_index_them_again'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AwaitedMember',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('uid_key', models.CharField(max_length=255)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='contactimport',
            name='contact_import_source_known',
        ),
        migrations.AlterField(
            model_name='contactimport',
            name='source',
            field=models.CharField(choices=[('csv', 'Csv'), ('google', 'Google'), ('outlook', 'Outlook'), ('linkedin', 'Linkedin'), ('monica', 'Monica'), ('nametag', 'Nametag'), ('vcard', 'Vcard')], max_length=8),
        ),
        migrations.AddConstraint(
            model_name='contactimport',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ['csv', 'google', 'outlook', 'linkedin', 'monica', 'nametag', 'vcard'])), name='contact_import_source_known'),
        ),
        migrations.AddField(
            model_name='awaitedmember',
            name='contact_import',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='awaited_members', to='people.contactimport'),
        ),
        migrations.AddField(
            model_name='awaitedmember',
            name='group',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='awaited_members', to='people.group'),
        ),
        migrations.AddField(
            model_name='awaitedmember',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='awaitedmember',
            index=models.Index(fields=['owner', 'uid_key'], name='awaited_member_uid'),
        ),
        migrations.AddConstraint(
            model_name='awaitedmember',
            constraint=models.UniqueConstraint(fields=('group', 'uid_key'), name='awaited_member_once'),
        ),
    ]


class Step0036(migrations.Migration):

    dependencies = [
        ('people', '0035_awaited_members_and_vcard_imports'),
    ]

    operations = [
        migrations.AddField(
            model_name='person',
            name='favourite',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='person',
            name='quiet',
            field=models.BooleanField(default=False),
        ),
    ]


def read_stars(apps, schema_editor):
    person = apps.get_model("people", "Person")
    rows = person._base_manager.exclude(card_lines=[])
    for chunk in iterate_rows(rows, "card_lines", "favourite", "more"):
        changed = [row for row in chunk if _read_0037(row)]
        if changed:
            update_rows(person, changed, "card_lines", "favourite", "more")


def _read_0037(row):
    """Whether the row has a line of a star. A line that says no belongs to the field, too."""
    found = False
    for kept in row.card_lines:
        if kept.get("fields") or "STARRED" not in kept["line"].upper():
            continue
        for field, value in read_line(parse_line(kept["line"]), Context()):
            if field == "favourite":
                kept["fields"] = [field]
                row.favourite, found = row.favourite or value, True
    if found:
        row.more = more_of(row.card_lines)
    return found


class Step0037(migrations.Migration):
    """Stars on cards that no field held until now make favourites. Killed half way, it runs again."""

    dependencies = [
        ('people', '0036_favourite_and_quiet_people'),
    ]

    operations = [
        migrations.RunPython(read_stars, migrations.RunPython.noop),
    ]


class Step0038(migrations.Migration):

    dependencies = [
        ('people', '0037_read_stars_of_cards'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='group',
            name='contact_interval',
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='group',
            name='contact_interval_unit',
            field=models.CharField(blank=True, choices=[('DAYS', 'Days'), ('WEEKS', 'Weeks'), ('MONTHS', 'Months'), ('YEARS', 'Years')], max_length=6, null=True),
        ),
        migrations.AddField(
            model_name='group',
            name='lead_days',
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='person',
            name='contact_reminder_from',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.group'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('contact_reminder_from__isnull', False)), fields=['contact_reminder_from'], name='person_contact_reminder_from'),
        ),
        migrations.AddConstraint(
            model_name='group',
            constraint=models.CheckConstraint(condition=models.Q(('contact_interval_unit__in', ['DAYS', 'WEEKS', 'MONTHS', 'YEARS'])), name='group_contact_interval_unit_known'),
        ),
        migrations.AddConstraint(
            model_name='group',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('contact_interval', None), ('contact_interval_unit', None)), models.Q(('contact_interval__isnull', False), ('contact_interval_unit__isnull', False)), _connector='OR'), name='group_contact_interval_has_unit'),
        ),
    ]


_KIND = 14
_KEYS_AT_ONCE_0039 = 2_000


def fill_keys(apps, schema_editor):
    person, lookup_key = apps.get_model("people", "Person"), apps.get_model("people", "LookupKey")
    # Of people whom an earlier migration has indexed with the keys of this version.
    lookup_key.objects.filter(kind=_KIND).delete()
    for rows in iterate_rows(person._base_manager.exclude(addresses=[]), "owner_id", "addresses"):
        keys = [(row, {whole_address_key(entry) for entry in row.addresses} - {None}) for row in rows]
        lookup_key.objects.bulk_create(
            [
                lookup_key(owner_id=row.owner_id, person_id=row.pk, kind=_KIND, key=key)
                for row, found in keys
                for key in sorted(found)
            ],
            batch_size=_KEYS_AT_ONCE_0039,
        )


class Step0039(migrations.Migration):
    """The keys by which people with the same address are found, of everybody who is there already."""
    dependencies = [("people", "0038_rules_of_groups")]
    operations = [migrations.RunPython(fill_keys, migrations.RunPython.noop)]


class Step0040(migrations.Migration):

    dependencies = [
        ('people', '0039_keys_of_whole_addresses'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='person',
            name='next_date_on',
            field=models.DateField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='person',
            name='next_date_until',
            field=models.DateField(db_default=datetime.date(9999, 12, 31), default=datetime.date(9999, 12, 31), editable=False),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'last_contact', 'sort_key', 'id', 'deleted_at'], name='person_by_contact'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'next_date_on', 'sort_key', 'id', 'deleted_at'], name='person_by_next_date'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'created_at', 'sort_key', 'id', 'deleted_at'], name='person_by_creation'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', '-created_at', 'sort_key', 'id', 'deleted_at'], name='person_newest_first'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True)), fields=['owner', 'sort_key', 'id'], name='person_favourites'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True)), fields=['owner', 'last_contact', 'sort_key', 'id'], name='person_fav_by_contact'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True)), fields=['owner', 'next_date_on', 'sort_key', 'id'], name='person_fav_by_next_date'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True)), fields=['owner', 'created_at', 'sort_key', 'id'], name='person_fav_by_creation'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('quiet', True)), fields=['owner', 'sort_key', 'id'], name='person_quiet'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'next_date_until'], name='person_next_date_known'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['next_date_until'], name='person_next_date_passed'),
        ),
    ]


def mark_and_count(apps, schema_editor):
    from people.counts import COUNTED_OF_PEOPLE, MARKED, recount

    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "UPDATE people_person SET next_date_until = '0001-01-01' "
            "WHERE id IN (SELECT person_id FROM people_importantdate)"
        )
        recount(cursor, tuple(one for one in COUNTED_OF_PEOPLE if one.kind == MARKED))


class Step0041(migrations.Migration):
    """The next days of all people with dates are to be computed, by the task of every minute, and favourites are counted."""

    dependencies = [
        ('people', '0040_orders_of_people'),
    ]

    operations = [
        migrations.RunPython(mark_and_count, migrations.RunPython.noop),
    ]


class Step0042(migrations.Migration):

    dependencies = [
        ('people', '0041_know_next_dates_and_marks'),
    ]

    operations = [
        migrations.AddField(
            model_name='person',
            name='without_groups',
            field=models.BooleanField(db_default=True, default=True, editable=False),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('without_groups', True)), fields=['owner', 'sort_key', 'id'], name='person_without_groups'),
        ),
    ]


def mark_and_count_0043(apps, schema_editor):
    from people.counts import IN_GROUPS, recount

    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "UPDATE people_person SET without_groups = FALSE WHERE id IN ("
            "SELECT m.person_id FROM people_membership m JOIN people_group g ON g.id = m.group_id "
            "WHERE g.deleted_at IS NULL)"
        )
        recount(cursor, (IN_GROUPS,))


class Step0043(migrations.Migration):
    """Whoever is in an active group is marked and counted; from now on triggers do so."""

    dependencies = [
        ('people', '0042_without_groups'),
    ]

    operations = [
        migrations.RunPython(mark_and_count_0043, migrations.RunPython.noop),
    ]


class Step0044(migrations.Migration):

    dependencies = [
        ('people', '0043_mark_and_count_people_in_groups'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('without_groups', True)), fields=['owner', 'last_contact', 'sort_key', 'id'], name='person_no_group_by_contact'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('without_groups', True)), fields=['owner', 'next_date_on', 'sort_key', 'id'], name='person_no_group_by_next_date'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('without_groups', True)), fields=['owner', 'created_at', 'sort_key', 'id'], name='person_no_group_by_creation'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True), ('without_groups', True)), fields=['owner', 'sort_key', 'id'], name='person_no_group_favourites'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True), ('without_groups', True)), fields=['owner', 'last_contact', 'sort_key', 'id'], name='person_no_group_fav_contact'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True), ('without_groups', True)), fields=['owner', 'next_date_on', 'sort_key', 'id'], name='person_no_group_fav_next_date'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True), ('without_groups', True)), fields=['owner', 'created_at', 'sort_key', 'id'], name='person_no_group_fav_creation'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('quiet', True)), fields=['owner', 'last_contact', 'sort_key', 'id'], name='person_quiet_by_contact'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('quiet', True)), fields=['owner', 'next_date_on', 'sort_key', 'id'], name='person_quiet_by_next_date'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('quiet', True)), fields=['owner', 'created_at', 'sort_key', 'id'], name='person_quiet_by_creation'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('without_groups', True)), fields=['owner', '-created_at', 'sort_key', 'id'], name='person_no_group_newest_first'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True)), fields=['owner', '-created_at', 'sort_key', 'id'], name='person_fav_newest_first'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True), ('without_groups', True)), fields=['owner', '-created_at', 'sort_key', 'id'], name='person_no_group_fav_newest'),
        ),
    ]


class Step0045(migrations.Migration):
    """Changes no table: a migration run installs the triggers anew, which have become others."""

    dependencies = [
        ('people', '0044_orders_of_people_without_groups'),
    ]

    operations = []


STEPS = {
    "0001_initial": Step0001,
    "0002_links_of_people": Step0002,
    "0003_next_reminder_of_dates_and_contacts": Step0003,
    "0004_duplicates_and_merges": Step0004,
    "0005_geocoded_addresses": Step0005,
    "0006_uid_of_every_person": Step0006,
    "0007_uid_is_never_null": Step0007,
    "0008_counts_of_accounts": Step0008,
    "0009_lines_of_cards": Step0009,
    "0010_lease_addresses_and_the_geocoder": Step0010,
    "0011_name_the_pace_of_the_geocoder": Step0011,
    "0012_revisions_of_rows": Step0012,
    "0013_relationship_types_of_people": Step0013,
    "0014_vocabularies": Step0014,
    "0015_bytes_of_photos": Step0015,
    "0016_no_index_of_owner_alone": Step0016,
    "0017_interactions": Step0017,
    "0018_words_to_find_by": Step0018,
    "0019_fill_words_to_find_by": Step0019,
    "0020_deathday_phonetic_names_and_more": Step0020,
    "0021_read_what_else_cards_held": Step0021,
    "0022_imports_from_elsewhere": Step0022,
    "0023_related_names": Step0023,
    "0024_fill_related_names_and_addresses": Step0024,
    "0025_extra_lead_days": Step0025,
    "0026_photos_stored_without_the_lock": Step0026,
    "0027_imports_undone_while_they_run": Step0027,
    "0028_find_trash_of_all_accounts": Step0028,
    "0029_who_is_in_the_trash": Step0029,
    "0030_filters_of_operators": Step0030,
    "0031_counts_of_many_rows": Step0031,
    "0032_own_rules_by_day": Step0032,
    "0033_stored_photo_is_being_deleted": Step0033,
    "0034_compose_texts_and_index_them_again": Step0034,
    "0035_awaited_members_and_vcard_imports": Step0035,
    "0036_favourite_and_quiet_people": Step0036,
    "0037_read_stars_of_cards": Step0037,
    "0038_rules_of_groups": Step0038,
    "0039_keys_of_whole_addresses": Step0039,
    "0040_orders_of_people": Step0040,
    "0041_know_next_dates_and_marks": Step0041,
    "0042_without_groups": Step0042,
    "0043_mark_and_count_people_in_groups": Step0043,
    "0044_orders_of_people_without_groups": Step0044,
    "0045_triggers_of_changed_rows": Step0045,
}
"""By their names, in their order."""
