"""Calls a function that the user registered, by the hook of the module that registered it (protocol/README.md).

What the function raises leaves the run as it is: people and the model see the whole traceback.
"""

import sys


def call_function(name, arguments):
    module = sys.modules.get("notarium")
    hook = getattr(module, "call_function", None)
    if hook is None:
        raise Refused(f"the kernel does not know {name} any more: run the cell that registers it again")
    result = hook(name, arguments)
    try:
        return json.loads(json.dumps(result, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise Refused(f"{name} was called, and its answer is no JSON: {error}") from None
