"""Rows carry the revision of the write that changed them last; those that are there, their account's."""

from django.conf import settings
from django.db import migrations, models

_FILL = "UPDATE {table} SET revision = (SELECT revision FROM accounts_user u WHERE u.id = {table}.owner_id)"
_TABLES = ("relationships_relationship", "relationships_relationshiptype", )


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0012_revisions_of_rows'),
        ('relationships', '0004_count_relationships'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='relationship',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='relationshiptype',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddIndex(
            model_name='relationship',
            index=models.Index(fields=['owner', 'revision', 'id'], name='relationship_feed'),
        ),
        migrations.AddIndex(
            model_name='relationshiptype',
            index=models.Index(fields=['owner', 'revision', 'id'], name='relationship_type_feed'),
        ),
        *(migrations.RunSQL(_FILL.format(table=table), migrations.RunSQL.noop) for table in _TABLES),
    ]
