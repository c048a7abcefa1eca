from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0010_lease_addresses_and_the_geocoder'),
    ]

    operations = [
        migrations.RenameModel(old_name='GeocoderTurn', new_name='GeocoderPace'),
    ]
