from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0021_stored_responses'),
    ]

    operations = [
        migrations.RenameField(model_name='storedresponse', old_name='name', new_name='key_digest'),
        migrations.RenameField(model_name='storedresponse', old_name='digest', new_name='content_digest'),
        # RenameField renames the constraint's column in the database, but not in the state of migrations.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint(model_name='storedresponse', name='stored_response_once'),
                migrations.AddConstraint(
                    model_name='storedresponse',
                    constraint=models.UniqueConstraint(fields=('owner', 'key_digest'), name='stored_response_once'),
                ),
            ],
        ),
    ]
