"""Leases for the mails about destinations that were switched off, so that a killed process loses none."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('notifications', '0016_filters_of_operators'),
    ]

    operations = [
        migrations.AddField(
            model_name='destination',
            name='claim',
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='destination',
            name='held_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='destination',
            name='holder',
            field=models.CharField(blank=True, max_length=150),
        ),
    ]
