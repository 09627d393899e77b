"""Errors in registering a function as a tool, and in calling one."""


class FunctionError(TypeError):
    """The function cannot be registered; the text says what to change."""


class ArgumentError(ValueError):
    """The function does not exist, or does not take these arguments. It was not called."""

    # Callers for a model or a person show the sentence without a traceback.
    is_refusal = True
