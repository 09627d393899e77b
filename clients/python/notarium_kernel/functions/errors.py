"""What can be wrong with a function that is to be a tool, or with a call of one."""


class FunctionError(TypeError):
    """The function cannot be registered; the text says what to change."""


class ArgumentError(ValueError):
    """The arguments are not what the function takes, or it is not there; the function was not called."""

    # Who calls for a model or a person shows the sentence without a traceback.
    is_refusal = True
