//! Dotted names and what they could do. `x.*` is every name of the module `x`; `f()` stands for what a call of `f` gives.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::DangerRule::{self, *};

/// Names that are a danger wherever they are mentioned, called or not.
const NAMES: &[(DangerRule, &str)] = &[
    (
        ShellCommand,
        "os.system os.popen os.startfile subprocess.* pty.* popen2.* commands.* platform.popen sh.* pexpect.spawn pexpect.run \
         pexpect.popen_spawn.PopenSpawn plumbum.* asyncio.create_subprocess_exec asyncio.create_subprocess_shell \
         asyncio.subprocess.* fabric.Connection invoke.run get_ipython().system get_ipython().system_piped \
         get_ipython().system_raw get_ipython().getoutput get_ipython().define_alias IPython.utils.process.* \
         get_ipython().alias_manager docker.from_env docker.DockerClient",
    ),
    (
        StartsProcess,
        "os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe os.spawnl os.spawnle os.spawnlp \
         os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe os.posix_spawn os.posix_spawnp os.fork os.forkpty",
    ),
    (
        DynamicCode,
        "builtins.eval builtins.exec builtins.compile builtins.execfile code.interact code.InteractiveConsole \
         code.InteractiveInterpreter codeop.* types.FunctionType types.CodeType pdb.run pdb.runeval pdb.runctx pdb.Pdb bdb.* marshal.loads marshal.load \
         get_ipython().run_cell get_ipython().run_cell_async get_ipython().run_code get_ipython().ev get_ipython().ex \
         get_ipython().run_ast_nodes get_ipython().set_next_input get_ipython().magics_manager get_ipython().find_magic get_ipython().find_line_magic get_ipython().find_cell_magic get_ipython().kernel get_ipython().safe_execfile_ipy",
    ),
    (
        DynamicImport,
        "builtins.__import__ importlib.__import__ imp.* importlib.util.spec_from_file_location importlib.machinery.*",
    ),
    (
        Internals,
        "globals().update globals().pop globals().setdefault globals().popitem sys._getframe sys.settrace sys.setprofile gc.get_objects gc.get_referrers",
    ),
    (NativeCode, "ctypes.* cffi.FFI _ctypes.* mmap.mmap faulthandler._sigsegv"),
    (
        RunsFile,
        "runpy.* get_ipython().safe_execfile get_ipython().safe_run_module sys.meta_path sys.path_hooks papermill.execute_notebook",
    ),
    (InstallsPackage, "pip.main pip._internal.* ensurepip.* piplite.install micropip.install setuptools.setup"),
    (
        DeletesFile,
        "os.remove os.unlink os.rmdir os.removedirs os.rename os.renames os.replace shutil.rmtree shutil.move \
         pathlib.Path().unlink pathlib.Path().rmdir pathlib.Path().rename pathlib.Path().replace send2trash.send2trash \
         dbutils.fs.rm dbutils.fs.mv",
    ),
    (
        WritesFile,
        "os.truncate os.ftruncate os.link os.symlink os.mkfifo os.mknod os.write os.pwrite shutil.copy shutil.copy2 \
         shutil.copyfile shutil.copytree shutil.make_archive shutil.unpack_archive pathlib.Path().write_text \
         pathlib.Path().write_bytes pathlib.Path().symlink_to pathlib.Path().hardlink_to urllib.request.urlretrieve \
         wget.download numpy.save numpy.savez numpy.savez_compressed numpy.savetxt joblib.dump torch.save shelve.open dbm.open \
         scipy.io.savemat scipy.io.wavfile.write soundfile.write cv2.VideoWriter fileinput.input logging.FileHandler",
    ),
    (
        SavesPicture,
        "cv2.imwrite imageio.imwrite imageio.imsave skimage.io.imsave matplotlib.pyplot.imsave matplotlib.image.imsave",
    ),
    (
        ChangesPermissions,
        "os.chmod os.lchmod os.fchmod os.chown os.lchown os.fchown os.chroot os.setuid os.setgid os.seteuid os.setegid \
         os.setgroups os.setreuid os.setresuid shutil.chown pathlib.Path().chmod pathlib.Path().lchmod",
    ),
    (
        EndsProcess,
        "os.kill os.killpg os.abort os._exit builtins.exit builtins.quit signal.raise_signal signal.pthread_kill \
         get_ipython().ask_exit psutil.Process().kill psutil.Process().terminate",
    ),
    (ClearsSession, "get_ipython().reset get_ipython().reset_selective globals().clear get_ipython().del_var"),
    (
        NetworkSend,
        "requests.post requests.put requests.delete requests.patch requests.request requests.Session().post \
         requests.Session().put requests.Session().delete requests.Session().patch requests.Session().request httpx.post \
         httpx.put httpx.delete httpx.patch httpx.request httpx.stream httpx.Client().* httpx.AsyncClient().* \
         aiohttp.ClientSession().post aiohttp.ClientSession().put aiohttp.ClientSession().delete \
         aiohttp.ClientSession().patch aiohttp.request socket.* socketserver.* smtplib.* ftplib.* telnetlib.* paramiko.* \
         http.client.HTTPConnection http.client.HTTPSConnection http.server.* xmlrpc.client.ServerProxy websocket.* \
         websockets.connect urllib.request.Request urllib.request.build_opener asyncio.open_connection \
         asyncio.start_server boto3.* pysftp.* urllib3.PoolManager().request zmq.Context",
    ),
    (
        NetworkRead,
        "requests.get requests.head requests.options requests.Session().get httpx.get httpx.head aiohttp.ClientSession().get \
         urllib2.urlopen webbrowser.open",
    ),
    (SecretRead, "os.environb os.getenvb keyring.get_password getpass.getpass"),
    (
        LoadsObjects,
        "pickle.load pickle.loads pickle.Unpickler cPickle.load cPickle.loads dill.load dill.loads cloudpickle.load \
         cloudpickle.loads joblib.load torch.load yaml.unsafe_load yaml.full_load jsonpickle.decode",
    ),
    (BrowserScript, "IPython.display.Javascript IPython.core.display.Javascript IPython.display.display_javascript"),
];

/// Names that the checker judges by what is done with them, or must follow.
const FOLLOWED: &str = "builtins.open io.open codecs.open bz2.open gzip.open lzma.open tarfile.open os.open os.fdopen \
    builtins.getattr builtins.setattr builtins.delattr builtins.vars builtins.globals builtins.locals builtins.__dict__ builtins.get_ipython \
    operator.attrgetter operator.methodcaller inspect.getattr_static globals() globals().get globals().keys \
    importlib.import_module importlib.reload os.environ os.environ.get os.environ.pop os.getenv os.path.os sys.modules \
    sys.modules.get sys.stdout sys.stderr io.StringIO io.BytesIO io.StringIO() io.BytesIO() pathlib.Path pathlib.Path() \
    pathlib.PosixPath pathlib.WindowsPath pathlib.Path().open requests.Session() requests.session httpx.Client() httpx.AsyncClient() \
    aiohttp.ClientSession() psutil.Process() urllib3.PoolManager() IPython.get_ipython IPython.core.getipython.get_ipython get_ipython get_ipython() \
    get_ipython().run_line_magic get_ipython().run_cell_magic get_ipython().magic timeit.timeit timeit.repeat \
    cProfile.run cProfile.runctx profile.run timeit.Timer cProfile.Profile().run cProfile.Profile().runctx profile.Profile().run \
    profile.Profile().runctx trace.Trace().run trace.Trace().runctx io.FileIO pandas.eval platform.system urllib.request.urlopen \
    IPython.display.HTML pandas.read_pickle functools.partial contextlib.suppress";

pub(crate) struct Table {
    names: BTreeMap<&'static str, DangerRule>,
    /// Everything that leads to a name, and the names themselves.
    known: BTreeSet<&'static str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let names: BTreeMap<_, _> =
        NAMES.iter().flat_map(|(rule, text)| text.split_whitespace().map(|name| (name, *rule))).collect();
    let known = names.keys().copied().chain(FOLLOWED.split_whitespace()).flat_map(prefixes).collect();
    Table { names, known }
});

/// `a`, `a.b` and `a.b()` of `a.b().c`.
fn prefixes(name: &'static str) -> impl Iterator<Item = &'static str> {
    let dots = name.match_indices('.').map(|(at, _)| &name[..at]);
    let parts = dots.chain(std::iter::once(name));
    parts.flat_map(|part| [part, part.trim_end_matches("()")])
}

/// The rule that this dotted name falls under.
pub(crate) fn rule_of(path: &str) -> Option<DangerRule> {
    let names = &TABLE.names;
    names.get(path).copied().or_else(|| {
        let (module, _) = path.rsplit_once('.')?;
        names.get(format!("{module}.*").as_str()).copied()
    })
}

/// The rule of a module all of whose names are a danger: importing it has no other purpose.
pub(crate) fn module_rule(module: &str) -> Option<DangerRule> {
    TABLE.names.get(format!("{module}.*").as_str()).copied()
}

/// Whether the name is in the table or leads to one that is.
pub(crate) fn is_known(path: &str) -> bool {
    TABLE.known.contains(path) || rule_of(path).is_some()
}

/// Whether the table has names of this module.
pub(crate) fn is_module(path: &str) -> bool {
    TABLE.known.contains(path) || module_rule(path).is_some()
}

/// Methods that are a danger on an object of which nothing is known: no ordinary object has them.
pub(crate) fn rule_of_method(name: &str) -> Option<DangerRule> {
    Some(match name {
        "system"
        | "popen"
        | "popen2"
        | "popen3"
        | "Popen"
        | "check_output"
        | "check_call"
        | "getoutput"
        | "getstatusoutput"
        | "create_subprocess_shell"
        | "create_subprocess_exec" => ShellCommand,
        "execv" | "execve" | "execvp" | "execvpe" | "execl" | "execle" | "execlp" | "spawnv" | "spawnl" | "forkpty"
        | "posix_spawn" => StartsProcess,
        "rmtree" | "unlink" | "rmdir" | "removedirs" => DeletesFile,
        "write_text" | "write_bytes" => WritesFile,
        "run_cell" | "run_code" => DynamicCode,
        "run_line_magic" | "run_cell_magic" => HiddenCode,
        "killpg" => EndsProcess,
        "sendall" | "sendto" => NetworkSend,
        "exec_module" | "load_module" => RunsFile,
        _ => return None,
    })
}

/// Functions that are judged by their arguments, where these cannot be seen. (Those of [`NAMES`] count wherever they are
/// mentioned.)
pub(crate) fn rule_of_handed(path: &str) -> Option<DangerRule> {
    Some(match path {
        "builtins.open"
        | "io.open"
        | "io.FileIO"
        | "codecs.open"
        | "gzip.open"
        | "bz2.open"
        | "lzma.open"
        | "tarfile.open"
        | "os.fdopen"
        | "os.open"
        | "pathlib.Path().open" => WritesFile,
        "builtins.getattr"
        | "builtins.setattr"
        | "builtins.delattr"
        | "inspect.getattr_static"
        | "operator.attrgetter"
        | "operator.methodcaller"
        | "sys.modules.get"
        | "globals().get"
        | "get_ipython().run_line_magic"
        | "get_ipython().run_cell_magic"
        | "get_ipython().magic" => HiddenCode,
        "importlib.import_module" => DynamicImport,
        "os.getenv" | "os.environ.get" | "os.environ.pop" => SecretRead,
        "urllib.request.urlopen" => NetworkSend,
        "timeit.timeit" | "timeit.repeat" | "timeit.Timer" | "cProfile.run" | "cProfile.runctx" | "profile.run"
        | "pandas.eval" => DynamicCode,
        "pandas.read_pickle" => LoadsObjects,
        _ => return None,
    })
}

/// Methods that are a danger when something else calls them: `map(Path.unlink, paths)`. Not those that are columns as well.
pub(crate) fn rule_of_handed_method(name: &str) -> Option<DangerRule> {
    let writes = ["to_", "write_"].iter().any(|start| name.starts_with(start)) && writer(name).is_some();
    match name {
        "system" | "popen" => None,
        "savefig" | "tofile" | "extractall" => Some(WritesFile),
        _ if writes => Some(WritesFile),
        name => rule_of_method(name),
    }
}

/// Modules that are a danger in the hands of a function that gets them under another name: `f(os)`.
pub(crate) fn is_handed_over(module: &str) -> bool {
    matches!(module, "os" | "shutil" | "builtins" | "importlib" | "subprocess" | "sys.modules")
}

/// Attributes by which code gets from any object to everything.
pub(crate) fn is_internal(attribute: &str) -> bool {
    matches!(
        attribute,
        "__subclasses__"
            | "__globals__"
            | "__builtins__"
            | "__code__"
            | "__getattribute__"
            | "__loader__"
            | "__import__"
            | "f_globals"
            | "f_builtins"
            | "f_locals"
            | "gi_frame"
            | "func_globals"
            | "func_code"
            | "user_ns"
            | "user_global_ns"
    )
}

/// Methods that write to a path given as their first argument, or by the keyword.
pub(crate) fn writer(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "to_csv" | "to_json" | "to_hdf" => &["path_or_buf"],
        "to_excel" => &["excel_writer"],
        "to_parquet" | "to_feather" | "to_pickle" | "to_stata" | "to_orc" | "to_netcdf" => &["path"],
        "to_html" | "to_markdown" | "to_latex" | "to_string" => &["buf"],
        "to_xml" => &["path_or_buffer"],
        "to_file" | "to_zarr" => &["filename", "store", "driver"],
        "to_sql" | "to_gbq" => &["name", "con", "destination_table"],
        "savefig" => &["fname"],
        "write_csv" | "write_parquet" | "write_json" | "write_html" | "write_image" | "write_ipc" | "write_ndjson"
        | "write_excel" | "write_delta" | "write_database" => &["file", "path"],
        "tofile" => &["fid"],
        "save" | "save_model" | "save_weights" | "save_pretrained" | "saveAsTable" | "saveAsTextFile"
        | "extractall" => &["fp", "path", "filepath", "save_directory"],
        _ => return None,
    })
}

/// Names of variables that are likely to hold what nobody else should see.
pub(crate) fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let parts = [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASS",
        "PWD",
        "CREDENTIAL",
        "AUTH",
        "PRIVATE",
        "CERT",
        "COOKIE",
        "SESSION",
        "DSN",
        "DATABASE_URL",
        "CONN",
        "SALT",
        "JWT",
    ];
    name != "PWD" && name != "OLDPWD" && parts.iter().any(|part| name.contains(part))
}
