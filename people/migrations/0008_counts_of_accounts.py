import django.db.models.deletion
import people.models.important_date
from django.conf import settings
from django.db import migrations, models


def count(apps, schema_editor):
    from people.counts import COUNTED_OF_PEOPLE, recount

    with schema_editor.connection.cursor() as cursor:
        recount(cursor, COUNTED_OF_PEOPLE)


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0007_uid_is_never_null'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AccountCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('key', models.CharField(max_length=36)),
                ('number', models.IntegerField()),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('owner', 'kind', 'key'), name='account_count_once'),
                ],
            },
        ),
        migrations.AddField(
            model_name='importantdate',
            name='month_day',
            field=models.GeneratedField(db_persist=True, expression=people.models.important_date.MonthDay('date'), output_field=models.SmallIntegerField()),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(condition=models.Q(('deleted_at', None)), fields=['owner', 'month_day'], name='important_date_of_year'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(condition=models.Q(('deleted_at', None), ('reminder_enabled', True), ('type', None)), fields=['owner'], name='important_date_own_rule'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(condition=models.Q(('deleted_at', None)), fields=['owner', 'date'], name='important_date_ahead'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('contact_due_on__isnull', False), ('deleted_at', None)), fields=['owner', 'contact_due_on'], name='person_contact_reminder'),
        ),
        migrations.RunPython(count, migrations.RunPython.noop),
    ]
