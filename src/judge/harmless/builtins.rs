//! Names that need no list: Python's own.

use crate::words::Words;

/// Builtins that harm nobody, whatever they are called with.
pub(crate) static HARMLESS: Words = Words::of(
    "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError \
     BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError \
     ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception \
     ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError \
     ImportError ImportWarning In IndentationError IndexError InterruptedError IsADirectoryError KeyError \
     KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError None NotADirectoryError NotImplemented \
     NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError \
     RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration \
     SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError True TypeError UnboundLocalError \
     UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError \
     Warning ZeroDivisionError __debug__ __doc__ __file__ __name__ abs aiter all anext any ascii bin bool bytearray \
     bytes callable chr classmethod complex dict dir display divmod enumerate filter float format frozenset hash help \
     hex id input int isinstance issubclass iter len list map max memoryview min next object oct ord pow print \
     property range repr reversed round set slice sorted staticmethod str sum super tuple zip",
);

/// Builtins that can do harm, or are judged by their arguments.
pub(crate) static OTHERS: Words = Words::of(
    "__build_class__ __builtins__ __import__ __loader__ __package__ __spec__ breakpoint compile copyright credits \
     delattr eval exec exit get_ipython getattr globals hasattr license locals open quit setattr type vars",
);

/// Attributes between underscores that only look, or are what a class defines of itself. `__new__` and `__next__` ask.
pub(crate) static HARMLESS_DUNDERS: Words = Words::of(
    "__abs__ __add__ __aenter__ __aexit__ __aiter__ __all__ __and__ __anext__ __array__ __array_priority__ __author__ \
     __await__ __bool__ __call__ __complex__ __contains__ __copy__ __deepcopy__ __del__ __delitem__ __divmod__ \
     __doc__ __enter__ __eq__ __exit__ __file__ __float__ __floordiv__ __format__ __ge__ __getitem__ __gt__ __hash__ \
     __iadd__ __iand__ __ifloordiv__ __imul__ __index__ __init__ __int__ __invert__ __ior__ __isub__ __iter__ \
     __itruediv__ __le__ __len__ __lshift__ __lt__ __matmul__ __missing__ __mod__ __module__ __mul__ __name__ __ne__ \
     __neg__ __or__ __pos__ __post_init__ __pow__ __qualname__ __radd__ __rand__ __repr__ \
     __reversed__ __rfloordiv__ __rmatmul__ __rmod__ __rmul__ __ror__ __round__ __rpow__ __rshift__ __rsub__ \
     __rtruediv__ __rxor__ __setitem__ __slots__ __str__ __sub__ __truediv__ __version__ __xor__",
);
