"""Relationship types move here from the app above. State only: the table, its indexes and triggers stay as they are."""

from typing import Any

import contacts_project.kernel.api.ids
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


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


class Migration(migrations.Migration):

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
                        ('id', models.UUIDField(default=contacts_project.kernel.api.ids.new_id, editable=False, primary_key=True, serialize=False)),
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
