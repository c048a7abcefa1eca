"""Words of what is known of people, and an index that finds beginnings under any collation."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0017_interactions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='InteractionWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=40)),
                ('interaction', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='words', to='people.interaction')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'key', 'interaction'], name='interaction_word', opclasses=['uuid_ops', 'varchar_pattern_ops', 'uuid_ops']),
                ],
            },
        ),
        migrations.CreateModel(
            name='ValueWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=40)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('value', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='words', to='people.customfieldvalue')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'key', 'value'], name='value_word', opclasses=['uuid_ops', 'varchar_pattern_ops', 'uuid_ops']),
                ],
            },
        ),
        migrations.RemoveIndex(
            model_name='lookupkey',
            name='lookup_key',
        ),
        migrations.AddIndex(
            model_name='lookupkey',
            index=models.Index(fields=['owner', 'kind', 'key', 'person'], name='lookup_key', opclasses=['uuid_ops', 'int2_ops', 'varchar_pattern_ops', 'uuid_ops']),
        ),
    ]
