from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('relationships', '0008_answered_suggestions'),
    ]

    operations = [
        migrations.RenameField(model_name='answeredsuggestion', old_name='named', new_name='name_on_card'),
    ]
