"""Ways out of the folders in which the supervisor lets held code write. Runs after attacks.py, which has the names.

A person's run has left `person-link` (to the control folder) and `person-file` (a second name of a file there) in TMPDIR.
"""

# ruff: noqa: F821 - attacks.py has the names

import contextlib
import ctypes
import os
import tempfile
import threading

TMPDIR = tempfile.gettempdir()
UP = "/.." * 12


def made_in_temporary(name):
    path = os.path.join(TMPDIR, name)
    open(path, "w").close()
    return path


@way
def by_dots_in_tmpdir():
    open(TMPDIR + UP + new("dots"), "w").close()
    return "written"


@way
def by_dots_from_a_descriptor_of_tmpdir():
    folder = os.open(TMPDIR, os.O_RDONLY)
    os.close(os.open(UP[1:] + new("dots-at"), os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    return "written"


@way
def by_dots_in_shared_memory():
    open("/dev/shm" + UP + new("shared"), "w").close()
    return "written"


@way
def by_dots_behind_dev_null():
    open("/dev/null/.." + UP + new("null"), "w").close()
    return "written"


@way
def by_a_link_in_tmpdir():
    path = tempfile.mktemp()
    os.symlink(FOLDER, path)
    open(path + "/new-link", "w").close()
    return "written"


@way
def by_a_second_name_in_tmpdir():
    path = tempfile.mktemp()
    os.link(KEPT, path)
    open(path, "w").close()
    return "written"


@way
def by_a_link_of_the_person():
    open(TMPDIR + "/person-link/new-person", "w").close()
    return "written"


@way
def by_a_name_of_the_person():
    """It must not be emptied first and refused then."""
    open(TMPDIR + "/person-file", "w").close()
    return "emptied"


@way
def by_appending_to_a_name_of_the_person():
    with open(TMPDIR + "/person-file", "a") as file:
        file.write("x")
    return "appended"


@way
def by_rights_of_a_name_of_the_person():
    os.chmod(TMPDIR + "/person-file", 0o611)
    return "changed"


@way
def by_truncating_a_name_of_the_person():
    os.truncate(TMPDIR + "/person-file", 0)
    return "emptied"


@way
def by_renaming_out():
    os.rename(made_in_temporary("out"), new("out"))
    return "renamed"


@way
def by_renaming_in():
    os.rename(KEPT, TMPDIR + "/in")
    return "renamed"


@way
def by_renaming_over_a_link_of_the_person():
    os.rename(made_in_temporary("over"), TMPDIR + "/person-link/new-over")
    return "renamed"


@way
def by_exchanging():
    call(316, 276, -100, made_in_temporary("exchange").encode(), -100, KEPT.encode(), 2)
    return "exchanged"


@way
def by_removing_through_a_link():
    os.remove(TMPDIR + "/person-link/kept.db")
    return "removed"


@way
def by_a_folder_through_a_link():
    os.mkdir(TMPDIR + "/person-link/new-folder")
    return "made"


@way
def by_a_link_that_comes_between():
    """A folder of TMPDIR is a link of the person's every other moment, while files are made in it."""
    real, name = TMPDIR + "/between-real", TMPDIR + "/between"
    with contextlib.suppress(FileExistsError):
        os.mkdir(real)
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            for target in (real, TMPDIR + "/person-link"):
                with contextlib.suppress(OSError):
                    os.rename(target, name)
                with contextlib.suppress(OSError):
                    os.rename(name, target)

    thread = threading.Thread(target=swap)
    thread.start()
    for number in range(300):
        with contextlib.suppress(OSError):
            open(f"{name}/new-between-{number}", "w").close()
    stop.set()
    thread.join()
    for found in os.listdir(FOLDER):
        if found.startswith("new-between"):
            return written(f"{FOLDER}/{found}")
    raise LookupError("nothing was made")


@way
def by_a_path_that_changes_meanwhile():
    """The text of a path is another one every other moment, whichever it is when the call begins."""
    good, bad = (TMPDIR + "/changing").encode(), new("changing").encode()
    text = ctypes.create_string_buffer(max(len(good), len(bad)) + 1)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            for path in (good, bad):
                ctypes.memmove(text, path + b"\0", len(path) + 1)

    thread = threading.Thread(target=change)
    thread.start()
    for number in range(500):
        path = (good, bad)[number % 2]
        ctypes.memmove(text, path + b"\0", len(path) + 1)
        result = C.syscall(
            ctypes.c_long(257 if IS_X86 else 56), ctypes.c_long(-100), text, ctypes.c_long(0o101), ctypes.c_long(0o600)
        )
        if result >= 0:
            os.close(result)
    stop.set()
    thread.join()
    return written(new("changing"))


@way
def by_a_descriptor_of_a_path():
    number = os.open(KEPT, os.O_PATH)
    open(f"/proc/self/fd/{number}", "w").close()
    return "written"


@way
def by_a_folder_that_is_another_now():
    """The current folder is one of TMPDIR's, and then moved."""
    back = os.getcwd()
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        open(".." + UP + new("moved"), "w").close()
    finally:
        os.chdir(back)
    return "written"


@way
def by_rights_of_another_account():
    path = made_in_temporary("setuid")
    os.chmod(path, 0o4755)
    if os.stat(path).st_mode & 0o6000:
        return "the file runs as its owner"
    raise PermissionError("no such rights")


@way
def by_moving_tmpdir():
    """Only a folder that the test has made: without a supervisor this works."""
    if not TMPDIR.startswith(FACTS["home"]) and TMPDIR.count("/") < 3:
        raise NotImplementedError(f"{TMPDIR} is everybody's")
    os.rename(TMPDIR, TMPDIR + "-moved")
    os.rename(TMPDIR + "-moved", TMPDIR)
    return "moved"


print("WAYS " + json.dumps(list(WAYS)))
