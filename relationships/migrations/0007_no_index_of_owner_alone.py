"""As people.0015; the list in its order, the trash by an index of its own."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0016_no_index_of_owner_alone'),
        ('relationships', '0006_types_are_of_people'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='relationship',
            name='relationship_list',
        ),
        migrations.AlterField(
            model_name='relationship',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='relationship',
            index=models.Index(fields=['owner', 'created_at', 'id'], name='relationship_list'),
        ),
        migrations.AddIndex(
            model_name='relationship',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='relationship_trash'),
        ),
    ]
