"""Rows of an account are found by an index that goes on after the owner, never by one that ends there."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0015_bytes_of_photos'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='importantdate',
            name='important_date_of_year',
        ),
        migrations.RemoveIndex(
            model_name='importantdate',
            name='important_date_ahead',
        ),
        migrations.RemoveIndex(
            model_name='person',
            name='person_name_order',
        ),
        migrations.RemoveIndex(
            model_name='person',
            name='person_trash',
        ),
        migrations.AlterField(
            model_name='customfieldvalue',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='importantdate',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='lookupkey',
            name='owner',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='membership',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='person',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(fields=['owner', 'month_day'], name='important_date_of_year'),
        ),
        migrations.AddIndex(
            model_name='importantdate',
            index=models.Index(fields=['owner', 'date'], name='important_date_ahead'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(fields=['owner', 'sort_key', 'id', 'deleted_at'], name='person_name_order'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='person_trash'),
        ),
    ]
