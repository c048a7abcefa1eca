from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        import accounts.checks  # noqa: PLC0415 - registers the findings of doctor
        import accounts.invariants  # noqa: PLC0415 - as above, with --deep
        import accounts.tasks  # noqa: F401, PLC0415 - connects the receivers once the models are loaded
        from accounts.api.serializers import profile_record  # noqa: PLC0415 - as above
        from accounts.feed.changes import register_feed_settings  # noqa: PLC0415 - as above
        from accounts.transfer.sections import exclude_table  # noqa: PLC0415 - as above

        for label in (
            "ApiToken",
            "AccountSession",
            "KnownDevice",
            "TotpDevice",
            "RecoveryCode",
            "OidcIdentity",
            "AppCode",
        ):
            exclude_table(f"accounts.{label}", "A way to sign in here; secrets are not exported.")
        exclude_table("accounts.EmailChange", "A change of address can only be taken back on this instance.")
        exclude_table("accounts.AccountMail", "Mails that this instance still has to send.")
        exclude_table(
            "accounts.StoredResponse", "Responses that this instance repeats for Idempotency-Keys during a day."
        )
        register_feed_settings(profile_record)
