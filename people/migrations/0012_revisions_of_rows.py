"""Rows carry the revision of the write that changed them last; those that are there, their account's."""

from django.conf import settings
from django.db import migrations, models

_FILL = "UPDATE {table} SET revision = (SELECT revision FROM accounts_user u WHERE u.id = {table}.owner_id)"
_TABLES = ("people_person", "people_group", "people_importantdate", "people_customfieldtemplate", "people_duplicatedismissal", )


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0011_name_the_pace_of_the_geocoder'),
        ('relationships', '0004_count_relationships'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='customfieldtemplate',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='duplicatedismissal',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='group',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='importantdate',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddIndex(
            model_name='customfieldtemplate',
            index=models.Index(fields=['owner', 'revision', 'id'], name='template_feed'),
        ),
        migrations.AddIndex(
            model_name='duplicatedismissal',
            index=models.Index(fields=['owner', 'revision', 'id'], name='dismissal_feed'),
        ),
        migrations.AddIndex(
            model_name='group',
            index=models.Index(fields=['owner', 'revision', 'id'], name='group_feed'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(fields=['owner', 'revision', 'id'], name='important_date_feed'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'revision', 'id'], name='person_feed'),
        ),
        *(migrations.RunSQL(_FILL.format(table=table), migrations.RunSQL.noop) for table in _TABLES),
    ]
