from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0043_mark_and_count_people_in_groups'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('without_groups', True)), fields=['owner', 'last_contact', 'sort_key', 'id'], name='person_no_group_by_contact'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('without_groups', True)), fields=['owner', 'next_date_on', 'sort_key', 'id'], name='person_no_group_by_next_date'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('without_groups', True)), fields=['owner', 'created_at', 'sort_key', 'id'], name='person_no_group_by_creation'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True), ('without_groups', True)), fields=['owner', 'sort_key', 'id'], name='person_no_group_favourites'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True), ('without_groups', True)), fields=['owner', 'last_contact', 'sort_key', 'id'], name='person_no_group_fav_contact'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True), ('without_groups', True)), fields=['owner', 'next_date_on', 'sort_key', 'id'], name='person_no_group_fav_next_date'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True), ('without_groups', True)), fields=['owner', 'created_at', 'sort_key', 'id'], name='person_no_group_fav_creation'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('quiet', True)), fields=['owner', 'last_contact', 'sort_key', 'id'], name='person_quiet_by_contact'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('quiet', True)), fields=['owner', 'next_date_on', 'sort_key', 'id'], name='person_quiet_by_next_date'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('quiet', True)), fields=['owner', 'created_at', 'sort_key', 'id'], name='person_quiet_by_creation'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('without_groups', True)), fields=['owner', '-created_at', 'sort_key', 'id'], name='person_no_group_newest_first'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True)), fields=['owner', '-created_at', 'sort_key', 'id'], name='person_fav_newest_first'),
        ),
        migrations.AddIndex(
            model_name='person',
            index=models.Index(condition=models.Q(('favourite', True), ('without_groups', True)), fields=['owner', '-created_at', 'sort_key', 'id'], name='person_no_group_fav_newest'),
        ),
    ]
