from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0010_lease_account_mails'),
    ]

    operations = [
        migrations.RenameModel(old_name='DoomedFile', new_name='PendingFileDeletion'),
        migrations.RenameModel(old_name='RegistrationTurn', new_name='RegistrationLock'),
    ]
