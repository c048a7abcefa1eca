"""Rows carry the revision of the write that changed them last; those that are there, their account's."""

from django.conf import settings
from django.db import migrations, models

_FILL = "UPDATE {table} SET revision = (SELECT revision FROM accounts_user u WHERE u.id = {table}.owner_id)"
_TABLES = ("notifications_destination", )


class Migration(migrations.Migration):

    dependencies = [
        ('notifications', '0007_release_ended_deliveries'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='destination',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddIndex(
            model_name='destination',
            index=models.Index(fields=['owner', 'revision', 'id'], name='destination_feed'),
        ),
        *(migrations.RunSQL(_FILL.format(table=table), migrations.RunSQL.noop) for table in _TABLES),
    ]
