from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        import accounts.checks  # noqa: PLC0415 - registers the findings of doctor
        import accounts.invariants  # noqa: PLC0415 - as above, with --deep
        import accounts.receivers  # noqa: F401, PLC0415 - connects the receivers once the models are loaded
        from accounts.api.serializers.user import profile_record  # noqa: PLC0415 - as above
        from accounts.feed.kinds import register_feed_settings  # noqa: PLC0415 - as above
        from accounts.transfer.sections import leave_out  # noqa: PLC0415 - as above

        for label in (
            "ApiToken",
            "AccountSession",
            "KnownDevice",
            "TotpDevice",
            "RecoveryCode",
            "OidcIdentity",
            "AppCode",
        ):
            leave_out(f"accounts.{label}", "A way to sign in here; secrets are not exported.")
        leave_out("accounts.EmailChange", "The address is the instance's, and so is what may be taken back of it.")
        leave_out("accounts.AccountMail", "A mail that this instance is about to send.")
        register_feed_settings(profile_record)
        leave_out("accounts.StoredResponse", "Responses that this instance replays for a day.")
