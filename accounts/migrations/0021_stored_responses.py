from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0020_filters_of_operators'),
    ]

    operations = [
        migrations.RenameModel(old_name='KeptAnswer', new_name='StoredResponse'),
        migrations.RenameIndex(model_name='storedresponse', old_name='kept_answer_age', new_name='stored_response_age'),
        migrations.RemoveConstraint(model_name='storedresponse', name='kept_answer_once'),
        migrations.AddConstraint(
            model_name='storedresponse',
            constraint=models.UniqueConstraint(fields=('owner', 'name'), name='stored_response_once'),
        ),
    ]
