"""Every class of Django's database errors."""

from django.db import utils

ERRORS = (
    utils.DataError,
    utils.IntegrityError,
    utils.InterfaceError,
    utils.InternalError,
    utils.NotSupportedError,
    utils.OperationalError,
    utils.ProgrammingError,
)
