"""Which accounts copy their people elsewhere. Those of today: carddav.0008."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0014_newest_accounts_first'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='is_mirrored',
            field=models.BooleanField(default=False, editable=False),
        ),
    ]
