"""Settings of Django REST framework and drf-spectacular. None depends on the environment."""

from typing import Any

API_SETTINGS: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.api.authentication.BearerAuthentication",
        "accounts.api.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.api.authentication.IsAuthenticatedInScope"],
    "DEFAULT_RENDERER_CLASSES": ["contacts_project.kernel.api.json.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["contacts_project.kernel.api.json.JSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "contacts_project.kernel.api.json.SingleMediaType",
    "DEFAULT_METADATA_CLASS": "contacts_project.kernel.api.json.Metadata",
    "DEFAULT_SCHEMA_CLASS": "contacts_project.kernel.api.openapi.operations.ContractSchema",
    "EXCEPTION_HANDLER": "contacts_project.kernel.api.errors.handle_exception",
    "DATETIME_FORMAT": None,
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "TEST_REQUEST_RENDERER_CLASSES": [
        "rest_framework.renderers.JSONRenderer",
        "rest_framework.renderers.MultiPartRenderer",
    ],
}

DESCRIPTION_SETTINGS: dict[str, Any] = {
    "ENABLE_DJANGO_DEPLOY_CHECK": False,  # it would build the whole description at each check; the tests do so instead
    "TITLE": "Contact network service",
    "DESCRIPTION": 'Nothing is coerced: an integer is written `7`, neither `7.0` nor `"7"`.',
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_SETTINGS": {
        "deepLinking": True,
        "validatorUrl": None,
    },  # else the page sends the description to swagger.io
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "ColumnDateOrderEnum": "people.api.imports.DATE_ORDERS",
        "DateFormatEnum": "accounts.vocabularies.DateFormat.values",
        "DateRemindersEnum": "accounts.vocabularies.DateReminders.values",
        "CustomFieldTypeEnum": "people.vocabularies.TemplateType.values",
        "EventKindEnum": ["important_date", "contact"],
        "HealthStatusEnum": ["ok", "degraded", "unfit"],
        "ImportSourceEnum": "people.vocabularies.ImportSource.values",
        "ImportStateEnum": "people.vocabularies.ImportState.values",
        "ImportantDateTypeEnum": "people.api.person_entries.DATE_TYPES",
        "InteractionKindEnum": ["CALL", "MESSAGE", "EMAIL", "MEETING", "GIFT", "NOTE", "OTHER"],
        "IntervalUnitEnum": ["DAYS", "WEEKS", "MONTHS", "YEARS"],
        "ShareActionEnum": "sharing.models.LogAction.values",
        "ShareAnswerEnum": "sharing.services.answers.Action.values",
        "OutcomeEnum": ["imported", "updated", "skipped", "error"],
        "TokenKindEnum": ["token", "device"],
        "CalendarSourceKindEnum": ["ics", "caldav"],
        "CalendarSourceStateEnum": ["new", "reading", "ok", "failing"],
        "ReminderKindEnum": "notifications.api.reminders.KINDS",
    },
    "COMPONENT_SPLIT_REQUEST": True,
    "CAMELIZE_NAMES": True,
    "POSTPROCESSING_HOOKS": [
        "notifications.api.webhooks.add_webhooks",
        "drf_spectacular.hooks.postprocess_schema_enums",
        "contacts_project.operation.description.add_domains",
        "contacts_project.kernel.api.openapi.responses.add_headers",
        "contacts_project.kernel.api.openapi.responses.add_error_schemas",
        "contacts_project.kernel.api.openapi.examples.add_examples",
    ],
}
