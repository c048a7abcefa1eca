from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sharing", "0002_copies_edited_here")]

    operations = [
        migrations.AddField(
            model_name="writeorigin",
            name="holder",
            field=models.CharField(blank=True, db_default="", default="", max_length=150),
        ),
    ]
