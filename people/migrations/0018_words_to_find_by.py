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
            ],
        ),
        migrations.CreateModel(
            name='ValueWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=40)),
            ],
        ),
        migrations.RemoveIndex(
            model_name='lookupkey',
            name='lookup_key',
        ),
        migrations.AddIndex(
            model_name='lookupkey',
            index=models.Index(fields=['owner', 'kind', 'key', 'person'], name='lookup_key', opclasses=['uuid_ops', 'int2_ops', 'varchar_pattern_ops', 'uuid_ops']),
        ),
        migrations.AddField(
            model_name='interactionword',
            name='interaction',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='words', to='people.interaction'),
        ),
        migrations.AddField(
            model_name='interactionword',
            name='owner',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='valueword',
            name='owner',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='valueword',
            name='value',
            field=models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='words', to='people.customfieldvalue'),
        ),
        migrations.AddIndex(
            model_name='interactionword',
            index=models.Index(fields=['owner', 'key', 'interaction'], name='interaction_word', opclasses=['uuid_ops', 'varchar_pattern_ops', 'uuid_ops']),
        ),
        migrations.AddIndex(
            model_name='valueword',
            index=models.Index(fields=['owner', 'key', 'value'], name='value_word', opclasses=['uuid_ops', 'varchar_pattern_ops', 'uuid_ops']),
        ),
    ]
