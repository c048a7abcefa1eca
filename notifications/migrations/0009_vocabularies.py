"""Columns that hold a word of a vocabulary take no other."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('notifications', '0008_revisions_of_rows'),
        ('people', '0014_vocabularies'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['reminder.important_date', 'reminder.important_date_lead', 'reminder.contact', 'digest.weekly', 'test'])), name='delivery_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'sending', 'sent', 'failed', 'skipped'])), name='delivery_state_known'),
        ),
        migrations.AddConstraint(
            model_name='destination',
            constraint=models.CheckConstraint(condition=models.Q(('type__in', ['NTFY', 'WEBHOOK'])), name='destination_type_known'),
        ),
    ]
