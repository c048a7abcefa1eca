"""The tables of the server for devices."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
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
            name='BookCard',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('is_group', models.BooleanField(default=False)),
                ('group_ids', models.JSONField(blank=True, default=list)),
                ('name', models.CharField(max_length=255)),
                ('uid', models.CharField(max_length=255)),
                ('text', models.BinaryField()),
                ('photo', models.CharField(blank=True, default='', max_length=200)),
                ('original', models.CharField(blank=True, default='', max_length=200)),
                ('etag', models.CharField(max_length=32)),
                ('plain_etag', models.CharField(max_length=32)),
                ('read_revision', models.BigIntegerField()),
                ('changed_revision', models.BigIntegerField()),
                ('plain_changed_revision', models.BigIntegerField()),
                ('left_revision', models.BigIntegerField(blank=True, null=True)),
                ('group', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.group')),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.person')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='CollectionProperty',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('collection', models.CharField(max_length=20)),
                ('name', models.CharField(max_length=100)),
                ('value', models.CharField(max_length=200)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Device',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('user_agent', models.CharField(blank=True, default='', max_length=200)),
                ('last_seen_at', models.DateTimeField()),
                ('sent_properties', models.JSONField(blank=True, default=list)),
                ('selected_by', models.JSONField(blank=True, null=True)),
                ('selection_revision', models.BigIntegerField(default=-1)),
                ('selection_changed_revision', models.BigIntegerField(default=0)),
                ('warned_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apitoken')),
            ],
            options={
                'abstract': False,
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='DeviceDeletion',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('token_id', models.UUIDField()),
                ('device_name', models.CharField(max_length=100)),
                ('deleted_at', models.DateTimeField()),
                ('group', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.group')),
                ('interaction', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.interaction')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='FormerText',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('etag', models.CharField(max_length=32)),
                ('text', models.BinaryField()),
                ('photo', models.CharField(blank=True, default='', max_length=200)),
                ('card', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='dav.bookcard')),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='GivenCard',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('etag', models.CharField(max_length=32)),
                ('card', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='dav.bookcard')),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('token', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apitoken')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='ListedAgain',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('etag', models.CharField(max_length=32)),
                ('shown_etag', models.CharField(max_length=32)),
                ('revised', models.CharField(max_length=20)),
                ('revision', models.BigIntegerField()),
                ('card', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='dav.bookcard')),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('token', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apitoken')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Refusal',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('href', models.CharField(max_length=1000)),
                ('reason', models.JSONField()),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.person')),
                ('token', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apitoken')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='ReplacedValue',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('property', models.CharField(max_length=100)),
                ('value', models.JSONField()),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('token', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apitoken')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='SelectedCard',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('entered_revision', models.BigIntegerField()),
                ('left_revision', models.BigIntegerField(blank=True, null=True)),
                ('card', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='dav.bookcard')),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('token', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apitoken')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='TaskSnooze',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('due_before', models.DateField()),
                ('due_on', models.DateField()),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            options={
                'abstract': False,
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='TaskTick',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('ticked_at', models.DateTimeField()),
                ('due_before', models.DateField()),
                ('due_sent', models.DateField(blank=True, null=True)),
                ('interaction', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.interaction')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            options={
                'abstract': False,
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='UnreadTask',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('token', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apitoken')),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Book',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('read_revision', models.BigIntegerField(default=-1)),
                ('changed_revision', models.BigIntegerField(default=0)),
                ('plain_changed_revision', models.BigIntegerField(default=0)),
                ('calendars_revision', models.BigIntegerField(default=-1)),
                ('dates_revision', models.BigIntegerField(default=0)),
                ('tasks_revision', models.BigIntegerField(default=0)),
                ('task_number', models.PositiveIntegerField(default=0)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner',), name='dav_book_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddIndex(
            model_name='bookcard',
            index=models.Index(fields=['owner', 'changed_revision', 'id'], name='dav_card_changed'),
        ),
        migrations.AddIndex(
            model_name='bookcard',
            index=models.Index(fields=['owner', 'plain_changed_revision', 'id'], name='dav_card_plain_changed'),
        ),
        migrations.AddIndex(
            model_name='bookcard',
            index=models.Index(condition=models.Q(('left_revision__isnull', False)), fields=['owner', 'left_revision'], name='dav_card_left'),
        ),
        migrations.AddIndex(
            model_name='bookcard',
            index=models.Index(fields=['owner', 'uid'], name='dav_card_uid'),
        ),
        migrations.AddConstraint(
            model_name='bookcard',
            constraint=models.UniqueConstraint(fields=('owner', 'name'), name='dav_card_name_once'),
        ),
        migrations.AddConstraint(
            model_name='collectionproperty',
            constraint=models.UniqueConstraint(fields=('owner', 'collection', 'name'), name='dav_collection_property_once'),
        ),
        migrations.AddIndex(
            model_name='devicedeletion',
            index=models.Index(fields=['token_id', 'deleted_at'], name='dav_deletion_latest'),
        ),
        migrations.AddConstraint(
            model_name='devicedeletion',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('group', None), ('interaction', None), ('person__isnull', False)), models.Q(('group__isnull', False), ('interaction', None), ('person', None)), models.Q(('group', None), ('interaction__isnull', False), ('person', None)), _connector='OR'), name='dav_deletion_of_one'),
        ),
        migrations.AddConstraint(
            model_name='formertext',
            constraint=models.UniqueConstraint(fields=('card', 'etag'), name='dav_former_text_once'),
        ),
        migrations.AddConstraint(
            model_name='givencard',
            constraint=models.UniqueConstraint(fields=('token', 'card'), name='dav_given_once'),
        ),
        migrations.AddConstraint(
            model_name='listedagain',
            constraint=models.UniqueConstraint(fields=('token', 'card'), name='dav_listed_again_once'),
        ),
        migrations.AddConstraint(
            model_name='refusal',
            constraint=models.UniqueConstraint(fields=('token', 'href'), name='dav_refusal_once'),
        ),
        migrations.AddIndex(
            model_name='replacedvalue',
            index=models.Index(fields=['token', 'created_at'], name='dav_replaced_latest'),
        ),
        migrations.AddIndex(
            model_name='replacedvalue',
            index=models.Index(fields=['owner', 'created_at'], name='dav_replaced_age'),
        ),
        migrations.AddIndex(
            model_name='selectedcard',
            index=models.Index(fields=['token', 'left_revision'], name='dav_selected_left'),
        ),
        migrations.AddConstraint(
            model_name='selectedcard',
            constraint=models.UniqueConstraint(fields=('token', 'card'), name='dav_selected_once'),
        ),
        migrations.AddConstraint(
            model_name='unreadtask',
            constraint=models.UniqueConstraint(fields=('token', 'person'), name='dav_unread_task_once'),
        ),
    ]
