"""The tables of people and what belongs to them."""

import datetime
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import people.models.dates
import people.models.person
import uuid_utils.compat
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='GeocoderPace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('held_until', models.DateTimeField(blank=True, null=True)),
                ('holder', models.CharField(blank=True, max_length=150)),
                ('claim', models.UUIDField(blank=True, null=True)),
                ('next_request_at', models.DateTimeField()),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ContactImport',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('source', models.CharField(choices=[('csv', 'Csv'), ('google', 'Google'), ('outlook', 'Outlook'), ('linkedin', 'Linkedin'), ('monica', 'Monica'), ('nametag', 'Nametag'), ('vcard', 'Vcard')], max_length=8)),
                ('file_name', models.CharField(max_length=255)),
                ('imported', models.PositiveIntegerField(default=0)),
                ('updated', models.PositiveIntegerField(default=0)),
                ('skipped', models.PositiveIntegerField(default=0)),
                ('errors', models.PositiveIntegerField(default=0)),
                ('own_revisions', models.JSONField(db_default=[], default=list)),
                ('last_revision', models.BigIntegerField(db_default=0, default=0)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('undo_until', models.DateTimeField(blank=True, null=True)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='CustomFieldTemplate',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('name', models.CharField(max_length=60)),
                ('slug', models.CharField(max_length=80)),
                ('type', models.CharField(choices=[('TEXT', 'Text'), ('NUMBER', 'Number'), ('BOOLEAN', 'Boolean'), ('SELECT', 'Select')], max_length=7)),
                ('options', models.JSONField(blank=True, default=list)),
                ('position', models.PositiveIntegerField(default=0)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='GeocodedAddress',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('held_until', models.DateTimeField(blank=True, null=True)),
                ('holder', models.CharField(blank=True, max_length=150)),
                ('claim', models.UUIDField(blank=True, null=True)),
                ('key', models.CharField(max_length=64)),
                ('text', models.TextField()),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('skipped', 'Skipped'), ('done', 'Done'), ('failed', 'Failed')], max_length=7)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_try_at', models.DateTimeField()),
                ('latitude', models.FloatField(blank=True, null=True)),
                ('longitude', models.FloatField(blank=True, null=True)),
                ('is_copied', models.BooleanField(default=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Group',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('name', models.CharField(max_length=100)),
                ('name_key', models.CharField(editable=False, max_length=300)),
                ('description', models.CharField(blank=True, max_length=500, null=True)),
                ('color', models.CharField(max_length=7)),
                ('contact_interval', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('contact_interval_unit', models.CharField(blank=True, choices=[('DAYS', 'Days'), ('WEEKS', 'Weeks'), ('MONTHS', 'Months'), ('YEARS', 'Years')], max_length=6, null=True)),
                ('lead_days', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='AwaitedMember',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('uid_key', models.CharField(max_length=255)),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('contact_import', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='awaited_members', to='people.contactimport')),
                ('group', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='awaited_members', to='people.group')),
            ],
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
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Interaction',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
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
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='InteractionWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=40)),
                ('interaction', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='words', to='people.interaction')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Person',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('name', models.CharField(max_length=100)),
                ('surname', models.CharField(blank=True, max_length=100, null=True)),
                ('middle_name', models.CharField(blank=True, max_length=100, null=True)),
                ('second_last_name', models.CharField(blank=True, max_length=100, null=True)),
                ('nickname', models.CharField(blank=True, max_length=100, null=True)),
                ('phonetic_name', models.CharField(blank=True, max_length=100, null=True)),
                ('phonetic_surname', models.CharField(blank=True, max_length=100, null=True)),
                ('prefix', models.CharField(blank=True, max_length=50, null=True)),
                ('suffix', models.CharField(blank=True, max_length=50, null=True)),
                ('gender', models.CharField(blank=True, max_length=50, null=True)),
                ('organization', models.CharField(blank=True, max_length=200, null=True)),
                ('job_title', models.CharField(blank=True, max_length=200, null=True)),
                ('display_name_override', models.CharField(blank=True, max_length=200, null=True)),
                ('anniversary', models.DateField(blank=True, null=True)),
                ('deathday', models.DateField(blank=True, null=True)),
                ('last_contact', models.DateField(blank=True, null=True)),
                ('contact_before', models.DateField(blank=True, editable=False, null=True)),
                ('interacted_on', models.DateField(blank=True, editable=False, null=True)),
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
                ('contact_reminder_interval_unit', models.CharField(blank=True, choices=[('DAYS', 'Days'), ('WEEKS', 'Weeks'), ('MONTHS', 'Months'), ('YEARS', 'Years')], max_length=6, null=True)),
                ('contact_due_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('contact_due_on', models.DateField(blank=True, editable=False, null=True)),
                ('next_date_on', models.DateField(blank=True, editable=False, null=True)),
                ('next_date_until', models.DateField(db_default=datetime.date(9999, 12, 31), default=datetime.date(9999, 12, 31), editable=False)),
                ('without_groups', models.BooleanField(db_default=True, default=True, editable=False)),
                ('card_dav_sync_enabled', models.BooleanField(default=True)),
                ('favourite', models.BooleanField(default=False)),
                ('quiet', models.BooleanField(default=False)),
                ('photo', models.CharField(blank=True, max_length=200, null=True)),
                ('uid', people.models.person.UidField(max_length=255)),
                ('card_lines', models.JSONField(blank=True, default=list)),
                ('more', models.JSONField(blank=True, default=list, editable=False)),
                ('sort_key', models.BinaryField(default=b'')),
                ('search_key', models.TextField(default='', editable=False)),
                ('contact_reminder_from', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.group')),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Participation',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('position', models.PositiveSmallIntegerField()),
                ('at', models.DateTimeField()),
                ('interaction', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='participations', to='people.interaction')),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='participations', to='people.person')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='MergeRecord',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('image', models.JSONField(default=dict)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('primary', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.person')),
                ('secondary', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.person')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='people.group')),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='people.person')),
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
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lookup_keys', to='people.person')),
            ],
        ),
        migrations.CreateModel(
            name='ImportantDate',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('type', models.CharField(blank=True, choices=[('BIRTHDAY', 'Birthday'), ('ANNIVERSARY', 'Anniversary'), ('NAMEDAY', 'Nameday'), ('MEMORIAL', 'Memorial')], max_length=11, null=True)),
                ('title', models.CharField(blank=True, max_length=100, null=True)),
                ('date', models.DateField()),
                ('month_day', models.GeneratedField(db_persist=True, expression=people.models.dates.MonthDay('date'), output_field=models.SmallIntegerField())),
                ('year_unknown', models.BooleanField(default=False)),
                ('reminder_enabled', models.BooleanField(default=False)),
                ('reminder_type', models.CharField(blank=True, choices=[('ONCE', 'Once'), ('RECURRING', 'Recurring')], max_length=9, null=True)),
                ('reminder_interval', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('reminder_interval_unit', models.CharField(blank=True, choices=[('DAYS', 'Days'), ('WEEKS', 'Weeks'), ('MONTHS', 'Months'), ('YEARS', 'Years')], max_length=6, null=True)),
                ('reminder_lead_days', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('extra_lead_days', models.JSONField(blank=True, default=list)),
                ('next_due_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('next_occurrence_on', models.DateField(blank=True, editable=False, null=True)),
                ('next_kind', models.CharField(blank=True, choices=[('lead', 'Lead'), ('day', 'Day')], default='', editable=False, max_length=4)),
                ('next_lead_days', models.PositiveSmallIntegerField(default=0, editable=False)),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='important_dates', to='people.person')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='DuplicateDismissal',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='CustomFieldValue',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('value', models.JSONField()),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('template', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='values', to='people.customfieldtemplate')),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='custom_field_values', to='people.person')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='RelatedName',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('type_name', models.CharField(max_length=20)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='related_names', to='people.person')),
            ],
        ),
        migrations.CreateModel(
            name='RelationshipType',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
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
        migrations.AddField(
            model_name='person',
            name='relationship_to_user',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.relationshiptype'),
        ),
        migrations.CreateModel(
            name='StoredPhoto',
            fields=[
                ('name', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('size', models.PositiveIntegerField()),
                ('busy_until', models.DateTimeField(blank=True, null=True)),
                ('is_being_deleted', models.BooleanField(default=False)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ValueWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=40)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('value', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='words', to='people.customfieldvalue')),
            ],
        ),
        migrations.CreateModel(
            name='AccountCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('key', models.CharField(max_length=36)),
                ('number', models.BigIntegerField()),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('key', '')), fields=['kind', 'number'], name='account_count_whole')],
                'constraints': [models.UniqueConstraint(fields=('owner', 'kind', 'key'), name='account_count_once')],
            },
        ),
        migrations.AddIndex(
            model_name='contactimport',
            index=models.Index(fields=['owner', 'created_at', 'id'], name='contact_import_list'),
        ),
        migrations.AddConstraint(
            model_name='contactimport',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ['csv', 'google', 'outlook', 'linkedin', 'monica', 'nametag', 'vcard'])), name='contact_import_source_known'),
        ),
        migrations.AddIndex(
            model_name='customfieldtemplate',
            index=models.Index(fields=['owner', 'revision', 'id'], name='template_feed'),
        ),
        migrations.AddIndex(
            model_name='customfieldtemplate',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='template_trash'),
        ),
        migrations.AddConstraint(
            model_name='customfieldtemplate',
            constraint=models.CheckConstraint(condition=models.Q(('type__in', ['TEXT', 'NUMBER', 'BOOLEAN', 'SELECT'])), name='template_type_known'),
        ),
        migrations.AddConstraint(
            model_name='customfieldtemplate',
            constraint=models.UniqueConstraint(fields=('owner', 'slug'), name='template_slug_unique'),
        ),
        migrations.AddIndex(
            model_name='geocodedaddress',
            index=models.Index(condition=models.Q(('state', 'pending')), fields=['next_try_at'], name='geocoded_address_due'),
        ),
        migrations.AddIndex(
            model_name='geocodedaddress',
            index=models.Index(condition=models.Q(('is_copied', False)), fields=['owner'], name='geocoded_address_copying'),
        ),
        migrations.AddIndex(
            model_name='geocodedaddress',
            index=models.Index(condition=models.Q(('state', 'done'), _negated=True), fields=['state', 'id'], name='geocoded_address_open'),
        ),
        migrations.AddConstraint(
            model_name='geocodedaddress',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'skipped', 'done', 'failed'])), name='geocoded_address_state_known'),
        ),
        migrations.AddConstraint(
            model_name='geocodedaddress',
            constraint=models.UniqueConstraint(fields=('owner', 'key'), name='geocoded_address_once'),
        ),
        migrations.AddIndex(
            model_name='group',
            index=models.Index(fields=['owner', 'revision', 'id'], name='group_feed'),
        ),
        migrations.AddIndex(
            model_name='group',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='group_trash'),
        ),
        migrations.AddConstraint(
            model_name='group',
            constraint=models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('owner', 'name_key'), name='group_name_unique'),
        ),
        migrations.AddConstraint(
            model_name='group',
            constraint=models.CheckConstraint(condition=models.Q(('contact_interval_unit__in', ['DAYS', 'WEEKS', 'MONTHS', 'YEARS'])), name='group_contact_interval_unit_known'),
        ),
        migrations.AddConstraint(
            model_name='group',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('contact_interval', None), ('contact_interval_unit', None)), models.Q(('contact_interval__isnull', False), ('contact_interval_unit__isnull', False)), _connector='OR'), name='group_contact_interval_has_unit'),
        ),
        migrations.AddIndex(
            model_name='awaitedmember',
            index=models.Index(fields=['owner', 'uid_key'], name='awaited_member_uid'),
        ),
        migrations.AddConstraint(
            model_name='awaitedmember',
            constraint=models.UniqueConstraint(fields=('group', 'uid_key'), name='awaited_member_once'),
        ),
        migrations.AddIndex(
            model_name='importedrecord',
            index=models.Index(fields=['owner', 'created_at'], name='imported_record_age'),
        ),
        migrations.AddConstraint(
            model_name='importedrecord',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['person', 'group', 'interaction', 'relationship'])), name='imported_record_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='importedrecord',
            constraint=models.UniqueConstraint(fields=('contact_import', 'kind', 'record_id'), name='imported_record_once'),
        ),
        migrations.AddIndex(
            model_name='interaction',
            index=models.Index(fields=['owner', 'revision', 'id'], name='interaction_feed'),
        ),
        migrations.AddIndex(
            model_name='interaction',
            index=models.Index(fields=['owner', 'at', 'id'], name='interaction_list'),
        ),
        migrations.AddIndex(
            model_name='interaction',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='interaction_trash'),
        ),
        migrations.AddIndex(
            model_name='interaction',
            index=models.Index(condition=models.Q(('counts_at__isnull', False)), fields=['counts_at'], name='interaction_ahead'),
        ),
        migrations.AddConstraint(
            model_name='interaction',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['CALL', 'MESSAGE', 'EMAIL', 'MEETING', 'GIFT', 'NOTE', 'OTHER'])), name='interaction_kind_known'),
        ),
        migrations.AddIndex(
            model_name='interactionword',
            index=models.Index(fields=['owner', 'key', 'interaction'], name='interaction_word', opclasses=['uuid_ops', 'varchar_pattern_ops', 'uuid_ops']),
        ),
        migrations.AddIndex(
            model_name='participation',
            index=models.Index(fields=['owner', 'person', 'at', 'interaction'], name='participation_of_person'),
        ),
        migrations.AddConstraint(
            model_name='participation',
            constraint=models.UniqueConstraint(fields=('interaction', 'person'), name='participation_once'),
        ),
        migrations.AddIndex(
            model_name='mergerecord',
            index=models.Index(fields=['owner', 'created_at'], name='merge_record_age'),
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
            index=models.Index(fields=['owner', 'kind', 'key', 'person'], name='lookup_key', opclasses=['uuid_ops', 'int2_ops', 'varchar_pattern_ops', 'uuid_ops']),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(fields=['owner', 'revision', 'id'], name='important_date_feed'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(fields=['owner', 'person'], name='important_date_owner'),
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
            model_name='importantdate',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='important_date_trash'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(condition=models.Q(('deleted_at', None), ('reminder_enabled', True), ('type', None)), fields=['owner', 'month_day'], name='important_date_own_rule'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(condition=models.Q(('next_due_at__isnull', False)), fields=['next_due_at'], name='important_date_due'),
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
            model_name='importantdate',
            constraint=models.UniqueConstraint(condition=models.Q(('deleted_at', None), ('type__isnull', False)), fields=('person', 'type'), name='important_date_type_once'),
        ),
        migrations.AddIndex(
            model_name='duplicatedismissal',
            index=models.Index(fields=['owner', 'revision', 'id'], name='dismissal_feed'),
        ),
        migrations.AddIndex(
            model_name='duplicatedismissal',
            index=models.Index(fields=['owner'], name='duplicate_dismissal_owner'),
        ),
        migrations.AddConstraint(
            model_name='duplicatedismissal',
            constraint=models.UniqueConstraint(fields=('first', 'second'), name='duplicate_dismissal_once'),
        ),
        migrations.AddConstraint(
            model_name='duplicatedismissal',
            constraint=models.CheckConstraint(condition=models.Q(('first__lt', models.F('second'))), name='duplicate_dismissal_order'),
        ),
        migrations.AddIndex(
            model_name='customfieldvalue',
            index=models.Index(fields=['owner', 'person'], name='custom_value_owner'),
        ),
        migrations.AddConstraint(
            model_name='customfieldvalue',
            constraint=models.UniqueConstraint(fields=('person', 'template'), name='custom_value_once'),
        ),
        migrations.AddIndex(
            model_name='relatedname',
            index=models.Index(fields=['owner', 'id'], name='related_name_order'),
        ),
        migrations.AddIndex(
            model_name='relationshiptype',
            index=models.Index(fields=['owner', 'revision', 'id'], name='relationship_type_feed'),
        ),
        migrations.AddIndex(
            model_name='relationshiptype',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='relationship_type_trash'),
        ),
        migrations.AddConstraint(
            model_name='relationshiptype',
            constraint=models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('owner', 'name'), name='relationship_type_name_unique'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'revision', 'id'], name='person_feed'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'sort_key', 'id', 'deleted_at'], name='person_name_order'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='person_trash'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['id'], name='person_in_trash'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'uid'], name='person_uid'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('contact_reminder_from__isnull', False)), fields=['contact_reminder_from'], name='person_contact_reminder_from'),
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
            index=models.Index(condition=models.Q(('without_groups', True)), fields=['owner', 'sort_key', 'id'], name='person_without_groups'),
        ),
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
            index=models.Index(condition=models.Q(('quiet', True)), fields=['owner', 'sort_key', 'id'], name='person_quiet'),
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
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'next_date_until'], name='person_next_date_known'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['next_date_until'], name='person_next_date_passed'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('contact_due_on__isnull', False), ('deleted_at', None)), fields=['owner', 'contact_due_on'], name='person_contact_reminder'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('contact_due_at__isnull', False)), fields=['contact_due_at'], name='person_contact_due'),
        ),
        migrations.AddConstraint(
            model_name='person',
            constraint=models.CheckConstraint(condition=models.Q(('contact_reminder_interval_unit__in', ['DAYS', 'WEEKS', 'MONTHS', 'YEARS'])), name='person_contact_reminder_interval_unit_known'),
        ),
        migrations.AddIndex(
            model_name='valueword',
            index=models.Index(fields=['owner', 'key', 'value'], name='value_word', opclasses=['uuid_ops', 'varchar_pattern_ops', 'uuid_ops']),
        ),
    ]
