"""Accounts that have a connection already are mirrored; from here on triggers say so."""

from django.db import migrations

_MARK = "UPDATE accounts_user SET is_mirrored = TRUE WHERE id IN (SELECT owner_id FROM carddav_connection)"


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0015_mirrored_accounts'),
        ('carddav', '0007_indexes_for_operators'),
    ]

    operations = [
        migrations.RunSQL(_MARK, migrations.RunSQL.noop),
    ]
