from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0032_own_rules_by_day'),
    ]

    operations = [
        migrations.RenameField(model_name='storedphoto', old_name='is_going', new_name='is_being_deleted'),
    ]
