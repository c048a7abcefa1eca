"""The steps by which the tables of what no app owns came to be what 0001_tables makes of nothing.

For databases and backups of before the first release, which may have some of these steps only: the others run
(contacts_project.kernel.database.earlier_migrations).
"""

import django.db.models.manager
from django.db import migrations, models


class Step0001(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='BudgetUse',
            fields=[
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('drawn_at', models.JSONField(default=list)),
                ('ends_at', models.DateTimeField(db_index=True)),
            ],
        ),
    ]


class Step0002(migrations.Migration):

    dependencies = [
        ('contacts_project', '0001_budgets'),
    ]

    operations = [
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


class Step0003(migrations.Migration):

    dependencies = [
        ('contacts_project', '0002_tombstones'),
    ]

    operations = [
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
    ]


class Step0004(migrations.Migration):

    dependencies = [
        ('contacts_project', '0003_daily_counts'),
    ]

    operations = [
        migrations.AddField(
            model_name='budgetuse',
            name='drawn_for',
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddIndex(
            model_name='budgetuse',
            index=models.Index(condition=models.Q(('drawn_for', ''), _negated=True), fields=['drawn_for'], name='budget_drawn_for'),
        ),
    ]


class Step0005(migrations.Migration):

    dependencies = [
        ('contacts_project', '0004_forget_draws'),
    ]

    operations = [
        migrations.CreateModel(
            name='PendingMessage',
            fields=[
                ('key', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('enqueued_at', models.DateTimeField()),
            ],
        ),
    ]


STEPS = {
    "0001_budgets": Step0001,
    "0002_tombstones": Step0002,
    "0003_daily_counts": Step0003,
    "0004_forget_draws": Step0004,
    "0005_pending_messages": Step0005,
}
"""By their names, in their order."""
