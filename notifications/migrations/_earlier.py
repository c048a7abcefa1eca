"""The steps by which the tables of destinations, reminders and deliveries came to be what 0001_tables makes of nothing.

For databases and backups of before the first release, which may have some of these steps only: the others run
(contacts_project.kernel.database.earlier_migrations).
"""

import contacts_project.kernel.crypto.fields
import contacts_project.kernel.ids
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import uuid_utils.compat
from contacts_project.kernel.database.normal_forms import compose_rows
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce
from typing import Any


class Step0001(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='BudgetDraw',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('budget', models.CharField(max_length=20)),
                ('subject', models.UUIDField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['owner', 'budget', 'created_at'], name='budget_draw_owner')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Destination',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('type', models.CharField(choices=[('NTFY', 'Ntfy'), ('WEBHOOK', 'Webhook')], max_length=10)),
                ('label', models.CharField(max_length=60)),
                ('url', models.CharField(max_length=500)),
                ('url_key', models.CharField(max_length=520)),
                ('server_url', models.CharField(blank=True, max_length=500)),
                ('enabled', models.BooleanField(default=True)),
                ('secret', contacts_project.kernel.crypto.fields.EncryptedTextField(blank=True)),
                ('old_secret', contacts_project.kernel.crypto.fields.EncryptedTextField(blank=True)),
                ('old_secret_until', models.DateTimeField(blank=True, null=True)),
                ('consecutive_failures', models.PositiveIntegerField(default=0)),
                ('last_success_at', models.DateTimeField(blank=True, null=True)),
                ('last_failure_at', models.DateTimeField(blank=True, null=True)),
                ('last_failure_code', models.CharField(blank=True, max_length=30)),
                ('auto_disabled_at', models.DateTimeField(blank=True, null=True)),
                ('disable_notice_due', models.BooleanField(default=False)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('disable_notice_due', True)), fields=['id'], name='destination_notice_due')],
                'constraints': [models.UniqueConstraint(fields=('owner', 'url_key'), name='destination_url_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='PushSubscription',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('endpoint', models.TextField()),
                ('endpoint_digest', models.CharField(max_length=64, unique=True)),
                ('p256dh', models.CharField(max_length=255)),
                ('auth', contacts_project.kernel.crypto.fields.EncryptedTextField()),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['owner', 'created_at'], name='push_subscription_owner')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0002(migrations.Migration):

    dependencies = [
        ('notifications', '0001_destinations_and_devices'),
    ]

    operations = [
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('name', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('beat_at', models.DateTimeField()),
            ],
        ),
    ]


class Step0003(migrations.Migration):

    dependencies = [
        ('accounts', '0002_sessions_and_registration_turns'),
        ('notifications', '0002_heartbeats'),
        ('people', '0003_next_reminder_of_dates_and_contacts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='DigestSchedule',
            fields=[
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('next_due_at', models.DateTimeField(db_index=True)),
                ('next_on', models.DateField()),
            ],
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('kind', models.CharField(choices=[('reminder.important_date', 'Important Date'), ('reminder.important_date_lead', 'Important Date Lead'), ('reminder.contact', 'Contact'), ('digest.weekly', 'Digest'), ('test', 'Test')], max_length=30)),
                ('source_id', models.UUIDField()),
                ('occurrence_on', models.DateField()),
                ('channel', models.CharField(blank=True, max_length=10)),
                ('target_key', models.CharField(blank=True, max_length=64)),
                ('label', models.CharField(blank=True, max_length=254)),
                ('content', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('sending', 'Sending'), ('sent', 'Sent'), ('failed', 'Failed'), ('skipped', 'Skipped')], default='pending', max_length=7)),
                ('code', models.CharField(blank=True, max_length=30)),
                ('late', models.BooleanField(default=False)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('claims', models.PositiveSmallIntegerField(default=0)),
                ('due_at', models.DateTimeField()),
                ('planned_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('first_tried_at', models.DateTimeField(blank=True, null=True)),
                ('next_try_at', models.DateTimeField(blank=True, null=True)),
                ('held_until', models.DateTimeField(blank=True, null=True)),
                ('claim', models.UUIDField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'indexes': [models.Index(condition=models.Q(('next_try_at__isnull', False)), fields=['next_try_at'], name='delivery_waiting'), models.Index(condition=models.Q(('held_until__isnull', False)), fields=['held_until'], name='delivery_held'), models.Index(fields=['owner', 'planned_at', 'id'], name='delivery_history')],
                'constraints': [models.UniqueConstraint(fields=('source_id', 'occurrence_on', 'kind', 'channel', 'target_key'), name='delivery_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0004(migrations.Migration):

    dependencies = [
        ('notifications', '0003_ledger_and_digest_schedule'),
    ]

    operations = [
        migrations.AddField(
            model_name='delivery',
            name='holder',
            field=models.CharField(blank=True, max_length=150),
        ),
    ]


class Step0005(migrations.Migration):

    dependencies = [
        ('notifications', '0004_holders_of_deliveries'),
        ('people', '0005_geocoded_addresses'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(fields=['planned_at'], name='delivery_old'),
        ),
    ]


class Step0006(migrations.Migration):

    dependencies = [
        ('notifications', '0005_find_old_deliveries'),
    ]

    operations = [
        migrations.DeleteModel(
            name='BudgetDraw',
        ),
    ]


def release(apps: Any, schema_editor: Any) -> None:
    rows = apps.get_model("notifications", "Delivery")._base_manager.filter(claim__isnull=False)
    rows.exclude(state="sending").update(claim=None, holder="")


class Step0007(migrations.Migration):
    """A claim now says that a row is held: deliveries that wait or have ended kept their last one so far."""
    dependencies = [("notifications", "0006_drop_budget_draws")]
    operations = [migrations.RunPython(release, migrations.RunPython.noop, elidable=True)]


_FILL = "UPDATE {table} SET revision = (SELECT revision FROM accounts_user u WHERE u.id = {table}.owner_id)"
_TABLES = ("notifications_destination", )


class Step0008(migrations.Migration):
    """Rows carry the revision of the write that changed them last; those that are there, their account's."""

    dependencies = [
        ('notifications', '0007_release_ended_deliveries'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='destination',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddIndex(
            model_name='destination',
            index=models.Index(fields=['owner', 'revision', 'id'], name='destination_feed'),
        ),
        *(migrations.RunSQL(_FILL.format(table=table), migrations.RunSQL.noop) for table in _TABLES),
    ]


class Step0009(migrations.Migration):
    """Columns that hold a word of a vocabulary take no other."""

    dependencies = [
        ('notifications', '0008_revisions_of_rows'),
        ('people', '0014_vocabularies'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['reminder.important_date', 'reminder.important_date_lead', 'reminder.contact', 'digest.weekly', 'test'])), name='delivery_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'sending', 'sent', 'failed', 'skipped'])), name='delivery_state_known'),
        ),
        migrations.AddConstraint(
            model_name='destination',
            constraint=models.CheckConstraint(condition=models.Q(('type__in', ['NTFY', 'WEBHOOK'])), name='destination_type_known'),
        ),
    ]


class Step0010(migrations.Migration):

    dependencies = [
        ('notifications', '0009_vocabularies'),
        ('people', '0014_vocabularies'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='delivery',
            name='delivery_kind_known',
        ),
        migrations.AlterField(
            model_name='delivery',
            name='kind',
            field=models.CharField(choices=[('reminder.important_date', 'Important Date'), ('reminder.important_date_lead', 'Important Date Lead'), ('reminder.contact', 'Contact'), ('digest.weekly', 'Digest'), ('carddav.contacts_found', 'Contacts Found'), ('test', 'Test')], max_length=30),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['reminder.important_date', 'reminder.important_date_lead', 'reminder.contact', 'digest.weekly', 'carddav.contacts_found', 'test'])), name='delivery_kind_known'),
        ),
    ]


class Step0011(migrations.Migration):

    dependencies = [
        ('notifications', '0010_tell_of_found_contacts'),
        ('people', '0015_bytes_of_photos'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['updated_at', 'channel', 'state', 'code'], name='delivery_ended'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('state__in', ['failed', 'skipped'])), fields=['state', 'planned_at'], name='delivery_undelivered'),
        ),
    ]


class Step0012(migrations.Migration):

    dependencies = [
        ('notifications', '0011_indexes_for_operators'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='CalendarFeed',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('name', models.CharField(max_length=100)),
                ('group_ids', models.JSONField(default=list)),
                ('kinds', models.JSONField(default=list)),
                ('alarms', models.BooleanField(default=True)),
                ('language', models.CharField(blank=True, max_length=10)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('last_read_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'abstract': False,
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


def fill(apps, schema_editor):
    """Until now a date had one notice: what was sent is that of the lead days that it has now."""
    dates = apps.get_model("people", "ImportantDate")._base_manager.filter(pk=OuterRef("source_id"))
    own = Coalesce("reminder_lead_days", F("owner__default_reminder_lead_days"))
    lead_days = Coalesce(Subquery(dates.values(lead=own)), 0)
    sent = apps.get_model("notifications", "Delivery")._base_manager.filter(kind="reminder.important_date_lead")
    sent.update(lead_days=lead_days)


class Step0013(migrations.Migration):

    dependencies = [
        ('notifications', '0012_calendar_feeds'),
        ('people', '0025_extra_lead_days'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='delivery',
            name='delivery_once',
        ),
        migrations.AddField(
            model_name='delivery',
            name='lead_days',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('source_id', 'occurrence_on', 'kind', 'lead_days', 'channel', 'target_key'), name='delivery_once'),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]


class Step0014(migrations.Migration):

    dependencies = [
        ('notifications', '0013_lead_days_of_deliveries'),
        ('people', '0025_extra_lead_days'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ReminderAnswer',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('occurrence_on', models.DateField()),
                ('state', models.CharField(choices=[('snoozed', 'Snoozed'), ('skipped', 'Skipped')], max_length=7)),
                ('kind', models.CharField(choices=[('reminder.important_date', 'Important Date'), ('reminder.important_date_lead', 'Important Date Lead'), ('reminder.contact', 'Contact'), ('digest.weekly', 'Digest'), ('carddav.contacts_found', 'Contacts Found'), ('test', 'Test')], max_length=30)),
                ('lead_days', models.PositiveSmallIntegerField(default=0)),
                ('round', models.PositiveSmallIntegerField(default=0)),
                ('again_on', models.DateField(null=True)),
                ('due_at', models.DateTimeField(null=True)),
                ('important_date', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.importantdate')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at'], name='reminder_answer_due'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('state__in', ['snoozed', 'skipped'])), name='reminder_answer_state_known'),
                    models.CheckConstraint(condition=models.Q(('kind__in', ['reminder.important_date', 'reminder.important_date_lead', 'reminder.contact', 'digest.weekly', 'carddav.contacts_found', 'test'])), name='reminder_answer_kind_known'),
                    models.CheckConstraint(condition=models.Q(models.Q(('important_date', None), ('person__isnull', False)), models.Q(('important_date__isnull', False), ('person', None)), _connector='OR'), name='reminder_answer_of_one_source'),
                    models.CheckConstraint(condition=models.Q(models.Q(('again_on__isnull', False), ('due_at__isnull', False), ('state', 'snoozed')), models.Q(('again_on', None), ('due_at', None), ('state', 'skipped')), _connector='OR'), name='reminder_answer_due_when_snoozed'),
                    models.UniqueConstraint(fields=('important_date', 'occurrence_on'), name='reminder_answer_once_a_date'),
                    models.UniqueConstraint(fields=('person', 'occurrence_on'), name='reminder_answer_once_a_person'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='delivery',
            name='delivery_once',
        ),
        migrations.AddField(
            model_name='delivery',
            name='answers',
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name='delivery',
            name='round',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('source_id', 'occurrence_on', 'kind', 'lead_days', 'round', 'channel', 'target_key'), name='delivery_once'),
        ),
    ]


class Step0015(migrations.Migration):
    """A process of the version before, which knows no such columns, may insert deliveries while machines are upgraded."""
    dependencies = [("notifications", "0014_reminder_answers")]
    operations = [
        migrations.AlterField("delivery", "answers", models.JSONField(db_default=[], default=list)),
        migrations.AlterField("delivery", "lead_days", models.PositiveSmallIntegerField(db_default=0, default=0)),
        migrations.AlterField("delivery", "round", models.PositiveSmallIntegerField(db_default=0, default=0)),
    ]


class Step0016(migrations.Migration):

    dependencies = [
        ('notifications', '0015_defaults_in_the_database'),
        ('people', '0030_filters_of_operators'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('code', ''), _negated=True), fields=['code', 'planned_at'], name='delivery_code'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('channel', 'email'), _negated=True), fields=['channel', 'planned_at'], name='delivery_channel'),
        ),
        migrations.AddIndex(
            model_name='destination',
            index=models.Index(condition=models.Q(('enabled', False)), fields=['id'], name='destination_off'),
        ),
        migrations.AddIndex(
            model_name='destination',
            index=models.Index(condition=models.Q(('consecutive_failures__gt', 0)), fields=['id'], name='destination_failing'),
        ),
        migrations.AddIndex(
            model_name='destination',
            index=models.Index(condition=models.Q(('last_failure_code', ''), _negated=True), fields=['last_failure_code', 'id'], name='destination_failed'),
        ),
    ]


class Step0017(migrations.Migration):
    """Leases for the mails about destinations that were switched off, so that a killed process loses none."""

    dependencies = [
        ('notifications', '0016_filters_of_operators'),
    ]

    operations = [
        migrations.AddField(
            model_name='destination',
            name='claim',
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='destination',
            name='held_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='destination',
            name='holder',
            field=models.CharField(blank=True, max_length=150),
        ),
    ]


def compose(apps, schema_editor):
    compose_rows(apps.get_model("notifications", "Destination"), "label")
    compose_rows(apps.get_model("notifications", "CalendarFeed"), "name")


class Step0018(migrations.Migration):
    """Texts in NFC, as bodies and files have brought them since."""

    dependencies = [
        ('notifications', '0017_lease_of_disable_notices'),
    ]

    operations = [
        migrations.RunPython(compose, migrations.RunPython.noop),
    ]


class Step0019(migrations.Migration):

    dependencies = [
        ('notifications', '0018_compose_texts'),
    ]

    operations = [
        migrations.AddField(
            model_name='pushsubscription',
            name='last_success_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='pushsubscription',
            name='user_agent',
            field=models.CharField(blank=True, default='', max_length=500),
        ),
    ]


class Step0020(migrations.Migration):

    dependencies = [
        ('notifications', '0019_devices_of_push'),
        ('people', '0041_know_next_dates_and_marks'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='delivery',
            name='delivery_kind_known',
        ),
        migrations.RemoveConstraint(
            model_name='reminderanswer',
            name='reminder_answer_kind_known',
        ),
        migrations.AlterField(
            model_name='delivery',
            name='kind',
            field=models.CharField(choices=[('reminder.important_date', 'Important Date'), ('reminder.important_date_lead', 'Important Date Lead'), ('reminder.contact', 'Contact'), ('digest.weekly', 'Digest'), ('carddav.contacts_found', 'Contacts Found'), ('dav.deletions', 'Dav Deletions'), ('dav.refused', 'Dav Refused'), ('test', 'Test')], max_length=30),
        ),
        migrations.AlterField(
            model_name='reminderanswer',
            name='kind',
            field=models.CharField(choices=[('reminder.important_date', 'Important Date'), ('reminder.important_date_lead', 'Important Date Lead'), ('reminder.contact', 'Contact'), ('digest.weekly', 'Digest'), ('carddav.contacts_found', 'Contacts Found'), ('dav.deletions', 'Dav Deletions'), ('dav.refused', 'Dav Refused'), ('test', 'Test')], max_length=30),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['reminder.important_date', 'reminder.important_date_lead', 'reminder.contact', 'digest.weekly', 'carddav.contacts_found', 'dav.deletions', 'dav.refused', 'test'])), name='delivery_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='reminderanswer',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['reminder.important_date', 'reminder.important_date_lead', 'reminder.contact', 'digest.weekly', 'carddav.contacts_found', 'dav.deletions', 'dav.refused', 'test'])), name='reminder_answer_kind_known'),
        ),
    ]


STEPS = {
    "0001_destinations_and_devices": Step0001,
    "0002_heartbeats": Step0002,
    "0003_ledger_and_digest_schedule": Step0003,
    "0004_holders_of_deliveries": Step0004,
    "0005_find_old_deliveries": Step0005,
    "0006_drop_budget_draws": Step0006,
    "0007_release_ended_deliveries": Step0007,
    "0008_revisions_of_rows": Step0008,
    "0009_vocabularies": Step0009,
    "0010_tell_of_found_contacts": Step0010,
    "0011_indexes_for_operators": Step0011,
    "0012_calendar_feeds": Step0012,
    "0013_lead_days_of_deliveries": Step0013,
    "0014_reminder_answers": Step0014,
    "0015_defaults_in_the_database": Step0015,
    "0016_filters_of_operators": Step0016,
    "0017_lease_of_disable_notices": Step0017,
    "0018_compose_texts": Step0018,
    "0019_devices_of_push": Step0019,
    "0020_notices_of_devices": Step0020,
}
"""By their names, in their order."""
