from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('relationships', '0001_initial'),
    ]

    operations = [
        migrations.AlterField(
            model_name='relationshiptype',
            name='inverse',
            field=models.OneToOneField(on_delete=models.deletion.CASCADE, related_name='+', to='relationships.relationshiptype'),
        ),
    ]
