"""Custom field templates: responses and routes."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, sends_etag
from accounts.api.viewsets import TrashViewSet
from contacts_project.kernel.api.etags import conditional_record
from contacts_project.kernel.api.fields import (
    ClientIdField,
    OwnedListField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
)
from contacts_project.kernel.api.json import representation_response
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, NotDeletedError, PlanLimitError
from contacts_project.kernel.json import Representation
from contacts_project.kernel.ownership.client_ids import IdTakenError
from contacts_project.kernel.texts import define_text
from people.api.transferred_fields import OptionsField
from people.models import CustomFieldTemplate
from people.projection.records import list_templates, represent_template
from people.services import custom_fields as service
from people.vocabularies import TemplateType

_DELETED = define_text("custom_field_deleted", "The custom field was deleted.")


class TemplateChangeSerializer(serializers.Serializer[Any]):
    """The body of a change: what it leaves out stays. Slug and type never change."""

    name = StrictCharField(max_length=60, required=False)
    options = OptionsField(required=False, allow_null=True)
    order = StrictIntegerField(min_value=0, max_value=1_000_000, required=False, source="position")


class TemplateCreateSerializer(TemplateChangeSerializer):
    """The body of a new template."""

    id = ClientIdField(required=False)
    name = StrictCharField(max_length=60)
    type = StrictChoiceField(TemplateType.values)


class TemplateSerializer(serializers.Serializer[Any]):
    """A template in an answer."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    slug = serializers.CharField()
    type = StrictChoiceField(TemplateType.values)
    options = OptionsField()
    order = serializers.IntegerField()
    deletedAt = serializers.DateTimeField(allow_null=True)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class TemplateOrderSerializer(serializers.Serializer[Any]):
    ids = OwnedListField("people.CustomFieldTemplate", allow_empty=False)


_RECORD = envelope("CustomFieldTemplateAnswer", customFieldTemplate=TemplateSerializer())
_LIST = envelope("CustomFieldTemplatesAnswer", customFieldTemplates=TemplateSerializer(many=True))
_MESSAGE = envelope("CustomFieldTemplateDeleted", message=serializers.CharField())
_SUCCESS = envelope("CustomFieldTemplateRemoved", success=serializers.BooleanField())


class CustomFieldTemplateViewSet(TrashViewSet[CustomFieldTemplate]):
    """The caller's custom field templates."""

    model = CustomFieldTemplate
    lookup_url_kwarg = "template_id"
    record_name, record_serializer = "customFieldTemplate", TemplateSerializer

    def current_record(self) -> Representation:
        return represent_template(self.get_object())

    @extend_schema(operation_id="listCustomFieldTemplates", responses=_LIST)
    def list(self, request: Request) -> Response:
        """Every template, in the account's order."""
        return Response({"customFieldTemplates": list_templates(self.owner)})

    @extend_schema(operation_id="createCustomFieldTemplate", request=TemplateCreateSerializer, responses={201: _RECORD})
    @raises(PlanLimitError, IdTakenError)
    @sends_etag
    def create(self, request: Request) -> Response:
        """Define a field. Its slug comes from its name, and like its type never changes."""
        data = self.read_body(TemplateCreateSerializer)
        return _template_response(service.create_template(owner=self.owner, data=data, now=timezone.now()), 201)

    @extend_schema(operation_id="getCustomFieldTemplate", responses=_RECORD)
    @conditional_record
    def retrieve(self, request: Request, template_id: UUID) -> Response:
        """One template."""
        return _template_response(self.get_object())

    @extend_schema(operation_id="updateCustomFieldTemplate", request=TemplateChangeSerializer, responses={200: _RECORD})
    @sends_etag
    @if_match
    def update(self, request: Request, template_id: UUID) -> Response:
        """Change name, options or order; what the body leaves out stays. A renamed option renames stored values."""
        template = self.get_object()
        data = self.read_body(TemplateChangeSerializer)
        return _template_response(service.update_template(template=template, data=data))

    @extend_schema(operation_id="deleteCustomFieldTemplate", responses={200: _MESSAGE})
    @if_match
    def destroy(self, request: Request, template_id: UUID) -> Response:
        """Move a template to the trash; its values hide until it is restored."""
        service.delete_template(template=self.get_object(), now=timezone.now())
        return Response({"message": _DELETED})

    @extend_schema(operation_id="restoreCustomFieldTemplate", request=None, responses={200: _RECORD})
    @action(detail=True, methods=["post"])
    @raises(FieldError, NotDeletedError, PlanLimitError)
    @sends_etag
    @if_match
    def restore(self, request: Request, template_id: UUID) -> Response:
        """Take a template out of the trash, with its values."""
        return _template_response(service.restore_template(template=self.get_object()))

    @extend_schema(operation_id="removeCustomFieldTemplate", responses={200: _SUCCESS})
    @action(detail=True, methods=["delete"])
    @raises(NotDeletedError)
    @if_match
    def permanent(self, request: Request, template_id: UUID) -> Response:
        """Remove a deleted template and its values for good."""
        service.remove_template(template=self.get_object())
        return Response({"success": True})

    @extend_schema(operation_id="reorderCustomFieldTemplates", request=TemplateOrderSerializer, responses={200: _LIST})
    @action(detail=False, methods=["put"])
    def reorder(self, request: Request) -> Response:
        """Put templates in the order of their ids; those not named follow."""
        service.reorder_templates(owner=self.owner, templates=self.read_body(TemplateOrderSerializer)["ids"])
        return Response({"customFieldTemplates": list_templates(self.owner)})


def _template_response(template: CustomFieldTemplate, status: int = 200) -> Response:
    return representation_response("customFieldTemplate", represent_template(template), status)
