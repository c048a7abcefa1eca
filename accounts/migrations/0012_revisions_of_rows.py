"""The revision that last changed the profile; of accounts that are there, the one that they have."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0011_name_locks_and_file_deletions'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='settings_revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.RunSQL("UPDATE accounts_user SET settings_revision = revision", migrations.RunSQL.noop),
    ]
