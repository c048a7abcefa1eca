"""The tables of the connection to an address-book server."""

import carddav.models.decisions
import carddav.models.connection
import carddav.models.run
import carddav.models.mapping
import carddav.models.run
import contacts_project.kernel.crypto.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import uuid_utils.compat
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('people', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Connection',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('held_until', models.DateTimeField(blank=True, null=True)),
                ('holder', models.CharField(blank=True, max_length=150)),
                ('claim', models.UUIDField(blank=True, null=True)),
                ('server_url', models.CharField(max_length=2000)),
                ('username', models.CharField(max_length=255)),
                ('password', contacts_project.kernel.crypto.fields.EncryptedTextField(blank=True)),
                ('provider', models.CharField(blank=True, choices=[('custom', 'Custom'), ('google', 'Google'), ('icloud', 'Icloud'), ('outlook', 'Outlook'), ('nextcloud', 'Nextcloud')], max_length=20, null=True)),
                ('sync_enabled', models.BooleanField(default=True)),
                ('auto_export_new', models.BooleanField(default=True)),
                ('auto_sync_interval', models.PositiveIntegerField(default=43200)),
                ('import_mode', models.CharField(choices=[('manual', 'Manual'), ('notify', 'Notify'), ('auto', 'Auto')], default=carddav.models.connection.ImportMode['MANUAL'], max_length=10)),
                ('name_format', models.CharField(choices=[('FULL', 'Full'), ('FIRST_LAST', 'First Last'), ('NICKNAME_PREFERRED', 'Nickname Preferred'), ('SHORT', 'Short')], default=carddav.models.connection.NameFormat['FULL'], max_length=20)),
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
                ('last_error_code', models.CharField(blank=True, max_length=30)),
                ('last_error', models.TextField(blank=True)),
                ('last_error_status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('last_error_at', models.DateTimeField(blank=True, null=True)),
                ('not_before', models.DateTimeField(blank=True, null=True)),
                ('pause', models.CharField(blank=True, choices=[('', 'None'), ('auth', 'Auth'), ('deletions_held', 'Deletions Held')], default=carddav.models.connection.Pause['NONE'], max_length=20)),
                ('needs_confirmation', models.BooleanField(default=False)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Mapping',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
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
                ('status', models.CharField(choices=[('clean', 'Clean'), ('dirty', 'Dirty'), ('conflict', 'Conflict'), ('held', 'Held'), ('quarantined', 'Quarantined')], default=carddav.models.mapping.MappingStatus['CLEAN'], max_length=15)),
                ('error', models.TextField(blank=True)),
                ('body_hash', models.CharField(blank=True, max_length=64)),
                ('failures', models.PositiveSmallIntegerField(default=0)),
                ('code', models.CharField(blank=True, choices=[('refused', 'Refused'), ('too_large', 'Too Large'), ('unreadable', 'Unreadable'), ('passing', 'Passing'), ('server_error', 'Server Error'), ('locked', 'Locked'), ('no_space', 'No Space'), ('read_only', 'Read Only')], max_length=15)),
                ('held_since', models.DateTimeField(blank=True, null=True)),
                ('next_try_at', models.DateTimeField(blank=True, null=True)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='JournalEntry',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
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
                ('state', models.CharField(choices=[('prepared', 'Prepared'), ('done', 'Done')], default=carddav.models.run.JournalState['PREPARED'], max_length=10)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.person')),
                ('mapping', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.mapping')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Conflict',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('kind', models.CharField(choices=[('fields', 'Fields'), ('remote_deleted', 'Remote Deleted'), ('local_deleted', 'Local Deleted')], default=carddav.models.decisions.ConflictKind['FIELDS'], max_length=15)),
                ('fields', models.JSONField(blank=True, default=list)),
                ('remote_raw', models.TextField(blank=True)),
                ('remote_etag', models.CharField(blank=True, max_length=500, null=True)),
                ('resolution', models.CharField(blank=True, choices=[('', 'Open'), ('keep_local', 'Keep Local'), ('keep_remote', 'Keep Remote'), ('merged', 'Merged')], default=carddav.models.decisions.Resolution['OPEN'], max_length=15)),
                ('values', models.JSONField(blank=True, null=True)),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('mapping', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='carddav.mapping')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='OtherCard',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
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
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='PendingImport',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('uid', models.CharField(blank=True, max_length=255, null=True)),
                ('display_name', models.CharField(max_length=500)),
                ('raw', models.TextField()),
                ('digest', models.CharField(editable=False, max_length=64)),
                ('href', models.CharField(blank=True, max_length=2000, null=True)),
                ('href_key', models.CharField(blank=True, max_length=200)),
                ('etag', models.CharField(blank=True, max_length=500, null=True)),
                ('discovered_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('connection', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('trigger', models.CharField(choices=[('manual', 'Manual'), ('automatic', 'Automatic'), ('cron', 'Cron'), ('command', 'Command')], max_length=10)),
                ('dry_run', models.BooleanField(default=False)),
                ('confirmed', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('ended', 'Ended')], default=carddav.models.run.RunState['QUEUED'], max_length=10)),
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
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='RunChange',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('action', models.CharField(choices=[('created', 'Created'), ('updated', 'Updated'), ('trashed', 'Trashed')], max_length=10)),
                ('image', models.JSONField(blank=True, default=dict)),
                ('revision', models.BigIntegerField(default=0)),
                ('photo', models.CharField(blank=True, max_length=255, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='carddav.run')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Todo',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('href', models.CharField(max_length=2000)),
                ('href_key', models.CharField(max_length=200)),
                ('etag', models.CharField(blank=True, max_length=500, null=True)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Tombstone',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('href', models.CharField(max_length=2000)),
                ('href_key', models.CharField(max_length=200)),
                ('uid', models.CharField(blank=True, max_length=1000, null=True)),
                ('etag', models.CharField(blank=True, max_length=500, null=True)),
                ('remote_raw', models.TextField(blank=True)),
                ('state', models.CharField(choices=[('kept', 'Kept'), ('to_delete', 'To Delete'), ('gone', 'Gone')], default=carddav.models.mapping.TombstoneState['KEPT'], max_length=10)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='carddav.connection')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.person')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddIndex(
            model_name='connection',
            index=models.Index(condition=models.Q(('sync_enabled', True)), fields=['next_sync_at'], name='carddav_connection_due'),
        ),
        migrations.AddIndex(
            model_name='connection',
            index=models.Index(condition=models.Q(('pause', ''), _negated=True), fields=['pause'], name='carddav_connection_paused'),
        ),
        migrations.AddIndex(
            model_name='connection',
            index=models.Index(condition=models.Q(('last_error_code', ''), _negated=True), fields=['id'], name='carddav_connection_failing'),
        ),
        migrations.AddIndex(
            model_name='connection',
            index=models.Index(condition=models.Q(('sync_enabled', False)), fields=['id'], name='carddav_connection_off'),
        ),
        migrations.AddConstraint(
            model_name='connection',
            constraint=models.UniqueConstraint(fields=('owner',), name='carddav_connection_once'),
        ),
        migrations.AddConstraint(
            model_name='connection',
            constraint=models.CheckConstraint(condition=models.Q(('auto_sync_interval__range', (60, 86400))), name='carddav_connection_interval'),
        ),
        migrations.AddIndex(
            model_name='mapping',
            index=models.Index(fields=['connection', 'status'], name='carddav_mapping_status'),
        ),
        migrations.AddIndex(
            model_name='mapping',
            index=models.Index(fields=['connection', 'uid'], name='carddav_mapping_uid'),
        ),
        migrations.AddIndex(
            model_name='mapping',
            index=models.Index(condition=models.Q(('status', 'held')), fields=['updated_at'], name='carddav_mapping_held'),
        ),
        migrations.AddIndex(
            model_name='mapping',
            index=models.Index(condition=models.Q(('code', ''), _negated=True), fields=['connection'], name='carddav_mapping_held_back'),
        ),
        migrations.AddConstraint(
            model_name='mapping',
            constraint=models.UniqueConstraint(fields=('person',), name='carddav_mapping_of_person'),
        ),
        migrations.AddConstraint(
            model_name='mapping',
            constraint=models.UniqueConstraint(fields=('connection', 'href_key'), name='carddav_mapping_of_card'),
        ),
        migrations.AddIndex(
            model_name='journalentry',
            index=models.Index(fields=['connection', 'state'], name='carddav_journal_state'),
        ),
        migrations.AddConstraint(
            model_name='journalentry',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'prepared')), fields=('connection', 'href_key'), name='carddav_journal_of_card'),
        ),
        migrations.AddConstraint(
            model_name='journalentry',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'prepared')), fields=('mapping',), name='carddav_journal_of_contact'),
        ),
        migrations.AddIndex(
            model_name='conflict',
            index=models.Index(fields=['connection', 'resolved_at'], name='carddav_conflict_open'),
        ),
        migrations.AddIndex(
            model_name='conflict',
            index=models.Index(condition=models.Q(('resolved_at__isnull', False)), fields=['resolved_at'], name='carddav_conflict_resolved'),
        ),
        migrations.AddConstraint(
            model_name='conflict',
            constraint=models.UniqueConstraint(condition=models.Q(('resolved_at', None)), fields=('person',), name='carddav_conflict_of_person'),
        ),
        migrations.AddConstraint(
            model_name='othercard',
            constraint=models.UniqueConstraint(fields=('connection', 'href_key'), name='carddav_other_card'),
        ),
        migrations.AddIndex(
            model_name='pendingimport',
            index=models.Index(fields=['owner', 'discovered_at'], name='pending_import_found'),
        ),
        migrations.AddIndex(
            model_name='pendingimport',
            index=models.Index(fields=['owner', 'uid'], name='pending_import_uid'),
        ),
        migrations.AddIndex(
            model_name='pendingimport',
            index=models.Index(fields=['owner', 'digest'], name='pending_import_digest'),
        ),
        migrations.AddConstraint(
            model_name='pendingimport',
            constraint=models.UniqueConstraint(condition=models.Q(('connection__isnull', False)), fields=('connection', 'href_key'), name='pending_import_of_card'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['connection', 'started_at'], name='carddav_run_history'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['started_at'], name='carddav_run_age'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['ended_at', 'code', 'started_at'], name='carddav_run_ended'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('code', ''), _negated=True), fields=['started_at'], name='carddav_run_failed'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('trigger', 'automatic'), _negated=True), fields=['trigger', 'started_at'], name='carddav_run_asked_for'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'ended'), _negated=True), fields=('connection', 'dry_run'), name='carddav_run_at_a_time'),
        ),
        migrations.AddIndex(
            model_name='runchange',
            index=models.Index(condition=models.Q(('photo__isnull', False)), fields=['owner', 'photo'], name='carddav_change_photo'),
        ),
        migrations.AddConstraint(
            model_name='runchange',
            constraint=models.UniqueConstraint(fields=('run', 'person'), name='carddav_change_of_person'),
        ),
        migrations.AddConstraint(
            model_name='todo',
            constraint=models.UniqueConstraint(fields=('connection', 'href_key'), name='carddav_todo_of_card'),
        ),
        migrations.AddIndex(
            model_name='tombstone',
            index=models.Index(condition=models.Q(('state', 'to_delete')), fields=['connection'], name='carddav_tombstone_to_delete'),
        ),
        migrations.AddConstraint(
            model_name='tombstone',
            constraint=models.UniqueConstraint(fields=('connection', 'href_key'), name='carddav_tombstone_of_card'),
        ),
    ]
