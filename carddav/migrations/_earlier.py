"""The steps by which the tables of the connection to an address-book server came to be what 0001_tables makes of nothing.

For databases and backups of before the first release, which may have some of these steps only: the others run
(contacts_project.kernel.database.earlier_migrations).
"""

import contacts_project.kernel.crypto.fields
import contacts_project.kernel.ids
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from contacts_project.kernel.database.normal_forms import compose_rows
from django.conf import settings
from django.db import migrations, models


class Step0001(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='PendingImport',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('uid', models.CharField(blank=True, max_length=255, null=True)),
                ('display_name', models.CharField(max_length=500)),
                ('raw', models.TextField()),
                ('digest', models.CharField(editable=False, max_length=64)),
                ('href', models.CharField(blank=True, max_length=2000, null=True)),
                ('etag', models.CharField(blank=True, max_length=500, null=True)),
                ('discovered_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['owner', 'discovered_at'], name='pending_import_found'), models.Index(fields=['owner', 'uid'], name='pending_import_uid'), models.Index(fields=['owner', 'digest'], name='pending_import_digest')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0002(migrations.Migration):

    dependencies = [
        ('carddav', '0001_pending_imports'),
        ('people', '0009_lines_of_cards'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Connection',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('server_url', models.CharField(max_length=2000)),
                ('username', models.CharField(max_length=255)),
                ('password', contacts_project.kernel.crypto.fields.EncryptedTextField(blank=True)),
                ('provider', models.CharField(blank=True, choices=[('custom', 'Custom'), ('google', 'Google'), ('icloud', 'Icloud'), ('outlook', 'Outlook'), ('nextcloud', 'Nextcloud')], max_length=20, null=True)),
                ('sync_enabled', models.BooleanField(default=True)),
                ('auto_export_new', models.BooleanField(default=True)),
                ('auto_sync_interval', models.PositiveIntegerField(default=43200)),
                ('import_mode', models.CharField(choices=[('manual', 'Manual'), ('notify', 'Notify'), ('auto', 'Auto')], default='manual', max_length=10)),
                ('name_format', models.CharField(choices=[('FULL', 'Full'), ('FIRST_LAST', 'First Last'), ('NICKNAME_PREFERRED', 'Nickname Preferred'), ('SHORT', 'Short')], default='FULL', max_length=20)),
                ('principal_url', models.CharField(blank=True, max_length=2000)),
                ('home_urls', models.JSONField(blank=True, default=list)),
                ('book_url', models.CharField(blank=True, max_length=2000)),
                ('book_name', models.CharField(blank=True, max_length=255)),
                ('caps', models.JSONField(blank=True, default=dict)),
                ('sync_token', models.TextField(blank=True)),
                ('ctag', models.TextField(blank=True)),
                ('last_reconcile_at', models.DateTimeField(blank=True, null=True)),
                ('last_sync_at', models.DateTimeField(blank=True, null=True)),
                ('next_sync_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('lock_owner', models.CharField(blank=True, max_length=64)),
                ('lock_until', models.DateTimeField(blank=True, null=True)),
                ('last_error_code', models.CharField(blank=True, max_length=30)),
                ('last_error', models.TextField(blank=True)),
                ('last_error_status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('last_error_at', models.DateTimeField(blank=True, null=True)),
                ('not_before', models.DateTimeField(blank=True, null=True)),
                ('pause', models.CharField(blank=True, choices=[('', 'None'), ('auth', 'Auth'), ('deletions_held', 'Deletions Held')], default='', max_length=20)),
                ('needs_confirmation', models.BooleanField(default=False)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('sync_enabled', True)), fields=['next_sync_at'], name='carddav_connection_due'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('owner',), name='carddav_connection_once'),
                    models.CheckConstraint(condition=models.Q(('auto_sync_interval__range', (60, 86400))), name='carddav_connection_interval'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Mapping',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('href', models.CharField(max_length=2000)),
                ('href_key', models.CharField(max_length=200)),
                ('uid', models.CharField(blank=True, max_length=1000, null=True)),
                ('etag', models.CharField(blank=True, max_length=500, null=True)),
                ('remote_raw', models.TextField(blank=True)),
                ('base_remote', models.JSONField(blank=True, default=dict)),
                ('base_local', models.JSONField(blank=True, default=dict)),
                ('local_rev', models.BigIntegerField(default=0)),
                ('status', models.CharField(choices=[('clean', 'Clean'), ('dirty', 'Dirty'), ('conflict', 'Conflict'), ('held', 'Held'), ('quarantined', 'Quarantined')], default='clean', max_length=15)),
                ('error', models.TextField(blank=True)),
                ('body_hash', models.CharField(blank=True, max_length=64)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['connection', 'status'], name='carddav_mapping_status'),
                    models.Index(fields=['connection', 'uid'], name='carddav_mapping_uid'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('person',), name='carddav_mapping_of_person'),
                    models.UniqueConstraint(fields=('connection', 'href_key'), name='carddav_mapping_of_card'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='JournalEntry',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('op', models.CharField(choices=[('create', 'Create'), ('update', 'Update'), ('delete', 'Delete')], max_length=10)),
                ('href', models.CharField(max_length=2000)),
                ('href_key', models.CharField(max_length=200)),
                ('uid', models.CharField(blank=True, max_length=1000, null=True)),
                ('if_match', models.CharField(blank=True, max_length=500, null=True)),
                ('body', models.TextField(blank=True)),
                ('body_hash', models.CharField(blank=True, max_length=64)),
                ('fields', models.JSONField(blank=True, default=dict)),
                ('local_rev', models.BigIntegerField(default=0)),
                ('state', models.CharField(choices=[('prepared', 'Prepared'), ('done', 'Done')], default='prepared', max_length=10)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.person')),
                ('mapping', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.mapping')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['connection', 'state'], name='carddav_journal_state'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('state', 'prepared')), fields=('connection', 'href_key'), name='carddav_journal_of_card'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('trigger', models.CharField(choices=[('manual', 'Manual'), ('automatic', 'Automatic'), ('cron', 'Cron'), ('command', 'Command')], max_length=10)),
                ('dry_run', models.BooleanField(default=False)),
                ('confirmed', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('ended', 'Ended')], default='queued', max_length=10)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('imported', models.PositiveIntegerField(default=0)),
                ('exported', models.PositiveIntegerField(default=0)),
                ('updated_locally', models.PositiveIntegerField(default=0)),
                ('updated_remotely', models.PositiveIntegerField(default=0)),
                ('conflicts', models.PositiveIntegerField(default=0)),
                ('errors', models.PositiveIntegerField(default=0)),
                ('error_messages', models.JSONField(blank=True, default=list)),
                ('pending_imports', models.PositiveIntegerField(default=0)),
                ('code', models.CharField(blank=True, max_length=30)),
                ('error', models.TextField(blank=True)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('phase', models.CharField(blank=True, max_length=20)),
                ('message', models.TextField(blank=True)),
                ('current', models.PositiveIntegerField(default=0)),
                ('total', models.PositiveIntegerField(default=0)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['connection', 'started_at'], name='carddav_run_history'),
                    models.Index(fields=['started_at'], name='carddav_run_age'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('state', 'ended'), _negated=True), fields=('connection',), name='carddav_run_at_a_time'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='RunChange',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('action', models.CharField(choices=[('created', 'Created'), ('updated', 'Updated'), ('trashed', 'Trashed')], max_length=10)),
                ('image', models.JSONField(blank=True, default=dict)),
                ('revision', models.BigIntegerField(default=0)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='carddav.run')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('run', 'person'), name='carddav_change_of_person'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Todo',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('href', models.CharField(max_length=2000)),
                ('href_key', models.CharField(max_length=200)),
                ('etag', models.CharField(blank=True, max_length=500, null=True)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('connection', 'href_key'), name='carddav_todo_of_card'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Tombstone',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('href', models.CharField(max_length=2000)),
                ('href_key', models.CharField(max_length=200)),
                ('uid', models.CharField(blank=True, max_length=1000, null=True)),
                ('etag', models.CharField(blank=True, max_length=500, null=True)),
                ('remote_raw', models.TextField(blank=True)),
                ('state', models.CharField(choices=[('kept', 'Kept'), ('to_delete', 'To Delete'), ('gone', 'Gone')], default='kept', max_length=10)),
                ('reason', models.CharField(choices=[('deleted', 'Deleted'), ('dismissed', 'Dismissed'), ('undone', 'Undone')], default='deleted', max_length=10)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.person')),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('state', 'to_delete')), fields=['connection'], name='carddav_tombstone_to_delete'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('connection', 'href_key'), name='carddav_tombstone_of_card'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Conflict',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('kind', models.CharField(choices=[('fields', 'Fields'), ('remote_deleted', 'Remote Deleted'), ('local_deleted', 'Local Deleted')], default='fields', max_length=15)),
                ('fields', models.JSONField(blank=True, default=list)),
                ('remote_raw', models.TextField(blank=True)),
                ('remote_etag', models.CharField(blank=True, max_length=500, null=True)),
                ('resolution', models.CharField(blank=True, choices=[('', 'Open'), ('keep_local', 'Keep Local'), ('keep_remote', 'Keep Remote'), ('merged', 'Merged')], default='', max_length=15)),
                ('values', models.JSONField(blank=True, null=True)),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('mapping', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='carddav.mapping')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['connection', 'resolved_at'], name='carddav_conflict_open'),
                    models.Index(condition=models.Q(('resolved_at__isnull', False)), fields=['resolved_at'], name='carddav_conflict_resolved'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('resolved_at', None)), fields=('person',), name='carddav_conflict_of_person'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddField(
            model_name='pendingimport',
            name='href_key',
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name='pendingimport',
            name='connection',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection'),
        ),
        migrations.AddConstraint(
            model_name='pendingimport',
            constraint=models.UniqueConstraint(condition=models.Q(('connection__isnull', False)), fields=('connection', 'href_key'), name='pending_import_of_card'),
        ),
    ]


class Step0003(migrations.Migration):

    dependencies = [
        ('carddav', '0002_connection_and_sync_state'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='connection',
            name='lock_owner',
        ),
        migrations.RemoveField(
            model_name='connection',
            name='lock_until',
        ),
        migrations.AddField(
            model_name='connection',
            name='claim',
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='connection',
            name='held_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='connection',
            name='holder',
            field=models.CharField(blank=True, max_length=150),
        ),
    ]


class Step0004(migrations.Migration):

    dependencies = [
        ('carddav', '0003_connection_lease'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='OtherCard',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('href', models.CharField(max_length=2000)),
                ('href_key', models.CharField(max_length=200)),
                ('etag', models.CharField(blank=True, max_length=500, null=True)),
                ('kind', models.CharField(choices=[('group', 'Group'), ('unreadable', 'Unreadable')], max_length=10)),
                ('name', models.CharField(blank=True, max_length=100)),
                ('members', models.JSONField(blank=True, default=list)),
                ('joined', models.JSONField(blank=True, default=list)),
                ('error', models.TextField(blank=True)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('connection', 'href_key'), name='carddav_other_card')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0005(migrations.Migration):

    dependencies = [
        ('carddav', '0004_other_cards'),
    ]

    operations = [
        migrations.AlterField(
            model_name='tombstone',
            name='reason',
            field=models.CharField(choices=[('deleted', 'Deleted'), ('undone', 'Undone')], default='deleted', max_length=10),
        ),
    ]


class Step0006(migrations.Migration):

    dependencies = [
        ('carddav', '0005_tombstone_reasons'),
        ('people', '0014_vocabularies'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveField(
            model_name='tombstone',
            name='reason',
        ),
        migrations.AddField(
            model_name='runchange',
            name='photo',
            field=models.CharField(blank=True, max_length=255, null=True),
        ),
        migrations.AddIndex(
            model_name='runchange',
            index=models.Index(condition=models.Q(('photo__isnull', False)), fields=['owner', 'photo'], name='carddav_change_photo'),
        ),
    ]


class Step0007(migrations.Migration):

    dependencies = [
        ('carddav', '0006_former_photos'),
        ('people', '0015_bytes_of_photos'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='connection',
            index=models.Index(condition=models.Q(('pause', ''), _negated=True), fields=['pause'], name='carddav_connection_paused'),
        ),
        migrations.AddIndex(
            model_name='mapping',
            index=models.Index(condition=models.Q(('status', 'held')), fields=['updated_at'], name='carddav_mapping_held'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['ended_at', 'code', 'started_at'], name='carddav_run_ended'),
        ),
    ]


_MARK = "UPDATE accounts_user SET is_mirrored = TRUE WHERE id IN (SELECT owner_id FROM carddav_connection)"


class Step0008(migrations.Migration):
    """Accounts that have a connection already are mirrored; from here on triggers say so."""

    dependencies = [
        ('accounts', '0015_mirrored_accounts'),
        ('carddav', '0007_indexes_for_operators'),
    ]

    operations = [
        migrations.RunSQL(_MARK, migrations.RunSQL.noop),
    ]


class Step0009(migrations.Migration):

    dependencies = [
        ('carddav', '0008_mirrored_accounts'),
        ('people', '0019_fill_words_to_find_by'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='journalentry',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'prepared')), fields=('mapping',), name='carddav_journal_of_contact'),
        ),
    ]


class Step0010(migrations.Migration):

    dependencies = [
        ('carddav', '0009_one_open_write_of_a_contact'),
    ]

    operations = [
        migrations.AddField(
            model_name='connection',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
    ]


class Step0011(migrations.Migration):

    dependencies = [
        ('carddav', '0010_connection_revision'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='run',
            name='carddav_run_at_a_time',
        ),
        migrations.AddField(
            model_name='mapping',
            name='failures',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'ended'), _negated=True), fields=('connection', 'dry_run'), name='carddav_run_at_a_time'),
        ),
    ]


class Step0012(migrations.Migration):

    dependencies = [
        ('carddav', '0011_failures_and_dry_runs'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='connection',
            index=models.Index(condition=models.Q(('last_error_code', ''), _negated=True), fields=['id'], name='carddav_connection_failing'),
        ),
        migrations.AddIndex(
            model_name='connection',
            index=models.Index(condition=models.Q(('sync_enabled', False)), fields=['id'], name='carddav_connection_off'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('code', ''), _negated=True), fields=['started_at'], name='carddav_run_failed'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('trigger', 'automatic'), _negated=True), fields=['trigger', 'started_at'], name='carddav_run_asked_for'),
        ),
    ]


def compose(apps, schema_editor):
    compose_rows(apps.get_model("carddav", "Mapping"), "base_local", "base_remote")
    compose_rows(apps.get_model("carddav", "Conflict"), "fields", "values")
    compose_rows(apps.get_model("carddav", "OtherCard"), "name")


class Step0013(migrations.Migration):
    """Texts in NFC, as bodies and files have brought them since."""

    dependencies = [
        ('carddav', '0012_filters_of_operators'),
    ]

    operations = [
        migrations.RunPython(compose, migrations.RunPython.noop),
    ]


def name_reasons(apps, schema_editor):
    """Cards that were refused before get a code, and are tried once more: the refusal may have been of that moment."""
    rows = apps.get_model('carddav', 'Mapping')._base_manager.filter(status='quarantined')
    times = {'held_since': models.F('updated_at'), 'next_try_at': models.F('updated_at')}
    rows.filter(failures=0).update(code='refused', **times)
    rows.filter(failures__gt=0).update(code='server_error', **times)


class Step0014(migrations.Migration):

    dependencies = [
        ('carddav', '0013_compose_texts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='mapping',
            name='code',
            field=models.CharField(blank=True, choices=[('refused', 'Refused'), ('too_large', 'Too Large'), ('unreadable', 'Unreadable'), ('passing', 'Passing'), ('server_error', 'Server Error'), ('locked', 'Locked'), ('no_space', 'No Space'), ('read_only', 'Read Only')], max_length=15),
        ),
        migrations.AddField(
            model_name='mapping',
            name='held_since',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='mapping',
            name='next_try_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunPython(name_reasons, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name='mapping',
            index=models.Index(condition=models.Q(('code', ''), _negated=True), fields=['connection'], name='carddav_mapping_held_back'),
        ),
    ]


STEPS = {
    "0001_pending_imports": Step0001,
    "0002_connection_and_sync_state": Step0002,
    "0003_connection_lease": Step0003,
    "0004_other_cards": Step0004,
    "0005_tombstone_reasons": Step0005,
    "0006_former_photos": Step0006,
    "0007_indexes_for_operators": Step0007,
    "0008_mirrored_accounts": Step0008,
    "0009_one_open_write_of_a_contact": Step0009,
    "0010_connection_revision": Step0010,
    "0011_failures_and_dry_runs": Step0011,
    "0012_filters_of_operators": Step0012,
    "0013_compose_texts": Step0013,
    "0014_cards_held_back": Step0014,
}
"""By their names, in their order."""
