"""Errors that several tasks raise at once, told as one."""


def first_of(error: BaseException) -> BaseException:
    """The first single error within a group; several workers may meet the same full disk."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
