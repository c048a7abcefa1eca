"""The day of death, how a name is spoken, and what else a card held."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0019_fill_words_to_find_by'),
    ]

    operations = [
        migrations.AddField(
            model_name='person',
            name='deathday',
            field=models.DateField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='person',
            name='more',
            field=models.JSONField(blank=True, default=list, editable=False),
        ),
        migrations.AddField(
            model_name='person',
            name='phonetic_name',
            field=models.CharField(blank=True, max_length=100, null=True),
        ),
        migrations.AddField(
            model_name='person',
            name='phonetic_surname',
            field=models.CharField(blank=True, max_length=100, null=True),
        ),
    ]
