"""The tables of destinations, reminders and deliveries."""

import contacts_project.kernel.crypto.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import notifications.models.deliveries
import uuid_utils.compat
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_tables'),
        ('people', '0001_tables'),
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
            name='Heartbeat',
            fields=[
                ('name', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('beat_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='CalendarFeed',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
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
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('held_until', models.DateTimeField(blank=True, null=True)),
                ('holder', models.CharField(blank=True, max_length=150)),
                ('claim', models.UUIDField(blank=True, null=True)),
                ('kind', models.CharField(choices=[('reminder.important_date', 'Important Date'), ('reminder.important_date_lead', 'Important Date Lead'), ('reminder.contact', 'Contact'), ('digest.weekly', 'Digest'), ('carddav.contacts_found', 'Contacts Found'), ('dav.deletions', 'Dav Deletions'), ('dav.refused', 'Dav Refused'), ('test', 'Test')], max_length=30)),
                ('source_id', models.UUIDField()),
                ('occurrence_on', models.DateField()),
                ('lead_days', models.PositiveSmallIntegerField(db_default=0, default=0)),
                ('round', models.PositiveSmallIntegerField(db_default=0, default=0)),
                ('channel', models.CharField(blank=True, max_length=10)),
                ('target_key', models.CharField(blank=True, max_length=64)),
                ('label', models.CharField(blank=True, max_length=254)),
                ('content', models.JSONField(default=dict)),
                ('answers', models.JSONField(db_default=[], default=list)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('sending', 'Sending'), ('sent', 'Sent'), ('failed', 'Failed'), ('skipped', 'Skipped')], default=notifications.models.deliveries.DeliveryState['PENDING'], max_length=7)),
                ('code', models.CharField(blank=True, max_length=30)),
                ('late', models.BooleanField(default=False)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('claims', models.PositiveSmallIntegerField(default=0)),
                ('due_at', models.DateTimeField()),
                ('planned_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('first_tried_at', models.DateTimeField(blank=True, null=True)),
                ('next_try_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'indexes': [models.Index(condition=models.Q(('next_try_at__isnull', False)), fields=['next_try_at'], name='delivery_waiting'), models.Index(condition=models.Q(('held_until__isnull', False)), fields=['held_until'], name='delivery_held'), models.Index(fields=['owner', 'planned_at', 'id'], name='delivery_history'), models.Index(fields=['planned_at'], name='delivery_old'), models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['updated_at', 'channel', 'state', 'code'], name='delivery_ended'), models.Index(condition=models.Q(('state__in', ['failed', 'skipped'])), fields=['state', 'planned_at'], name='delivery_undelivered'), models.Index(condition=models.Q(('code', ''), _negated=True), fields=['code', 'planned_at'], name='delivery_code'), models.Index(condition=models.Q(('channel', 'email'), _negated=True), fields=['channel', 'planned_at'], name='delivery_channel')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['reminder.important_date', 'reminder.important_date_lead', 'reminder.contact', 'digest.weekly', 'carddav.contacts_found', 'dav.deletions', 'dav.refused', 'test'])), name='delivery_kind_known'), models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'sending', 'sent', 'failed', 'skipped'])), name='delivery_state_known'), models.UniqueConstraint(fields=('source_id', 'occurrence_on', 'kind', 'lead_days', 'round', 'channel', 'target_key'), name='delivery_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Destination',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('held_until', models.DateTimeField(blank=True, null=True)),
                ('holder', models.CharField(blank=True, max_length=150)),
                ('claim', models.UUIDField(blank=True, null=True)),
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
                'indexes': [models.Index(fields=['owner', 'revision', 'id'], name='destination_feed'), models.Index(condition=models.Q(('disable_notice_due', True)), fields=['id'], name='destination_notice_due'), models.Index(condition=models.Q(('enabled', False)), fields=['id'], name='destination_off'), models.Index(condition=models.Q(('consecutive_failures__gt', 0)), fields=['id'], name='destination_failing'), models.Index(condition=models.Q(('last_failure_code', ''), _negated=True), fields=['last_failure_code', 'id'], name='destination_failed')],
                'constraints': [models.CheckConstraint(condition=models.Q(('type__in', ['NTFY', 'WEBHOOK'])), name='destination_type_known'), models.UniqueConstraint(fields=('owner', 'url_key'), name='destination_url_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='PushSubscription',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('endpoint', models.TextField()),
                ('endpoint_digest', models.CharField(max_length=64, unique=True)),
                ('p256dh', models.CharField(max_length=255)),
                ('auth', contacts_project.kernel.crypto.fields.EncryptedTextField()),
                ('user_agent', models.CharField(blank=True, default='', max_length=500)),
                ('last_success_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['owner', 'created_at'], name='push_subscription_owner')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='ReminderAnswer',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('occurrence_on', models.DateField()),
                ('state', models.CharField(choices=[('snoozed', 'Snoozed'), ('skipped', 'Skipped')], max_length=7)),
                ('kind', models.CharField(choices=[('reminder.important_date', 'Important Date'), ('reminder.important_date_lead', 'Important Date Lead'), ('reminder.contact', 'Contact'), ('digest.weekly', 'Digest'), ('carddav.contacts_found', 'Contacts Found'), ('dav.deletions', 'Dav Deletions'), ('dav.refused', 'Dav Refused'), ('test', 'Test')], max_length=30)),
                ('lead_days', models.PositiveSmallIntegerField(default=0)),
                ('round', models.PositiveSmallIntegerField(default=0)),
                ('again_on', models.DateField(null=True)),
                ('due_at', models.DateTimeField(null=True)),
                ('important_date', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.importantdate')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at'], name='reminder_answer_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['snoozed', 'skipped'])), name='reminder_answer_state_known'), models.CheckConstraint(condition=models.Q(('kind__in', ['reminder.important_date', 'reminder.important_date_lead', 'reminder.contact', 'digest.weekly', 'carddav.contacts_found', 'dav.deletions', 'dav.refused', 'test'])), name='reminder_answer_kind_known'), models.CheckConstraint(condition=models.Q(models.Q(('important_date', None), ('person__isnull', False)), models.Q(('important_date__isnull', False), ('person', None)), _connector='OR'), name='reminder_answer_of_one_source'), models.CheckConstraint(condition=models.Q(models.Q(('again_on__isnull', False), ('due_at__isnull', False), ('state', 'snoozed')), models.Q(('again_on', None), ('due_at', None), ('state', 'skipped')), _connector='OR'), name='reminder_answer_due_when_snoozed'), models.UniqueConstraint(fields=('important_date', 'occurrence_on'), name='reminder_answer_once_a_date'), models.UniqueConstraint(fields=('person', 'occurrence_on'), name='reminder_answer_once_a_person')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
