"""What passed between the user and people; lastContact follows it, and keeps apart what was typed."""

import contacts_project.kernel.api.ids
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

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
                ('id', models.UUIDField(default=contacts_project.kernel.api.ids.new_id, editable=False, primary_key=True, serialize=False)),
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
                ('id', models.UUIDField(default=contacts_project.kernel.api.ids.new_id, editable=False, primary_key=True, serialize=False)),
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
