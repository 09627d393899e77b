"""Calls a function that the user registered, by the hook of the module that registered it (protocol/README.md).

What the function raises leaves the run as it is: people and the model see the whole traceback.
"""

import inspect
import sys


def call_function(name, arguments, version=""):
    module = sys.modules.get("notarium")
    hook = getattr(module, "call_function", None)
    if hook is None:
        raise Refused(f"the kernel does not know {name} any more: run the cell that registers it again")
    # What was asked for, and confirmed, is this version: a hook that can tell versions apart calls no other.
    named = {"version": version} if "version" in inspect.signature(hook).parameters else {}
    try:
        result = hook(name, arguments, **named)
    except ValueError as error:
        # The module's own words about the arguments, not something that the function raised.
        if getattr(error, "is_refusal", False) is not True:
            raise
        raise Refused(str(error)) from None
    try:
        return json.loads(json.dumps(result, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise Refused(f"{name} was called, and its answer is no JSON: {error}") from None
