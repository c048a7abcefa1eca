"""The account behind a request that has passed the permissions."""

from rest_framework.request import Request

from accounts.models import User


def caller(request: Request) -> User:
    """The signed-in account. OwnData, the default permission, has turned everybody else away."""
    user = request.user
    if not isinstance(user, User):
        raise TypeError("caller() is for views that only signed-in accounts reach")
    return user
