"""Django settings. Values that depend on the environment come from the table in contacts_project.environment.

Secret keys are generated in DATA_DIR at the first start.
"""

import gc
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from corsheaders.defaults import default_headers
from kombu import Exchange, Queue

from contacts_project.api_settings import API_SETTINGS, DESCRIPTION_SETTINGS
from contacts_project.data_folder import prepare_data_folder
from contacts_project.environment.reader import WrongSettingError, load_env_file, read_settings, wrong_setting_message
from contacts_project.kernel.api.responses import content_security_policy
from contacts_project.kernel.broker import broker_url
from contacts_project.kernel.crypto.bootstrap import load_or_create_keys
from contacts_project.kernel.text_forms import mail_domain
from notifications.vapid import VapidKeys, load_or_create_pair

# What is loaded at the start is never freed: garbage collection would take a quarter of the start for nothing.
# ContactsProjectConfig enables it again.
gc.disable()

VERSION = "0.1.0"
BASE_DIR = Path(__file__).resolve().parent.parent

try:
    load_env_file(BASE_DIR / ".env")
    env = read_settings(os.environ)
except WrongSettingError as error:
    sys.exit(str(error))  # one line without a traceback, also for the web server and Celery

DEBUG: bool = env["DEBUG"]
HOST: str = env["HOST"]
PORT: int = env["PORT"]
BASE_URL: str = (env["BASE_URL"] or f"http://127.0.0.1:{PORT}").rstrip("/")
APP_URL: str = env["APP_URL"]
DATA_DIR: Path = env["DATA_DIR"]
try:
    # `restore` is expected to make it, and says in one line what is wrong.
    if prepare_data_folder(DATA_DIR) and sys.argv[1:2] != ["restore"]:
        sys.stderr.write(f"Made the data folder {DATA_DIR}. If your instance lies elsewhere, set DATA_DIR.\n")
    # If both are set, no file is made: it would look like the keys of the instance, but nothing would use it.
    _keys = {} if env["SECRET_KEY"] and env["ENCRYPTION_KEYS"] else load_or_create_keys(DATA_DIR / "keys.json")
except OSError as error:
    _allowed = f"a folder that can be made and written ({error.strerror})"
    sys.exit(wrong_setting_message("DATA_DIR", str(DATA_DIR), _allowed))
except ValueError:
    sys.exit(f"{DATA_DIR / 'keys.json'} is damaged. Put the one of your backup in its place.")
SECRET_KEY: str = env["SECRET_KEY"] or _keys["SECRET_KEY"]
ENCRYPTION_KEYS: list[str] = env["ENCRYPTION_KEYS"] or [_keys["ENCRYPTION_KEY"]]
BACKUP_KEY: str = env["BACKUP_KEY"]

_base = urlsplit(BASE_URL)
ALLOWED_HOSTS = sorted({_base.hostname or "localhost", "127.0.0.1", "localhost", "[::1]", *env["ALLOWED_HOSTS"]})
CORS_ALLOWED_ORIGINS: list[str] = env["CORS_ALLOWED_ORIGINS"]
CORS_ALLOW_CREDENTIALS = True
# Not below /dav/: programs that are no browsers send an Origin there, too.
CORS_URLS_REGEX = r"^/(?!dav(?:/|$))"
CORS_ALLOW_HEADERS = [*default_headers, "idempotency-key", "if-match", "if-none-match", "x-request-id"]
CORS_EXPOSE_HEADERS = ["ETag", "Idempotent-Replayed", "Retry-After", "X-Request-ID"]
CSRF_TRUSTED_ORIGINS = sorted({f"{_base.scheme}://{_base.netloc}", *CORS_ALLOWED_ORIGINS})
TRUSTED_PROXY_COUNT: int = env["TRUSTED_PROXY_COUNT"]
_https = _base.scheme == "https"
# Only behind a proxy, which overwrites the header: any client could send it.
if TRUSTED_PROXY_COUNT or _https:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if _https else 0
SILENCED_SYSTEM_CHECKS = [
    "auth.E003",  # several accounts may claim an address, only one has proven it: so the column is not unique
    "security.W005",  # HSTS for subdomains: we do not know whether all of them have https
    "security.W021",  # HSTS preloading: as above
    "security.W008",  # the TLS proxy redirects to https; health checks use plain http on loopback
]
MAP_TILES_URL: str = env["MAP_TILES_URL"]
MAP_TILES_ATTRIBUTION: str = env["MAP_TILES_ATTRIBUTION"]
CONTENT_SECURITY_POLICY = content_security_policy(MAP_TILES_URL)

INSTALLED_APPS = [
    "contacts_project.operator_site.OperatorAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "corsheaders",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_celery_beat",
    "contacts_project",
    "accounts",
    "people",
    "relationships",
    "carddav",
    "meetings",
    "sharing",
    "notifications",
    "dav",
]

MIDDLEWARE = [
    "contacts_project.kernel.api.request_log.RequestLogMiddleware",
    "contacts_project.operation.health.ForwardedRequests",
    "contacts_project.kernel.api.responses.ResponseHeadersMiddleware",
    "contacts_project.kernel.api.compression.CompressionMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "contacts_project.kernel.api.compression.StaticFilesMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "contacts_project.kernel.api.body_limit.BodyLimitMiddleware",
    "accounts.middleware.RenewingSessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "contacts_project.kernel.admin.AdminMessagesMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "contacts_project.urls"
WSGI_APPLICATION = "contacts_project.wsgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- Storage -------------------------------------------------------------------------------------

DATABASES: dict[str, dict[str, Any]] = {
    "default": env["DATABASE_URL"]
    or {"ENGINE": "django.db.backends.sqlite3", "NAME": str(DATA_DIR / "contacts.sqlite3")}
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # Without this rest_framework.compat imports PostgreSQL's fields and its driver: 60 ms and 9 MB per process.
    sys.modules["django.contrib.postgres.fields"] = None  # type: ignore[assignment]  # not importable
    # Writers wait in line for the write lock.
    DATABASES["default"]["ENGINE"] = "contacts_project.kernel.database.sqlite3"
    # With IMMEDIATE each transaction waits for the write lock at its beginning. One that starts with a read and writes
    # later would not wait, but fail with "database is locked" if another one has written meanwhile.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,  # seconds to wait for the lock; imports hold it for less than one at a time
        # mmap_size: up to 256 MiB of the file are read from the page cache directly, without a system call for 4 KiB.
        # wal_autocheckpoint: after 16 MiB in place of 4 the log is written into the file. A new person changes some 70
        # pages, most of them those that others have changed, too: each is written into the file once for all of them.
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA mmap_size=268435456; "
            "PRAGMA wal_autocheckpoint=4000;"
        ),
    }
else:
    # A server that does not answer is noticed within seconds. TCP alone would let requests wait for many minutes.
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 5,
        "tcp_user_timeout": 20_000,
        "server_side_binding": True,
        # Prepare a statement at its third execution. Not behind a pooler: the next one may use another connection.
        "prepare_threshold": None if DATABASES["default"].get("DISABLE_SERVER_SIDE_CURSORS") else 2,
        **DATABASES["default"].get("OPTIONS", {}),
    }
# Opening SQLite costs a request 5 ms, for the pragmas, the schema and preparing statements again. A pool keeps its
# connections itself: threads must return them after each request or task.
DATABASES["default"]["CONN_MAX_AGE"] = 0 if "pool" in DATABASES["default"]["OPTIONS"] else env["CONN_MAX_AGE"]
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL: str = env["REDIS_URL"]
WEB_WORKERS: int = env["WEB_WORKERS"] or (2 if REDIS_URL else 1)
if REDIS_URL:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}
else:
    # Without Redis there is one web process with threads, so its memory is a shared cache. The two checks do not know.
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    SILENCED_SYSTEM_CHECKS += ["django_ratelimit.E003", "django_ratelimit.W001"]

MEDIA_ROOT = DATA_DIR / "media"
STORAGES = {
    "default": (
        {"BACKEND": "contacts_project.kernel.object_storage.ObjectStorage", "OPTIONS": env["PHOTO_STORAGE"]}
        if env["PHOTO_STORAGE"]
        else {"BACKEND": "contacts_project.kernel.storage.DurableFileStorage"}
    ),
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
WHITENOISE_MIMETYPES = {".webmanifest": "application/manifest+json"}
# The names of the client's files contain a hash of their content.
WHITENOISE_IMMUTABLE_FILE_TEST = r"/static/app/assets/.*-[\w-]{8}\.\w+$"

# --- Accounts and sessions -----------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "accounts.passwords.LengthValidator", "OPTIONS": {"min_length": 8}},
    {"NAME": "accounts.passwords.CharacterKindsValidator"},
]
SESSION_ENGINE = "accounts.services.sessions"
# From the last use: accounts.middleware renews it.
SESSION_COOKIE_AGE = 30 * 24 * 3600
SESSION_COOKIE_SECURE = _https
CSRF_COOKIE_SECURE = _https
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = env["SESSION_SAMESITE"]
CSRF_FAILURE_VIEW = "contacts_project.kernel.api.errors.csrf_failure"
REGISTRATION: str = env["REGISTRATION"]
EMAIL_VERIFICATION: str = env["EMAIL_VERIFICATION"]
SAAS_MODE: bool = env["SAAS_MODE"]
PLAN_LIMITS: dict[str, dict[str, int | None]] = env["PLAN_LIMITS"]

# --- Language, time, mail ------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", "English"),
    ("es-ES", "Español"),
    ("ja-JP", "日本語"),
    ("nb-NO", "Norsk bokmål"),
    ("de-DE", "Deutsch"),
    ("fr-FR", "Français"),
]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
ACCOUNT_TIME_ZONE: str = env["TIME_ZONE"]

vars().update(env["EMAIL_URL"])
DEFAULT_FROM_EMAIL: str = env["DEFAULT_FROM_EMAIL"] or f"Contact network <contacts@{_base.hostname}>"
SERVER_EMAIL = DEFAULT_FROM_EMAIL
EMAIL_DOMAIN = mail_domain(env["EMAIL_DOMAIN"] or _base.hostname or "localhost")
EMAIL_TIMEOUT = 10

# --- Background work -----------------------------------------------------------------------------

REMINDER_CATCH_UP_DAYS: int = env["REMINDER_CATCH_UP_DAYS"]
REMINDER_LATE_MINUTES: int = env["REMINDER_LATE_MINUTES"]
DELIVERY_LEASE_SECONDS: int = env["DELIVERY_LEASE_SECONDS"]
DELIVERY_HISTORY_DAYS: int = env["DELIVERY_HISTORY_DAYS"]
CARDDAV_RUN_SECONDS: int = env["CARDDAV_RUN_SECONDS"]
CRON_SECRET: str = env["CRON_SECRET"]
METRICS_TOKEN: str = env["METRICS_TOKEN"]
OTEL_EXPORTER_OTLP_ENDPOINT: str = env["OTEL_EXPORTER_OTLP_ENDPOINT"]
RETENTION_DAYS: int = env["RETENTION_DAYS"]
CELERY_TIMEZONE = "UTC"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_REDIRECT_STDOUTS = False  # it would turn mails on the console into log lines
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
# Separate queues, so that no kind of work delays another: docs/fairness.md. Tasks that match no route are chores.
QUEUES = ("scan", "sharing", "reminders", "mail", "sync", "chores")
CELERY_TASK_QUEUES = [Queue(name, Exchange(name), routing_key=name) for name in QUEUES]
CELERY_TASK_DEFAULT_QUEUE = "chores"
CELERY_TASK_ROUTES = {
    "notifications.tasks.due_scan": {"queue": "scan"},
    "notifications.tasks.send_disabled_mails": {"queue": "mail"},
    "notifications.tasks.purge_deliveries": {"queue": "chores"},
    "notifications.*": {"queue": "reminders"},
    "accounts.tasks.*_mail*": {"queue": "mail"},
    "carddav.tasks.sweep": {"queue": "scan"},
    "carddav.tasks.purge_history": {"queue": "chores"},
    "carddav.*": {"queue": "sync"},
    "meetings.tasks.sweep": {"queue": "scan"},
    "meetings.*": {"queue": "sync"},
    "sharing.tasks.sweep": {"queue": "scan"},
    "sharing.tasks.send_invitations": {"queue": "mail"},
    "sharing.*": {"queue": "sharing"},
}
CELERY_BROKER_URL = REDIS_URL or broker_url(DATA_DIR / "broker.sqlite3")

# --- The network beyond this machine -------------------------------------------------------------

OUTBOUND_ALLOWED_NETWORKS: list[str] = env["OUTBOUND_ALLOWED_NETWORKS"]
OUTBOUND_ALLOWED_PORTS: list[str] = env["OUTBOUND_ALLOWED_PORTS"]
OUTBOUND_CA_FILE: str = env["OUTBOUND_CA_FILE"]
OUTBOUND_CALLS_PER_HOST: int = env["OUTBOUND_CALLS_PER_HOST"]
OUTBOUND_CALLS_PER_SECOND: int = env["OUTBOUND_CALLS_PER_SECOND"]
try:
    _vapid = (
        VapidKeys(env["VAPID_PUBLIC_KEY"], env["VAPID_PRIVATE_KEY"])
        if env["VAPID_PRIVATE_KEY"]
        else load_or_create_pair(DATA_DIR / "vapid.json")
    )
except (OSError, ValueError):
    sys.exit(f"{DATA_DIR / 'vapid.json'} is damaged. Put the one of your backup in its place.")
VAPID_PUBLIC_KEY: str = _vapid.public
VAPID_PRIVATE_KEY: str = _vapid.private
VAPID_SUBJECT: str = env["VAPID_SUBJECT"]
OIDC_ISSUER: str = env["OIDC_ISSUER"]
OIDC_CLIENT_ID: str = env["OIDC_CLIENT_ID"]
OIDC_CLIENT_SECRET: str = env["OIDC_CLIENT_SECRET"]
OIDC_NAME: str = env["OIDC_NAME"]
OIDC_APP_REDIRECT_URIS: list[str] = env["OIDC_APP_REDIRECT_URIS"]
GEOCODER_URL: str = env["GEOCODER_URL"].rstrip("/")
# Nominatim allows one request per second. A little more, as requests may arrive closer together than they are sent.
GEOCODER_INTERVAL_SECONDS: float = env["GEOCODER_INTERVAL_SECONDS"]

# --- The API -------------------------------------------------------------------------------------

MAX_JSON_BYTES: int = env["MAX_JSON_BYTES"]
MAX_MCP_BYTES: int = env["MAX_MCP_BYTES"]
MAX_IMPORT_BYTES: int = env["MAX_IMPORT_BYTES"]
MAX_VCARD_BYTES: int = env["MAX_VCARD_BYTES"]
# A request of a phone: a card of at most 10 MiB, or a report of ten thousand hrefs.
MAX_DAV_BYTES = 11 * 1024 * 1024
MAX_PHOTO_BYTES: int = env["MAX_PHOTO_BYTES"]
SPOOL_BYTES_PER_CALLER: int = env["SPOOL_BYTES_PER_CALLER"]
MAX_ACCOUNT_BYTES: int = env["MAX_ACCOUNT_BYTES"]
# The middleware has a limit for each view; Django's own limit must not be lower than any of them.
DATA_UPLOAD_MAX_MEMORY_SIZE = max(MAX_IMPORT_BYTES, MAX_VCARD_BYTES, MAX_PHOTO_BYTES, MAX_DAV_BYTES) + 1024 * 1024

REST_FRAMEWORK = API_SETTINGS
SPECTACULAR_SETTINGS = {**DESCRIPTION_SETTINGS, "VERSION": VERSION}

# --- Logs ----------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"ids": {"()": "contacts_project.kernel.logs.ContextFilter"}},
    "formatters": {
        "json": {
            "()": "contacts_project.kernel.logs.JsonFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s %(request_id)s",
        },
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["ids"]},
    },
    "root": {"handlers": ["stderr"], "level": env["LOG_LEVEL"]},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.request": {"level": "ERROR"},  # each request is logged already, by our middleware
        "django.security.DisallowedHost": {"level": "CRITICAL"},  # bots try hosts all day; the client gets a 400
        "celery": {"level": "WARNING"},
        "mcp": {"level": "WARNING"},  # INFO logs the beginning and end of each request
        "uvicorn": {"level": "WARNING"},
        "urllib3": {"level": "ERROR"},  # its warnings contain whole URLs and server messages, which may be secret
    },
}
