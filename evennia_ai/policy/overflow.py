"""Whether a provider's error means that the request is longer than the context window."""

from evennia_ai.policy.provider_errors import ErrorKind, ErrorResponse, meaning_of


def is_context_overflow(
    message: str, status: int | None = None, code: str | int | None = None
) -> bool:
    """Return True for an error that shortening the request helps with.

    ``message`` is the error's text in any wording, ``status`` the HTTP status, ``code`` the
    provider's own name or number for the error; None if it sent none.
    """
    return meaning_of(ErrorResponse(message, status or 0, str(code or ""))) is ErrorKind.OVERFLOW
