from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0001_tables'),
    ]

    operations = [
        migrations.AddField(
            model_name='person',
            name='without_groups',
            field=models.BooleanField(db_default=True, default=True, editable=False),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('without_groups', True)), fields=['owner', 'sort_key', 'id'], name='person_without_groups'),
        ),
    ]
