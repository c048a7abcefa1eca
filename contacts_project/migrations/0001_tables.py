"""The tables of what no app owns."""

import django.db.models.manager
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='PendingMessage',
            fields=[
                ('key', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('enqueued_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='BudgetUse',
            fields=[
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('drawn_at', models.JSONField(default=list)),
                ('ends_at', models.DateTimeField(db_index=True)),
                ('drawn_for', models.CharField(blank=True, max_length=64)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('drawn_for', ''), _negated=True), fields=['drawn_for'], name='budget_drawn_for')],
            },
        ),
        migrations.CreateModel(
            name='DailyCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('name', models.CharField(max_length=20)),
                ('key', models.CharField(blank=True, max_length=80)),
                ('number', models.BigIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('name', 'day', 'key'), name='daily_count_once')],
            },
        ),
        migrations.CreateModel(
            name='Tombstone',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner_id', models.UUIDField()),
                ('kind', models.CharField(max_length=30)),
                ('record_id', models.UUIDField()),
                ('revision', models.BigIntegerField()),
                ('removed_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['owner_id', 'revision'], name='tombstone_feed'), models.Index(fields=['removed_at'], name='tombstone_age')],
                'constraints': [models.UniqueConstraint(fields=('record_id', 'kind'), name='tombstone_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
