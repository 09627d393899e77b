//! Names that are asked about, by rule.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::rules::DangerRule::{self, *};

/// Names of the longest dotted name in the lists.
const MAX_NAMES: usize = 4;

/// Dotted names. A name counts wherever it is part of a longer one: `os._exit` in `glob.os._exit`. `f()` is the answer of a
/// call.
const NAMES: &[(DangerRule, &str)] = &[
    (
        EndsKernel,
        "builtins.exit builtins.quit os._exit posix._exit os.abort posix.abort sys.exit os.kill os.killpg os.execl os.execle \
         os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe os.closerange signal.raise_signal signal.pthread_kill \
         _thread.interrupt_main get_ipython().ask_exit psutil.Process().kill psutil.Process().terminate \
         psutil.Process().suspend faulthandler._sigsegv faulthandler._sigabrt faulthandler._sigfpe faulthandler._fatal_error \
         faulthandler._stack_overflow faulthandler._read_null",
    ),
    (
        ClearsVariables,
        "globals().clear globals().pop globals().popitem globals().__delitem__ get_ipython().reset \
         get_ipython().reset_selective get_ipython().del_var",
    ),
    (
        ChangesLibrary,
        "sys.modules.pop sys.modules.clear sys.modules.update sys.modules.setdefault sys.modules.__setitem__ sys.meta_path \
         sys.path_hooks site.addsitedir forbiddenfruit.curse",
    ),
    (
        RunsLater,
        "atexit signal.signal signal.setitimer signal.alarm signal.set_wakeup_fd sys.settrace sys.setprofile \
         sys.addaudithook sys.monitoring sys._settraceallthreads sys._setprofileallthreads sys.set_asyncgen_hooks \
         threading.settrace threading.setprofile threading.settrace_all_threads threading.setprofile_all_threads \
         threading.Timer weakref.finalize gc.callbacks os.register_at_fork faulthandler.register \
         faulthandler.dump_traceback_later readline.set_startup_hook readline.set_pre_input_hook readline.set_completer \
         get_ipython().events get_ipython().set_hook get_ipython().set_custom_exc get_ipython().set_custom_completer \
         get_ipython().register_post_execute get_ipython().register_magic_function get_ipython().register_magics \
         get_ipython().ast_transformers get_ipython().input_transformers_post get_ipython().input_transformers_cleanup \
         get_ipython().input_transformer_manager get_ipython().display_formatter get_ipython().Completer \
         IPython.core.magic.register_line_magic IPython.core.magic.register_cell_magic \
         IPython.core.magic.register_line_cell_magic",
    ),
];

/// Names that no other object has, whatever they are attributes of.
const ATTRIBUTES: &[(DangerRule, &str)] = &[
    (EndsKernel, "_exit _sigsegv _sigabrt raise_signal pthread_kill killpg ask_exit do_shutdown interrupt_main"),
    (
        RunsLater,
        "settrace setprofile addaudithook setitimer set_wakeup_fd call_later call_at call_soon call_soon_threadsafe \
         add_reader add_writer add_signal_handler register_at_fork Py_AddPendingCall _run_exitfuncs pub_thread \
         ast_transformers input_transformers_post input_transformers_cleanup",
    ),
];

type ByName = BTreeMap<&'static str, DangerRule>;

fn by_name(lists: &'static [(DangerRule, &'static str)]) -> ByName {
    lists.iter().flat_map(|(rule, names)| names.split_whitespace().map(|name| (name, *rule))).collect()
}

/// The rule of a dotted name, by the first of its parts that is listed.
pub(super) fn rule_of(path: &str) -> Option<DangerRule> {
    static BY_NAME: LazyLock<ByName> = LazyLock::new(|| by_name(NAMES));
    let ends = |from: usize| path[from..].match_indices('.').map(move |(at, _)| from + at).chain([path.len()]);
    let starts = std::iter::once(0).chain(path.match_indices('.').map(|(at, _)| at + 1));
    let mut parts = starts.flat_map(|from| ends(from).take(MAX_NAMES).map(move |to| &path[from..to]));
    parts.find_map(|part| BY_NAME.get(part).copied())
}

/// The rule of an attribute of any object.
pub(super) fn rule_of_attribute(name: &str) -> Option<DangerRule> {
    static BY_NAME: LazyLock<ByName> = LazyLock::new(|| by_name(ATTRIBUTES));
    BY_NAME.get(name).copied()
}

/// Checks that a library keeps settings under one of these names: they are there to be set.
pub(super) fn holds_settings(path: &str) -> bool {
    let names = ["options", "rcParams", "config", "settings", "templates", "renderers", "data_transformers"];
    path.split('.').any(|part| names.contains(&part))
}
