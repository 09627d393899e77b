//! Names that Python and IPython define: no cell binds them, and reading them reads no other cell.

use crate::words::Words;

static BUILTINS: Words = Words::of(
    "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError \
     BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError \
     ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception \
     ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError \
     ImportError ImportWarning In IndentationError IndexError InterruptedError IsADirectoryError KeyError \
     KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError None NotADirectoryError NotImplemented \
     NotImplementedError OSError Out OverflowError PendingDeprecationWarning PermissionError ProcessLookupError \
     PythonFinalizationError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning \
     StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError True \
     TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError \
     UnicodeWarning UserWarning ValueError Warning ZeroDivisionError _ _IncompleteInputError __ ___ __build_class__ \
     __builtins__ __class__ __debug__ __doc__ __file__ __import__ __loader__ __name__ __package__ __spec__ _dh _i \
     _ih _oh abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile \
     complex copyright credits delattr dict dir display divmod enumerate eval exec exit filter float format \
     frozenset get_ipython getattr globals hasattr hash help hex id input int isinstance issubclass iter len \
     license list locals map max memoryview min next object oct open ord pow print property quit range repr \
     reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip",
);

/// Checks that Python or IPython defines the name.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.has(name)
}
