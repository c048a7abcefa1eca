"""Relationship types have moved to people (people.0013). State only."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0013_relationship_types_of_people'),
        ('relationships', '0005_revisions_of_rows'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name='relationship',
                    name='relationship_type',
                    field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.relationshiptype'),
                ),
                migrations.DeleteModel(
                    name='RelationshipType',
                ),
            ],
        ),
    ]
