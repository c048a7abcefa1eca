from django.db import migrations

from people.models.person import UidField


class Migration(migrations.Migration):
    dependencies = [("people", "0006_uid_of_every_person")]

    operations = [
        migrations.AlterField(
            model_name="person",
            name="uid",
            field=UidField(max_length=255),
        ),
    ]
