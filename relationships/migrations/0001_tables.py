"""The tables of relationships."""

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
            name='AnsweredSuggestion',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('name_on_card', models.CharField(blank=True, max_length=200)),
                ('type_name', models.CharField(max_length=20)),
                ('accepted', models.BooleanField()),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('related_person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            options={
                'abstract': False,
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Relationship',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('notes', models.CharField(blank=True, max_length=1000, null=True)),
                ('inverse', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='relationships.relationship')),
                ('owner', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='relationships', to='people.person')),
                ('related_person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('relationship_type', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.relationshiptype')),
            ],
            options={
                'indexes': [models.Index(fields=['owner', 'revision', 'id'], name='relationship_feed'), models.Index(fields=['owner', 'created_at', 'id'], name='relationship_list'), models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='relationship_trash'), models.Index(fields=['owner', 'person'], name='relationship_owner')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('person', 'related_person', 'relationship_type'), name='relationship_once'), models.UniqueConstraint(condition=models.Q(('deleted_at', None), ('relationship_type', None)), fields=('person', 'related_person'), name='relationship_untyped_once'), models.CheckConstraint(condition=models.Q(('person', models.F('related_person')), _negated=True), name='relationship_not_with_oneself')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
