"""Every setting: name, kind, default and meaning. docs/settings.md is generated from this table."""

from dataclasses import dataclass
from pathlib import Path

from contacts_project.environment import kinds
from contacts_project.environment.kinds import BOOLEAN, NUMBER, TEXT, SettingKind, choice, whole_number

BASE_DIR = Path(__file__).resolve().parent.parent.parent
MIB = 1024 * 1024
PLAN_LIMITS = (
    '{"FREE": {"people": 50, "groups": 10, "reminders": 5, "templates": 1}, '
    '"PERSONAL": {"people": 1000, "groups": 500, "reminders": 100, "templates": 20}, "PRO": {}}'
)


@dataclass(frozen=True)
class Setting:
    """One variable. `default` is parsed like a value; `unset` describes the default where it is computed."""

    name: str
    kind: SettingKind
    default: str
    meaning: str
    unset: str = ""
    is_secret: bool = False
    holds_password: bool = False


SECTIONS: dict[str, tuple[Setting, ...]] = {
    "Where it runs": (
        Setting(
            "HOST", kinds.HOST, "127.0.0.1", "the address on which `make run` listens; `0.0.0.0` for all addresses"
        ),
        Setting("PORT", whole_number(1, 65535), "8000", "the port on which `make run` listens"),
        Setting(
            "BASE_URL",
            kinds.BASE_URL,
            "",
            "the public URL: for links in mails, the OIDC callback, the allowed host and origin; with `https://` "
            "cookies are secure and HSTS is sent",
            unset="`http://127.0.0.1:$PORT`",
        ),
        Setting(
            "APP_URL",
            kinds.PERSON_URL,
            "",
            "the URL of a person in your client, with `{id}`: `https://app.example.org/people/{id}`; links in mails, "
            "ntfy and push go there",
            unset="none: links go to the client at `/app/`",
        ),
        Setting(
            "ALLOWED_HOSTS",
            kinds.ALLOWED_HOSTS,
            "",
            "further hosts under which the service is called: the names or addresses that you type into the browser",
            unset="the host of `BASE_URL`, and loopback",
        ),
        Setting(
            "CORS_ALLOWED_ORIGINS",
            kinds.ORIGINS,
            "",
            "origins of browser clients on other hosts; they may also write with a session",
            unset="none",
        ),
        Setting(
            "SESSION_SAMESITE",
            choice("Lax", "Strict", "None"),
            "Lax",
            "when browsers send the session and CSRF cookies; `None` for a client on another site, only with https: "
            "see [running](running.md#a-client-on-another-site)",
        ),
        Setting(
            "TRUSTED_PROXY_COUNT",
            whole_number(0),
            "0",
            "the number of proxies that append to `X-Forwarded-For`; the client's address is counted from the right",
        ),
        Setting(
            "DATA_DIR",
            kinds.FOLDER,
            str(BASE_DIR / "data"),
            "folder of the embedded database and broker, photos, keys; `manage.py` and `make run` need the same value",
            unset="`./data` beside `manage.py`",
        ),
        Setting(
            "DATABASE_URL",
            kinds.DATABASE,
            "",
            "the database",
            unset="SQLite in `DATA_DIR`",
            holds_password=True,
        ),
        Setting(
            "PHOTO_STORAGE",
            kinds.OBJECT_STORE,
            "",
            "an S3-compatible store, `s3://key:secret@host:port/bucket?region=`: see [photos](photos.md)",
            unset="`media` in `DATA_DIR`",
            holds_password=True,
        ),
        Setting("CONN_MAX_AGE", whole_number(0), "60", "seconds for which a thread keeps its database connection"),
        Setting(
            "REDIS_URL",
            kinds.REDIS,
            "",
            "server for the Celery broker and the cache",
            unset="none: embedded broker, cache in memory",
            holds_password=True,
        ),
        Setting(
            "WEB_WORKERS",
            whole_number(1, 64),
            "",
            "number of web processes that `manage.py serve` starts",
            unset="`1`, with Redis `2`",
        ),
        Setting(
            "LOG_LEVEL",
            choice("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
            "INFO",
            "minimum level of the JSON log lines on standard error",
        ),
        Setting(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            kinds.WEB_URL,
            "",
            "a collector for OpenTelemetry traces: see [monitoring](monitoring.md#traces)",
            unset="none: no traces",
        ),
        Setting("DEBUG", BOOLEAN, "false", "Django's debug pages; never on a public instance"),
    ),
    "Secrets": (
        Setting(
            "SECRET_KEY",
            TEXT,
            "",
            "signs sessions, mailed links, unsubscribe links, the actions of reminders, recovery codes and the ids of "
            "imported records: a change invalidates all of them",
            unset="generated in `DATA_DIR/keys.json` at the first start, unless both keys are set",
            is_secret=True,
        ),
        Setting(
            "ENCRYPTION_KEYS",
            kinds.ENCRYPTION_KEYS,
            "",
            "keys for stored secrets (TOTP, destinations); `manage.py rotate_encryption` re-encrypts with the newest",
            unset="generated there too",
            is_secret=True,
        ),
        Setting(
            "BACKUP_KEY",
            kinds.FERNET_KEY,
            "",
            "`manage.py backup` encrypts with it, and `restore` decrypts with it: see [backup](backup.md)",
            unset="none: backups are not encrypted",
            is_secret=True,
        ),
        Setting(
            "CARDDAV_RUN_SECONDS",
            whole_number(10, 24 * 3600),
            "900",
            "seconds that one sync may take with its server; then it ends with `timeout`, and the next goes on",
        ),
        Setting(
            "CRON_SECRET",
            TEXT,
            "",
            "bearer token of `GET /api/cron/carddav-sync`",
            unset="none: the cron endpoint answers 401",
            is_secret=True,
        ),
        Setting(
            "METRICS_TOKEN",
            TEXT,
            "",
            "bearer token of `GET /metrics` ([monitoring](monitoring.md))",
            unset="none: `/metrics` answers 401",
            is_secret=True,
        ),
    ),
    "Accounts": (
        Setting(
            "REGISTRATION",
            choice("open", "first", "closed"),
            "open",
            "who may register; `first`: only the first account, which is the operator's",
        ),
        Setting(
            "EMAIL_VERIFICATION",
            choice("optional", "mandatory"),
            "optional",
            "`mandatory`: nobody can sign in before the address is verified, and registration does not reveal whether "
            "an address has an account",
        ),
        Setting("TIME_ZONE", kinds.TIME_ZONE, "UTC", "time zone of new accounts that send none"),
        Setting("SAAS_MODE", BOOLEAN, "false", "`true`: plans limit accounts; otherwise every account counts as PRO"),
        Setting(
            "PLAN_LIMITS", kinds.PLAN_LIMITS, PLAN_LIMITS, "the limits of the plans; a missing one means unlimited"
        ),
        Setting(
            "OIDC_ISSUER",
            kinds.WEB_URL,
            "",
            "the issuer's URL, exactly as in its metadata",
            unset="none: no provider",
        ),
        Setting(
            "OIDC_CLIENT_ID",
            TEXT,
            "",
            "the client id registered there, with the redirect URI `$BASE_URL/api/auth/oidc/callback`",
            unset="none",
        ),
        Setting(
            "OIDC_CLIENT_SECRET",
            TEXT,
            "",
            "the client secret registered there; a public client has none",
            unset="none",
            is_secret=True,
        ),
        Setting("OIDC_NAME", TEXT, "", "label of the sign-in button", unset="the issuer's host"),
        Setting(
            "OIDC_APP_REDIRECT_URIS",
            kinds.REDIRECT_URIS,
            "",
            "redirect URIs of apps to which a sign-in may return: `http://127.0.0.1/callback` (any port), "
            "`com.example.app:/callback`, `https://app.example.org/callback`: see "
            "[accounts](accounts.md#back-to-an-app)",
            unset="none: browsers only",
        ),
    ),
    "Mail": (
        Setting("EMAIL_URL", kinds.MAIL, "console", "the server that sends the service's mail", holds_password=True),
        Setting(
            "DEFAULT_FROM_EMAIL",
            kinds.SENDER,
            "",
            "the sender of all mails",
            unset="`Contact network <contacts@...>`, at the host of `BASE_URL`",
        ),
        Setting(
            "EMAIL_DOMAIN",
            kinds.HOST,
            "",
            "the name by which mail servers know this service, in EHLO and in Message-IDs; strict ones refuse a name "
            "without a period",
            unset="the host of `BASE_URL`",
        ),
    ),
    "Reminders and retention": (
        Setting("REMINDER_CATCH_UP_DAYS", whole_number(0), "3", "for how many days a missed reminder is still sent"),
        Setting("REMINDER_LATE_MINUTES", whole_number(0), "60", "after how many minutes a reminder is marked as late"),
        Setting(
            "DELIVERY_LEASE_SECONDS",
            whole_number(1),
            "60",
            "for how many seconds a worker holds a delivery before another one may take it over",
        ),
        Setting("DELIVERY_HISTORY_DAYS", whole_number(1), "90", "for how many days the history of deliveries is kept"),
        Setting("RETENTION_DAYS", whole_number(1), "30", "for how many days deleted records can be restored"),
    ),
    "The network beyond this machine": (
        Setting(
            "OUTBOUND_ALLOWED_NETWORKS",
            kinds.NETWORKS,
            "",
            "private networks in which destinations, CardDAV, geocoder and OIDC may be: `127.0.0.0/8,192.168.0.0/16`",
            unset="none",
        ),
        Setting("OUTBOUND_ALLOWED_PORTS", kinds.PORTS, "", "allowed ports other than 80 and 443", unset="none"),
        Setting(
            "OUTBOUND_CA_FILE",
            kinds.CA_FILE,
            "",
            "certificates of private authorities, which are trusted in addition to the system's",
            unset="only the system's",
        ),
        Setting(
            "OUTBOUND_CALLS_PER_HOST",
            whole_number(1),
            "",
            "how many reminders each worker process sends to one host at a time",
            unset="three quarters of its threads",
        ),
        Setting(
            "OUTBOUND_CALLS_PER_SECOND",
            whole_number(1),
            "",
            "how many reminders all processes together send to one host per second",
            unset="no limit",
        ),
        Setting(
            "VAPID_PUBLIC_KEY",
            kinds.VAPID_PUBLIC_KEY,
            "",
            "the public key for browser push; `manage.py vapid_keys` generates a pair",
            unset="generated in `DATA_DIR/vapid.json` at the first start",
        ),
        Setting(
            "VAPID_PRIVATE_KEY",
            kinds.VAPID_PRIVATE_KEY,
            "",
            "the private key of the pair",
            unset="generated in `DATA_DIR/vapid.json` at the first start",
            is_secret=True,
        ),
        Setting(
            "VAPID_SUBJECT",
            kinds.CONTACT_URL,
            "",
            "contact of the operator for push services",
            unset="`BASE_URL` if it is https, else the address of the first operator",
        ),
        Setting("GEOCODER_URL", kinds.WEB_URL, "", "the URL of a Nominatim server", unset="none: geocoding is off"),
        Setting("GEOCODER_INTERVAL_SECONDS", NUMBER, "1.05", "seconds between two requests to it"),
        Setting(
            "MAP_TILES_URL",
            kinds.TILES_URL,
            "",
            "the URL of the tiles of the map, such as `https://tiles.example.org/{z}/{x}/{y}.png`; browsers of users "
            "request them there, so whoever serves them learns which places are looked at: see "
            "[geocoding](geocoding.md#the-map-in-the-client)",
            unset="none: the map shows coastlines and towns, and nothing leaves this instance",
        ),
        Setting(
            "MAP_TILES_ATTRIBUTION",
            kinds.TEXT,
            "© OpenStreetMap contributors",
            "whom the map names as the source of its tiles, as their licence asks",
        ),
    ),
    "Limits of bodies": (
        Setting("MAX_JSON_BYTES", whole_number(1), str(MIB), "limit for JSON bodies"),
        Setting("MAX_MCP_BYTES", whole_number(1), str(256 * 1024), "limit for messages of assistants to `/mcp`"),
        Setting(
            "MAX_IMPORT_BYTES",
            whole_number(1),
            str(20 * MIB),
            "limit for `POST /api/user/import` and `POST /api/import/...`",
        ),
        Setting("MAX_VCARD_BYTES", whole_number(1), str(10 * MIB), "limit for vCard files"),
        Setting("MAX_PHOTO_BYTES", whole_number(1), str(20 * MIB), "limit for photos"),
        Setting(
            "SPOOL_BYTES_PER_CALLER",
            whole_number(4 * MIB),
            str(256 * MIB),
            "what a web process holds for one account between clients and threads: a quarter of it bodies, the rest "
            "responses; beyond it, a report waits for its reader",
        ),
        Setting(
            "MAX_ACCOUNT_BYTES",
            whole_number(1),
            str(1024 * MIB),
            "what an account may store in lines of cards, pending cards, photos and their originals",
        ),
    ),
}
SETTINGS = tuple(setting for section in SECTIONS.values() for setting in section)
