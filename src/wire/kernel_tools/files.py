"""`list_files`, `read_file` and `save_data`: files below the folder in which the kernel was started, and no others.

The folder is the one of the start: code that goes elsewhere (`os.chdir("/")`) does not take the assistant along. Links
are followed first and judged by where they lead. The places that the sandbox hides are refused here too, sandbox or not:
`HIDDEN_PLACES` is put into the namespace before.
"""

import codecs
import contextlib
import fnmatch
import hashlib
import mimetypes
import stat

MAX_LISTED = 500
MAX_SCANNED = 20_000
MAX_CHARACTERS = 20_000
MAX_HASHED = 1 << 30
PLACES = [os.path.realpath(path) for path in json.loads(HIDDEN_PLACES)]
FOLDER = os.path.realpath(getattr(SHELL, "starting_dir", None) or os.getcwd())


def is_secret_file(name):
    return any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in SECRET_FILES)


def check_parts(parts, path):
    for part in parts:
        if part == "..":
            raise Refused(f"'{path}' leads out of the notebook's folder: name a file below it")
        if part.startswith("."):
            raise Refused(f"'{path}' is hidden: files and folders that begin with . are out of reach")
        if is_secret_file(part):
            raise Refused(f"'{path}' looks like a file of secrets: it is out of reach")


def hidden_place(real):
    """The hidden place in which something lies."""
    return next((place for place in PLACES if os.path.commonpath([place, real]) == place), None)


def place(path):
    """The real path of something below the folder, or a refusal."""
    if os.path.dirname(FOLDER) == FOLDER:
        raise Refused("the kernel was started in / itself: start its agent in a folder of the notebook's own")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or "\0" in path:
        raise Refused(f"'{path}' is not relative to the notebook's folder: name a file below it")
    check_parts(parts, path)
    real = os.path.realpath(os.path.join(FOLDER, *parts))
    if os.path.commonpath([FOLDER, real]) != FOLDER:
        raise Refused(f"'{path}' leads out of the notebook's folder: name a file below it")
    if real != FOLDER:
        check_parts(os.path.relpath(real, FOLDER).split(os.path.sep), path)
    hidden = hidden_place(real)
    if hidden is not None:
        raise Refused(
            f"'{path}' is out of reach: {hidden} is hidden from kernels and assistants, because such places hold keys or "
            "what can confirm. Work without it, or ask the person for what you need from it"
        )
    return real


@contextlib.contextmanager
def told(path):
    """What the system says of a file, as a refusal."""
    try:
        yield
    except OSError as error:
        raise Refused(f"'{path}': {error.strerror or type(error).__name__}") from None


def opened(real, path):
    """A regular file, for reading; nothing else is even opened (a pipe would wait for ever)."""
    if not stat.S_ISREG(os.stat(real).st_mode):
        raise Refused(f"'{path}' is no file: list_files shows what there is")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.fdopen(os.open(real, flags), "rb")


def digest(file):
    """SHA-256 of what a file holds, in hexadecimal; none of what is huge."""
    if os.fstat(file.fileno()).st_size > MAX_HASHED:
        return None
    file.seek(0)
    whole = hashlib.sha256()
    for piece in iter(lambda: file.read(1 << 20), b""):
        whole.update(piece)
    return whole.hexdigest()


def listed(entry):
    try:
        about = entry.stat()
    except OSError:
        return None
    if stat.S_ISDIR(about.st_mode):
        return {"name": entry.name, "kind": "folder"}
    kind = "file" if stat.S_ISREG(about.st_mode) else "other"
    return {"name": entry.name, "kind": kind, "size": about.st_size}


def within(entry):
    """Whether it is to be seen, and a link leads to what is."""
    if entry.name.startswith(".") or is_secret_file(entry.name):
        return False
    real = os.path.realpath(entry.path)
    return os.path.commonpath([FOLDER, real]) == FOLDER and hidden_place(real) is None


def list_files(path=None):
    path = path or "."
    real = place(path)
    with told(path), os.scandir(real) as entries:
        seen = [entry for _, entry in zip(range(MAX_SCANNED), entries) if within(entry)]
    seen.sort(key=lambda entry: entry.name)
    files = [about for about in map(listed, seen[:MAX_LISTED]) if about is not None]
    found = {"path": "/".join(part for part in path.split("/") if part not in ("", ".")) or ".", "files": files}
    more = len(seen) - MAX_LISTED
    return dict(found, more=more) if more > 0 else found


def text_of(data, is_whole):
    """The text that these bytes begin with, or nothing."""
    if b"\0" in data:
        return None
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(data, is_whole)
    except UnicodeDecodeError:
        return None


def read_file(path):
    real = place(path)
    with told(path), opened(real, path) as file:
        size = os.fstat(file.fileno()).st_size
        limit = 4 * (MAX_CHARACTERS + 1)
        data = file.read(limit)
        found = {"path": path, "size": size, "sha256": digest(file)}
    text = text_of(data, len(data) < limit)
    if text is None:
        kind = mimetypes.guess_type(real)[0] or "unknown"
        return dict(found, kind=kind, content=None, note="this is no text: read it by code in a cell")
    if len(text) <= MAX_CHARACTERS:
        return dict(found, content=text)
    return dict(found, content=text[:MAX_CHARACTERS] + "…[truncated]", truncated=True)


def check_replaced(real, path, overwrite):
    """The mode of the file that is to be replaced, if it is the one that was seen."""
    if not os.path.lexists(real):
        raise Refused(f"'{path}' does not exist (any more): leave overwrite out to make it")
    with opened(real, path) as file:
        holds = digest(file)
        if holds != overwrite.lower():
            raise Refused(f"'{path}' has changed since: its SHA-256 is {holds}. Read it again, and decide anew")
        return stat.S_IMODE(os.fstat(file.fileno()).st_mode)


def check_new(real, path):
    if not os.path.lexists(real):
        return
    with opened(real, path) as file:
        raise Refused(f"'{path}' exists: to replace it, give overwrite its SHA-256, which is {digest(file)}")


def written(folder, data, mode):
    """A file beside the one to be, complete and on the disk."""
    name = os.path.join(folder, f".notarium-{os.urandom(8).hex()}.tmp")
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(name)
        raise
    return name


def replaced(real, data, mode):
    """Replaces the file: at once or not at all."""
    temporary = written(os.path.dirname(real), data, mode)
    try:
        os.chmod(temporary, mode)
        os.replace(temporary, real)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def created(real, path, data):
    """Makes the file under its own name: the run is held, and may make files but neither link, rename nor remove them."""
    os.makedirs(os.path.dirname(real), exist_ok=True)
    try:
        descriptor = os.open(real, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except FileExistsError:
        raise Refused(f"'{path}' exists by now: read it, and decide anew") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(real)
        raise


def save_data(path, content, overwrite=None):
    real = place(path)
    if real == FOLDER or path.endswith("/"):
        raise Refused(f"'{path}' names no file: give a file's name")
    data = content.encode("utf-8")
    with told(path):
        if overwrite is None:
            check_new(real, path)
            created(real, path, data)
        else:
            replaced(real, data, check_replaced(real, path, overwrite))
    return {
        "path": path,
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "replaced": overwrite is not None,
    }
