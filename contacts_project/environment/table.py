"""Every setting: its name, what it may be, its default and what it means. docs/settings.md is made from this table."""

from dataclasses import dataclass
from pathlib import Path

from contacts_project.environment import kinds, servers
from contacts_project.environment.kinds import BOOLEAN, NUMBER, TEXT, Kind, choice, whole_number

BASE_DIR = Path(__file__).resolve().parent.parent.parent
MIB = 1024 * 1024
PLAN_LIMITS = (
    '{"FREE": {"people": 50, "groups": 10, "reminders": 5, "templates": 1}, '
    '"PERSONAL": {"people": 1000, "groups": 500, "reminders": 100, "templates": 20}, "PRO": {}}'
)


@dataclass(frozen=True)
class Setting:
    """One variable. `default` is read like a value of it; `unset` says in words what counts where there is none."""

    name: str
    kind: Kind
    default: str
    meaning: str
    unset: str = ""
    is_secret: bool = False
    holds_password: bool = False


SECTIONS: dict[str, tuple[Setting, ...]] = {
    "Where it runs": (
        Setting("HOST", kinds.HOST, "127.0.0.1", "where `make run` listens; `0.0.0.0` for every address"),
        Setting("PORT", whole_number(1, 65535), "8000", "where `make run` listens"),
        Setting(
            "BASE_URL",
            kinds.WEB_ADDRESS,
            "",
            "links in mails, OIDC callback, allowed host and origin; `https://` makes cookies secure and sends HSTS",
            unset="`http://127.0.0.1:$PORT`",
        ),
        Setting(
            "APP_URL",
            kinds.PERSON_ADDRESS,
            "",
            "address of a person in your client, with `{id}`: `https://app.example.org/people/{id}`; links in mails, "
            "ntfy and push lead there",
            unset="none: pages of our own",
        ),
        Setting(
            "ALLOWED_HOSTS",
            kinds.ALLOWED_HOSTS,
            "",
            "further hosts that requests may come under: the name or address that you type into the browser",
            unset="the host of `BASE_URL`, and loopback",
        ),
        Setting(
            "CORS_ALLOWED_ORIGINS",
            kinds.ORIGINS,
            "",
            "origins of browser clients elsewhere; they may write with the session too",
            unset="none",
        ),
        Setting(
            "SESSION_SAMESITE",
            choice("Lax", "Strict", "None"),
            "Lax",
            "when browsers send the cookies of session and CSRF; `None` for a client on another site, only with https: "
            "see [running](running.md#a-client-on-another-site)",
        ),
        Setting(
            "TRUSTED_PROXY_COUNT",
            whole_number(0),
            "0",
            "proxies in front that append to `X-Forwarded-For`; the client's address is counted from the right",
        ),
        Setting(
            "DATA_DIR",
            kinds.FOLDER,
            str(BASE_DIR / "data"),
            "embedded database and broker, photos, generated keys; `manage.py` and `make run` need the same",
            unset="`./data` beside `manage.py`",
        ),
        Setting(
            "DATABASE_URL",
            servers.DATABASE,
            "",
            "the database",
            unset="SQLite in `DATA_DIR`",
            holds_password=True,
        ),
        Setting(
            "PHOTO_STORAGE",
            servers.OBJECT_STORE,
            "",
            "an S3-compatible store, `s3://key:secret@host:port/bucket?region=`: see [photos](photos.md)",
            unset="`media` in `DATA_DIR`",
            holds_password=True,
        ),
        Setting("CONN_MAX_AGE", whole_number(0), "60", "seconds that a thread keeps its connection to the database"),
        Setting(
            "REDIS_URL",
            servers.REDIS,
            "",
            "Celery broker and cache",
            unset="none: embedded broker, cache in memory",
            holds_password=True,
        ),
        Setting(
            "WEB_WORKERS",
            whole_number(1, 64),
            "",
            "web processes of `manage.py serve`",
            unset="`1`, with Redis `2`",
        ),
        Setting(
            "LOG_LEVEL",
            choice("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
            "INFO",
            "of the JSON lines on standard error",
        ),
        Setting(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            kinds.WEB_ADDRESS,
            "",
            "a collector of OpenTelemetry traces: see [monitoring](monitoring.md#traces)",
            unset="none: no traces",
        ),
        Setting("DEBUG", BOOLEAN, "false", "Django's debug pages; never where strangers come"),
    ),
    "Secrets": (
        Setting(
            "SECRET_KEY",
            TEXT,
            "",
            "signs sessions, mailed links, unsubscribe links, the actions of reminders, recovery codes and the ids of "
            "imported records: changing it ends all of them",
            unset="made in `DATA_DIR/keys.json` at the first start, unless both are set",
            is_secret=True,
        ),
        Setting(
            "ENCRYPTION_KEYS",
            kinds.ENCRYPTION_KEYS,
            "",
            "ring of keys for stored secrets (TOTP, destinations); `manage.py rotate_encryption` re-encrypts",
            unset="made there too",
            is_secret=True,
        ),
        Setting(
            "BACKUP_KEY",
            kinds.FERNET_KEY,
            "",
            "`manage.py backup` encrypts with it, and `restore` opens with it: see [backup](backup.md)",
            unset="none: backups are not encrypted",
            is_secret=True,
        ),
        Setting(
            "CRON_SECRET",
            TEXT,
            "",
            "bearer of `GET /api/cron/carddav-sync`",
            unset="none: the cron endpoint answers 401",
            is_secret=True,
        ),
        Setting(
            "METRICS_TOKEN",
            TEXT,
            "",
            "bearer of `GET /metrics` ([monitoring](monitoring.md))",
            unset="none: `/metrics` answers 401",
            is_secret=True,
        ),
    ),
    "Accounts": (
        Setting(
            "REGISTRATION",
            choice("open", "first", "closed"),
            "open",
            "`first`: only the first account, which becomes the operator's",
        ),
        Setting(
            "EMAIL_VERIFICATION",
            choice("optional", "mandatory"),
            "optional",
            "`mandatory`: nobody signs in before the address is verified, and registration does not tell whether an "
            "address is taken",
        ),
        Setting("TIME_ZONE", kinds.TIME_ZONE, "UTC", "of new accounts that name none"),
        Setting("SAAS_MODE", BOOLEAN, "false", "`true`: plans limit accounts; else every account counts as PRO"),
        Setting("PLAN_LIMITS", kinds.PLAN_LIMITS, PLAN_LIMITS, "what plans allow; what is not named is unlimited"),
        Setting(
            "OIDC_ISSUER",
            kinds.WEB_ADDRESS,
            "",
            "the issuer's URL, as its metadata spell it",
            unset="none: no provider",
        ),
        Setting(
            "OIDC_CLIENT_ID",
            TEXT,
            "",
            "as registered there, with the redirect URI `$BASE_URL/api/auth/oidc/callback`",
            unset="none",
        ),
        Setting(
            "OIDC_CLIENT_SECRET",
            TEXT,
            "",
            "as registered there; a public client has none",
            unset="none",
            is_secret=True,
        ),
        Setting("OIDC_NAME", TEXT, "", "what the button says", unset="the issuer's host"),
        Setting(
            "OIDC_APP_REDIRECT_URIS",
            kinds.REDIRECT_URIS,
            "",
            "where a sign-in may lead back to an app: `http://127.0.0.1/callback` (any port), "
            "`com.example.app:/callback`, `https://app.example.org/callback`: see "
            "[accounts](accounts.md#back-to-an-app)",
            unset="none: browsers only",
        ),
    ),
    "Mail": (
        Setting("EMAIL_URL", servers.MAIL, "console", "the server that takes our mail", holds_password=True),
        Setting(
            "DEFAULT_FROM_EMAIL",
            kinds.SENDER,
            "",
            "sender of all mails",
            unset="`Contact network <contacts@...>`, at the host of `BASE_URL`",
        ),
    ),
    "Reminders and retention": (
        Setting("REMINDER_CATCH_UP_DAYS", whole_number(0), "3", "how late a reminder that was missed is still sent"),
        Setting("REMINDER_LATE_MINUTES", whole_number(0), "60", "from when on it is marked late"),
        Setting("DELIVERY_LEASE_SECONDS", whole_number(1), "60", "how long a delivery under way is nobody else's"),
        Setting("DELIVERY_HISTORY_DAYS", whole_number(1), "90", "how long the history of deliveries is kept"),
        Setting("RETENTION_DAYS", whole_number(1), "30", "how long what was deleted can be restored"),
    ),
    "The network beyond this machine": (
        Setting(
            "OUTBOUND_ALLOWED_NETWORKS",
            kinds.NETWORKS,
            "",
            "private networks that destinations, CardDAV, geocoder and OIDC may be in: `127.0.0.0/8,192.168.0.0/16`",
            unset="none",
        ),
        Setting("OUTBOUND_ALLOWED_PORTS", kinds.PORTS, "", "ports beyond 80 and 443", unset="none"),
        Setting(
            "OUTBOUND_CA_FILE",
            kinds.AUTHORITIES,
            "",
            "private authorities, beside the system's",
            unset="the system's",
        ),
        Setting(
            "OUTBOUND_CALLS_PER_HOST",
            whole_number(1),
            "",
            "reminders under way to one host at once, from each worker process",
            unset="three quarters of its threads",
        ),
        Setting(
            "OUTBOUND_CALLS_PER_SECOND",
            whole_number(1),
            "",
            "reminders that one host gets in a second, from all processes together",
            unset="no bound",
        ),
        Setting(
            "VAPID_PUBLIC_KEY",
            kinds.VAPID_PUBLIC_KEY,
            "",
            "`manage.py vapid_keys` makes a pair",
            unset="none: push is off",
        ),
        Setting(
            "VAPID_PRIVATE_KEY",
            kinds.VAPID_PRIVATE_KEY,
            "",
            "the other half",
            unset="none: push is off",
            is_secret=True,
        ),
        Setting("VAPID_SUBJECT", kinds.CONTACT, "", "whom push services may ask about us", unset="the sender of mails"),
        Setting("GEOCODER_URL", kinds.WEB_ADDRESS, "", "a Nominatim", unset="none: geocoding is off"),
        Setting("GEOCODER_INTERVAL_SECONDS", NUMBER, "1.05", "pause between two requests to it"),
    ),
    "Limits of bodies": (
        Setting("MAX_JSON_BYTES", whole_number(1), str(MIB), "JSON bodies"),
        Setting("MAX_MCP_BYTES", whole_number(1), str(256 * 1024), "messages of assistants to `/mcp`"),
        Setting("MAX_IMPORT_BYTES", whole_number(1), str(20 * MIB), "`POST /api/user/import`, `POST /api/import/...`"),
        Setting("MAX_VCARD_BYTES", whole_number(1), str(10 * MIB), "vCard files"),
        Setting("MAX_PHOTO_BYTES", whole_number(1), str(20 * MIB), "photos"),
    ),
}
SETTINGS = tuple(setting for section in SECTIONS.values() for setting in section)
