//! The danger rules by samples: what must be found, what must not, and that nothing panics.
#![allow(clippy::disallowed_methods)]

use notarium_core::danger::{
    Danger, DangerRule, Grade, Language, MAX_CHECKED_BYTES, dangers, dangers_after, dangers_of_each,
};
use proptest::prelude::*;

/// Whether any of them always asks.
fn is_destructive(found: &[Danger]) -> bool {
    found.iter().any(|danger| danger.grade() == Grade::Destructive)
}

fn names(found: &[Danger]) -> Vec<&'static str> {
    found.iter().map(|danger| danger.rule.name()).collect()
}

/// Python, and a rule that must be among those that are found.
const DANGEROUS: &[(&str, &str)] = &[
    // commands
    ("import os\nos.system('ls')", "shell_command"),
    ("import os as o\no.system('ls')", "shell_command"),
    ("from os import system as s\ns('ls')", "shell_command"),
    ("from os import *\nsystem('ls')", "shell_command"),
    ("import os\nf = os.system\nf('ls')", "shell_command"),
    ("import os\nlist(map(os.system, ['ls']))", "shell_command"),
    ("os.popen('ls').read()", "shell_command"),
    ("(os).system('ls')", "shell_command"),
    ("a, b = os, 1\na.system('ls')", "shell_command"),
    ("if (o := os): o.system('x')", "shell_command"),
    ("for o in (1,):\n    pass\nx = os if 1 else None\nx.popen('ls')", "shell_command"),
    ("[os][0].system('ls')", "shell_command"),
    ("os.path.os.system('ls')", "shell_command"),
    ("import pandas as pd\npd.io.common.os.system('ls')", "shell_command"),
    ("import subprocess", "shell_command"),
    ("import subprocess as sp\nsp.run(['ls'])", "shell_command"),
    ("from subprocess import run\nrun('ls')", "shell_command"),
    ("from subprocess import *\ncheck_output('ls')", "shell_command"),
    ("subprocess.Popen(['ls'])", "shell_command"),
    ("helper.check_output('ls')", "shell_command"),
    ("import pty; pty.spawn('sh')", "shell_command"),
    ("import asyncio\nawait asyncio.create_subprocess_shell('ls')", "shell_command"),
    ("os.execv('/bin/sh', [])", "starts_process"),
    ("os.spawnl(0, 'x')", "starts_process"),
    ("os.fork()", "starts_process"),
    ("def f(run=os.system):\n    return run", "shell_command"),
    ("print(f\"{os.system('ls')}\")", "shell_command"),
    ("@os.system\ndef f(): pass", "shell_command"),
    ("class A:\n    x = os.popen('a')", "shell_command"),
    ("lambda: os.system('a')", "shell_command"),
    ("from functools import partial\npartial(os.system, 'ls')()", "shell_command"),
    // magics
    ("!ls", "shell_command"),
    ("files = !ls", "shell_command"),
    ("!!ls", "shell_command"),
    ("%%bash\nls", "shell_command"),
    ("\n\n%%sh\nls", "shell_command"),
    ("  %%bash\n  ls", "shell_command"),
    ("%%script bash\nls", "shell_command"),
    ("%system ls", "shell_command"),
    ("x = %sx ls", "shell_command"),
    ("if True:\n    !rm x", "shell_command"),
    ("%%!\nls", "shell_command"),
    ("%%python\nimport os", "other_program"),
    ("%%perl\nunlink 'x'", "other_program"),
    ("%run other.py", "runs_file"),
    ("%reset -f", "clears_session"),
    ("%pip install x", "installs_package"),
    ("%conda install x", "installs_package"),
    ("pip install x", "installs_package"),
    ("rm -rf data", "deletes_file"),
    ("rm -r", "deletes_file"),
    ("system ls", "shell_command"),
    ("%rm x", "deletes_file"),
    ("%%writefile a.py\nprint(1)", "writes_file"),
    ("%time os.system('ls')", "shell_command"),
    ("%timeit -n 1 -r 1 os.system('ls')", "shell_command"),
    ("%%time\nos.system('ls')", "shell_command"),
    ("%%timeit os.system('x')\npass", "shell_command"),
    ("%%capture out\n!ls", "shell_command"),
    ("%%time\n%%bash\nls", "shell_command"),
    (",os.system ls", "shell_command"),
    (";exec print(1)", "dynamic_code"),
    ("/exec 'x'", "dynamic_code"),
    (">>> import os\n>>> os.system('ls')", "shell_command"),
    ("In [1]: !ls", "shell_command"),
    ("get_ipython().system('ls')", "shell_command"),
    ("ip = get_ipython()\nip.getoutput('ls')", "shell_command"),
    ("get_ipython().run_line_magic('system', 'ls')", "shell_command"),
    ("get_ipython().run_cell_magic('bash', '', 'ls')", "shell_command"),
    ("get_ipython().run_line_magic(name, 'ls')", "hidden_code"),
    ("%env", "secret_read"),
    ("%env OPENAI_API_KEY", "secret_read"),
    ("%%sql\nDROP TABLE users", "sql_destroys"),
    ("%sql DELETE FROM users", "sql_destroys"),
    ("%%sql\nselect 1;\n-- a comment\ntruncate table x", "sql_destroys"),
    // code from text
    ("eval('1+1')", "dynamic_code"),
    ("exec(code)", "dynamic_code"),
    ("e = eval\ne('1')", "dynamic_code"),
    ("compile('1', '', 'eval')", "dynamic_code"),
    ("import builtins\nbuiltins.exec('x')", "dynamic_code"),
    ("__builtins__.eval('x')", "dynamic_code"),
    ("__builtins__['eval']('x')", "dynamic_code"),
    ("__import__('os').system('ls')", "shell_command"),
    ("__import__(name)", "dynamic_import"),
    ("import importlib\nimportlib.import_module(name)", "dynamic_import"),
    ("import importlib\nimportlib.import_module('os').system('x')", "shell_command"),
    ("from importlib import import_module as i\ni('subprocess').run('x')", "shell_command"),
    ("getattr(os, 'system')('ls')", "shell_command"),
    ("getattr(os, 'sys' + 'tem')('ls')", "shell_command"),
    ("getattr(os, name)('ls')", "hidden_code"),
    ("getattr(thing, 'rmtree')", "hidden_code"),
    ("globals()['os'].system('ls')", "shell_command"),
    ("globals()['__builtins__']", "internals"),
    ("globals()[name]('x')", "hidden_code"),
    ("vars(os)['system']('ls')", "shell_command"),
    ("os.__dict__['sys' 'tem']('ls')", "shell_command"),
    ("import sys\nsys.modules['os'].system('ls')", "shell_command"),
    ("().__class__.__bases__[0].__subclasses__()", "internals"),
    ("f.__globals__['os']", "internals"),
    ("import timeit\ntimeit.timeit('os.system(\"x\")')", "shell_command"),
    ("import ctypes\nctypes.CDLL('libc.so.6')", "native_code"),
    ("import runpy\nrunpy.run_path('x.py')", "runs_file"),
    ("def f(m): m.remove('x')\nf(os)", "hidden_code"),
    ("(lambda o: o.remove('x'))(os)", "hidden_code"),
    ("get_ipython().magics_manager.magics['line']['system']('ls')", "dynamic_code"),
    // files
    ("os.remove('x')", "deletes_file"),
    ("os.unlink('x')", "deletes_file"),
    ("os.rmdir('x')", "deletes_file"),
    ("os.rename('a', 'b')", "deletes_file"),
    ("import shutil\nshutil.rmtree('x')", "deletes_file"),
    ("from shutil import move\nmove('a', 'b')", "deletes_file"),
    ("from pathlib import Path\nPath('x').unlink()", "deletes_file"),
    ("from pathlib import Path\np = Path('x') / 'y'\np.rename('z')", "deletes_file"),
    ("from pathlib import Path\nfor p in Path('.').glob('*'):\n    p.replace('z')", "deletes_file"),
    ("p.unlink(missing_ok=True)", "deletes_file"),
    ("p.write_text('x')", "writes_file"),
    ("p.write_bytes(b'')", "writes_file"),
    ("open('x', 'w').write('y')", "writes_file"),
    ("open('x', mode='ab')", "writes_file"),
    ("open('x', 'r+')", "writes_file"),
    ("open('x', mode)", "writes_file"),
    ("open(*args)", "writes_file"),
    ("with open('x', 'wt') as f:\n    pass", "writes_file"),
    ("o = open\no('x', 'w')", "writes_file"),
    ("p.open('w')", "writes_file"),
    ("import zipfile\nzipfile.ZipFile('x', 'w')", "writes_file"),
    ("df.to_csv('x.csv')", "writes_file"),
    ("df.to_parquet(path='x')", "writes_file"),
    ("df.to_csv(target)", "writes_file"),
    ("import numpy as np\nnp.save('x', a)", "writes_file"),
    ("plt.savefig('notes.txt')", "writes_file"),
    ("os.chmod('x', 0o777)", "changes_permissions"),
    // processes
    ("os.kill(1, 9)", "ends_process"),
    ("exit()", "ends_process"),
    ("globals().clear()", "clears_session"),
    // network
    ("import requests\nrequests.post(url, data=d)", "network_send"),
    ("import requests as r\nr.put(url)", "network_send"),
    ("requests.delete(url)", "network_send"),
    ("with requests.Session() as s:\n    s.post(url)", "network_send"),
    ("import urllib.request\nurllib.request.urlopen(make_request())", "network_send"),
    ("from urllib.request import urlopen\nurlopen('http://x', data=b'x')", "network_send"),
    ("import socket\ns = socket.socket()", "network_send"),
    ("import smtplib", "network_send"),
    // secrets
    ("print(os.environ)", "secret_read"),
    ("dict(os.environ)", "secret_read"),
    ("os.environ['OPENAI_API_KEY']", "secret_read"),
    ("os.environ[name]", "secret_read"),
    ("os.getenv('DB_PASSWORD')", "secret_read"),
    ("from os import environ as e\ne.get('AWS_SECRET')", "secret_read"),
    ("for k, v in os.environ.items(): pass", "secret_read"),
    // databases
    ("cursor.execute('DROP TABLE users')", "sql_destroys"),
    ("con.execute(f'DELETE FROM {table}')", "sql_destroys"),
    ("q = 'update users set a = 1'\ncur.execute(q)", "sql_destroys"),
    ("pd.read_sql('with x as (select 1) delete from y', con)", "sql_destroys"),
    ("con.execute(text('TRUNCATE TABLE x'))", "sql_destroys"),
    ("df.query(\"@pd.io.common.os.system('ls')\")", "shell_command"),
    // does not parse
    ("this is not python\n!rm x", "shell_command"),
    ("def f(:\n    os.system('x')", "shell_command"),
];

/// Python in which nothing at all must be found, not even a note.
const CLEAN: &[&str] = &[
    "print('hello world')",
    "# os.system('rm -rf /')",
    "'os.system'",
    "\"\"\"Use subprocess.run or eval(x) to … \"\"\"",
    "x = 'eval(1); exec(2); !ls'",
    "print('%%bash')",
    "text = '''\n!rm -rf /\n%%bash\n'''",
    "import os\nos.path.join('a', 'b')",
    "import os\nos.listdir('.')",
    "import os\nos.makedirs('out', exist_ok=True)",
    "os.getcwd()",
    "os.environ['CUDA_VISIBLE_DEVICES'] = '0'",
    "os.environ.setdefault('A', 'b')",
    "os.environ.update(A='b')",
    "'KEY' in os.environ",
    "import re\nre.compile('a')",
    "model.eval()",
    "opener = gzip.open if packed else open\nopener('x', 'rt')",
    "(gzip.open if packed else open)('x')",
    "open, close = prices.T\nplt.plot(open)",
    "open = df['open']\nplt.plot(open)",
    "def candles(open, close): return open - close",
    "df['open'].plot()",
    "json.dumps(x, default=vars)",
    "get = os.getcwd\nget()",
    "from pathlib import Path\nPath.cwd() / 'x'",
    "from pathlib import Path\nlist(map(Path, names))",
    "df.query('a > @limit and `b c` < 3')",
    "df.eval('a = b + @c')",
    "read = pd.read_csv\nread('x')",
    "df.eval('a + b')",
    "pattern = re.compile(r'exec\\(')",
    "model.compile(optimizer='adam')",
    "open('data.csv')",
    "open('data.csv', 'r')",
    "open('data.bin', mode='rb')",
    "with open('a', encoding='utf-8') as f:\n    text = f.read()",
    "df.to_csv()",
    "df.to_csv(None)",
    "import io\nbuffer = io.StringIO()\ndf.to_csv(buffer)",
    "import sys\ndf.to_csv(sys.stdout)",
    "df.to_html()",
    "df.to_dict('records')",
    "df.rename(columns={'a': 'b'})",
    "s.rename('b')",
    "'abc'.replace('a', 'b')",
    "df.replace(0, 1)",
    "items.remove(3)",
    "items.remove(x)\nmy_list.pop()",
    "from pathlib import Path\nPath('x').read_text()",
    "from pathlib import Path\nPath('x').name.replace('a', 'b')",
    "from pathlib import Path\n[p.name for p in Path('.').glob('*.csv')]",
    "import platform\nplatform.system()",
    "hasattr(os, 'fork_like')",
    "help(os)",
    "dir(os)",
    "df.system",
    "executor.submit(f)",
    "system = 3\nprint(system)",
    "def run(x):\n    return x\nrun(1)",
    "app.run(1)",
    "def evaluate(x): return x",
    "getattr(x, 'name')",
    "getattr(x, 'name', None)",
    "'df' in globals()",
    "if 'df' not in globals(): df = 1",
    "globals()['x']",
    "type(x).__name__",
    "x.__class__.__name__",
    "self.__dict__.update(a=1)",
    "import importlib\nimportlib.import_module('numpy')",
    "importlib.reload(module)",
    "%matplotlib inline",
    "%load_ext autoreload\n%autoreload 2",
    "%time x = sum(range(10))",
    "%timeit -n 10 f(x)",
    "%%time\nx = 1",
    "%%timeit\nsorted(x)",
    "%%capture\nprint(1)",
    "%%markdown\n# os.system",
    "%pip list",
    "%pip list | grep torch",
    "%ls",
    "%ls -la data",
    "%cat notes.txt",
    "%mkdir -p out",
    "%ls *.csv | wc -l",
    "%cd ..",
    "%config InlineBackend.figure_format = 'retina'",
    "%config InlineBackend.figure_formats = {'png', 'retina'}",
    "%config InlineBackend.rc = {'figure.figsize': (10, 6)}",
    "%config IPCompleter.greedy=True",
    "%config InteractiveShell.ast_node_interactivity = 'all'",
    "%config InlineBackend",
    "%store x",
    "%load data.py",
    "%load ../solutions/ex1.py",
    "%recall 4",
    "%history -n 1-5",
    "%who_ls",
    "%man ls",
    "%timeit -n 10 {1: 2}.get(1)",
    "%%timeit x = {'a': 1}\nx.get('a')",
    "%time d = {'a': max(1, 2)}",
    "%sql select * from t where id = {get_id()}",
    "%cd {folder}",
    "%ls?",
    "%timeit??",
    "data[0]?",
    "ls[0]",
    "cat['a']",
    "ls = []",
    "ls.sort()",
    "store(x)",
    "load(path)",
    "history.history['loss']",
    "config",
    "env.reset()",
    "page + 1",
    "time",
    "save(model)",
    "%%html\n<b>{x(1)}</b>",
    "%who",
    "?print",
    "print??",
    "len?",
    "commands = []\ncommands.append('x')",
    "code = 3\ncode.bit_length()",
    "sh = 1\nsh.real",
    "cursor.execute('SELECT * FROM users')",
    "pd.read_sql('select updated_at, deleted from users', con)",
    "df.query('update > 3 and delete == 0')",
    "%%sql\nSELECT a, b FROM t WHERE deleted = 0",
    "q = 'SELECT replace(a, 1, 2) FROM t'\ncur.execute(q)",
    "import pandas as pd\npd.read_csv('https://example.org/x.csv')",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
    "await asyncio.sleep(1)",
    "for i in range(10):\n    print(i)",
    "import sys\nsys.path.append('src')\nsys.exit",
    "signal = [1, 2]\nsignal.append(3)",
    "class A:\n    def remove(self): pass\nA().remove()",
    "lines = [line.rename for line in x]",
    "import subprocess_tee_like_name",
    "subprocesses = 3",
    "fig.show()",
    "import socketio_like",
    "reset = 3\nprint(reset)",
    "rm = 3",
    "run(3)",
    "",
    "\n\n",
    "print(0)  # exec(",
];

/// Found, and only a note.
const NOTED: &[(&str, &str)] = &[
    ("import requests\nrequests.get('https://example.org')", "network_read"),
    ("from urllib.request import urlopen\nurlopen('https://example.org')", "network_read"),
    ("os.environ['HOME']", "environment_read"),
    ("os.getenv('LANG', 'C')", "environment_read"),
    ("open('x', 'x')", "creates_file"),
    ("plt.savefig('plot.png')", "saves_picture"),
    ("plt.savefig(f'plots/{name}.pdf')", "saves_picture"),
    ("import pickle\npickle.load(f)", "loads_objects"),
    ("cursor.execute('INSERT INTO t VALUES (1)')", "inserts_rows"),
    ("getattr(x, name)", "computed_attribute"),
    ("%%javascript\nalert(1)", "browser_script"),
    ("from IPython.display import HTML\nHTML('<script>x</script>')", "browser_script"),
    ("%frobnicate 3", "unknown_magic"),
    ("print 'python 2'", "does_not_parse"),
    ("cd data/raw", "does_not_parse"),
    ("mkdir -p out", "does_not_parse"),
    ("ls -la data", "does_not_parse"),
];

/// Functions that are judged by their arguments, where these cannot be seen.
const HANDED_ON: &[(&str, &str)] = &[
    ("list(map(open, ['data.csv'], ['w']))", "writes_file"),
    ("{'o': open}['o']('data.csv', 'w')", "writes_file"),
    ("def f(o=open): o('x', 'w')", "writes_file"),
    ("for o in (open,): o('x', 'w')", "writes_file"),
    ("list(map(getattr, [os], ['system']))[0]('ls')", "hidden_code"),
    ("list(map(__import__, ['os']))", "dynamic_import"),
    ("import importlib\nlist(map(importlib.import_module, ['os']))", "dynamic_import"),
    ("import os\nlist(map(os.getenv, ['A']))", "secret_read"),
    ("import os\n[os.environ.get][0]('A')", "secret_read"),
    ("from pathlib import Path\nlist(map(Path.unlink, Path('.').glob('*')))", "deletes_file"),
    ("from pathlib import Path\nPath.rename('a', 'b')", "deletes_file"),
    ("list(map(df.to_csv, ['x']))", "writes_file"),
    ("getattr(df, 'to_csv')('x')", "hidden_code"),
    ("import io\nio.FileIO('data.csv', 'w')", "writes_file"),
    ("from glob import os as q\nq.remove('x')", "deletes_file"),
    ("from pandas.io.common import os\nos.remove('x')", "deletes_file"),
    ("f([os])", "hidden_code"),
    ("f(module=os)", "hidden_code"),
    ("f(*[os])", "hidden_code"),
    ("df.eval(\"@os.system('ls')\")", "shell_command"),
    ("import os as o\ndf.query(\"@o.remove('x')\")", "deletes_file"),
    ("import pandas as pd\npd.eval(\"os.system('ls')\")", "shell_command"),
    ("import pdb\npdb.run('x')", "dynamic_code"),
    ("import cProfile\ncProfile.Profile().run(\"os.remove('x')\")", "deletes_file"),
    ("get_ipython().run_line_magic('ls', line=x)", "hidden_code"),
];

/// Each did what the rule says in IPython 9.18 with ipykernel 7.4.
const DANGEROUS_MAGICS: &[(&str, &str)] = &[
    // a shell gets the rest of the line
    ("%ls ; touch F", "shell_command"),
    ("%ll|lx ; touch F", "shell_command"),
    ("%cat /dev/null ; touch F", "shell_command"),
    ("%cat a > b", "shell_command"),
    ("%mkdir a && touch F", "shell_command"),
    ("%ldir $x", "shell_command"),
    ("%ls {x}", "shell_command"),
    ("%ls \\\n ; touch F", "shell_command"),
    ("x = %ls ; touch F", "shell_command"),
    ("if 1:\n    %ls ; touch F", "shell_command"),
    ("%man ls >/dev/null; touch F #", "shell_command"),
    ("%man -P reboot ls", "shell_command"),
    ("%pip list ; touch F", "shell_command"),
    ("%pip freeze > requirements.txt", "shell_command"),
    ("%uv list ; touch F", "shell_command"),
    ("get_ipython().run_line_magic('ls', '; rm -rf x')", "shell_command"),
    ("get_ipython().run_line_magic('ls', '\\nrm -rf x')", "shell_command"),
    ("get_ipython().magic('ls ; rm -rf x')", "shell_command"),
    // what looks like a question is none
    ("%ls ;touch \"F\"?", "shell_command"),
    ("%time os.system('x')?", "shell_command"),
    // the line is evaluated
    ("%config A.b = __import__('os').system('ls')", "dynamic_code"),
    ("%config InlineBackend.figure_format = f()", "dynamic_code"),
    ("%config A.b = 1; x", "dynamic_code"),
    ("%recall open('F', 'w')", "writes_file"),
    ("%rep os.remove('F')", "deletes_file"),
    ("%pycat open('F', 'w')", "writes_file"),
    ("%load -n os.remove(name)", "deletes_file"),
    ("%cd {open('F', 'w')}", "writes_file"),
    ("%who {os.remove('F')}", "deletes_file"),
    ("%cd {[open('F', 'w') for x in [{}]]}", "writes_file"),
    ("%cd {[ '}', open('F', 'w')]}", "dynamic_code"),
    ("%cd {os.remove('F')!r}", "deletes_file"),
    ("%sql select {os.system('ls')}", "shell_command"),
    ("%pinfo {os.remove('F')}", "deletes_file"),
    ("?{os.remove('F')}", "deletes_file"),
    ("%%html {os.remove('F')}\nx", "deletes_file"),
    ("%%capture\n%%latex {os.remove('F')}\nx", "deletes_file"),
    ("/cd {os.remove('F')}", "deletes_file"),
    ("/recall open('F', 'w')", "writes_file"),
    ("%time --no-raise-error os.remove('F')", "deletes_file"),
    ("%%code_wrap w\n__code__\nf()", "dynamic_code"),
    ("%autocall 2", "dynamic_code"),
    // files, processes, the network, secrets
    ("%store x >precious.csv", "writes_file"),
    ("%store -z", "clears_session"),
    ("%store -d x", "clears_session"),
    ("%history -nf F", "writes_file"),
    ("%prun -T F f()", "writes_file"),
    ("%prun -qDF f()", "writes_file"),
    ("%%prun -T F\nf()", "writes_file"),
    ("%pastebin 1-5", "network_send"),
    ("%connect_info", "secret_read"),
    ("%qtconsole", "starts_process"),
    ("%tensorboard --logdir logs", "starts_process"),
    // without `%`
    ("ls -la; touch F", "shell_command"),
    ("ls;touch F", "shell_command"),
    ("ls>F", "shell_command"),
    ("cat[x]>F", "shell_command"),
    ("cat /dev/null ; touch F", "shell_command"),
    ("system(touch F)", "shell_command"),
    ("system(reboot)", "shell_command"),
    ("config A.b = f()", "dynamic_code"),
    ("store x >F", "writes_file"),
    ("store -z", "clears_session"),
    ("pastebin 1", "network_send"),
    ("connect_info", "secret_read"),
    ("connect_info()", "secret_read"),
    ("env", "secret_read"),
    ("qtconsole", "starts_process"),
    ("run ./x.py", "runs_file"),
    ("edit x.py", "runs_file"),
    ("recall x.f(os.system)", "shell_command"),
    ("cd {os.remove('F')}", "deletes_file"),
    ("%%time\nls ; touch F", "shell_command"),
    ("%%capture\nls ; touch F", "shell_command"),
];

#[test]
fn what_is_dangerous_is_found() {
    for (code, rule) in DANGEROUS.iter().chain(DANGEROUS_MAGICS).chain(HANDED_ON) {
        let found = dangers(code, Language::Python);
        assert!(names(&found).contains(rule), "{code:?}: {rule} is not among {:?}", names(&found));
        assert!(is_destructive(&found), "{code:?} would not ask");
    }
    assert!(DANGEROUS.len() >= 80, "{}", DANGEROUS.len());
}

#[test]
fn what_is_harmless_is_clean() {
    for code in CLEAN {
        assert_eq!(names(&dangers(code, Language::Python)), Vec::<&str>::new(), "{code:?}");
    }
    assert!(CLEAN.len() >= 60, "{}", CLEAN.len());
}

#[test]
fn what_is_noted_does_not_ask() {
    for (code, rule) in NOTED {
        let found = dangers(code, Language::Python);
        assert!(names(&found).contains(rule), "{code:?}: {rule} is not among {:?}", names(&found));
        assert!(!is_destructive(&found), "{code:?} would ask: {:?}", names(&found));
    }
}

#[test]
fn names_are_followed_from_earlier_cells() {
    let earlier = ["import subprocess as sp", "o = __import__('os')", "%%time\nimport shutil as s"];
    for code in ["sp.run('ls')", "o.remove('x')", "s.rmtree('x')"] {
        assert!(is_destructive(&dangers_after(&earlier, code, Language::Python)), "{code}");
    }
    assert_eq!(dangers_after(&earlier, "print(1)", Language::Python), Vec::new(), "earlier cells are not judged again");
}

/// What another cell defines, code that mentions it, and the rule that must be found: none for harmless code.
const DEFINED: &[(&str, &str, Option<&str>)] = &[
    ("import shutil\ndef wipe(p): shutil.rmtree(p)", "wipe('data')", Some("deletes_file")),
    ("import shutil\ndef wipe(p): shutil.rmtree(p)", "list(map(wipe, ['data']))", Some("deletes_file")),
    ("import shutil\nasync def wipe(p): shutil.rmtree(p)", "await wipe('data')", Some("deletes_file")),
    ("import shutil\nif True:\n    def wipe(p): shutil.rmtree(p)", "wipe('data')", Some("deletes_file")),
    ("import shutil\nwipe = lambda p: shutil.rmtree(p)", "wipe('data')", Some("deletes_file")),
    ("import os\ndef wipe(p): os.remove(p)\ntidy = wipe", "tidy('data')", Some("deletes_file")),
    ("import os\nclass W:\n    def __init__(self): os.remove('x')", "W()", Some("deletes_file")),
    ("import os\nclass W:\n    def go(self): os.remove('x')\nw = W()", "w.go()", Some("deletes_file")),
    ("import os\nclass A:\n    class B:\n        def go(self): os.remove('x')", "A.B()", Some("deletes_file")),
    ("def tidy(): wipe()\ndef wipe():\n    !rm x", "tidy()", Some("shell_command")),
    ("import requests\ndef load(): return requests.get('x')", "load()", Some("network_read")),
    ("import os\ndef wipe(p): os.remove(p)", "x = 1", None),
    ("import os\ndef wipe(p): os.remove(p)", "frame.wipe", None),
    ("def mean(x): return sum(x) / len(x)", "mean([1])", None),
];

#[test]
fn what_another_cell_defines_does_what_its_body_does() {
    for (defined, code, rule) in DEFINED {
        let found = dangers_after(&[defined], code, Language::Python);
        assert_eq!(names(&found).first().copied(), *rule, "{defined:?} then {code:?}: {found:?}");
    }
    let found = dangers_after(&[DEFINED[0].0], "1\nwipe('data')", Language::Python);
    assert_eq!(found[0].sentence(), "Line 2: `wipe` deletes, moves or renames files.");
}

#[test]
fn lines_are_those_of_the_cell() {
    let lines = |code: &str| -> Vec<Vec<u32>> {
        dangers(code, Language::Python).into_iter().map(|danger| danger.lines).collect()
    };
    assert_eq!(lines("x = 1\n\neval('1')\neval('2')"), [[3, 4]]);
    assert_eq!(lines("\n\n%%time\nx = 1\neval('1')"), [[5]]);
    assert_eq!(lines("%%sql\nselect 1;\ndrop table x"), [[3]]);
    assert_eq!(lines("x = '''\n\n'''; eval('1')"), [[3]]);
    assert_eq!(lines("f(1,\n  2, eval('1'))"), [[2]]);
}

#[test]
fn the_sentence_says_where_what_and_why() {
    let found = dangers("import os\nos.system('ls')", Language::Python);
    assert_eq!(
        found[0].sentence(),
        "Line 2: `os.system` runs a command of the operating system with the rights of the kernel."
    );
    let json = serde_json::to_value(&found[0]).expect("a danger is JSON");
    assert_eq!(json, serde_json::json!({"rule": "shell_command", "found": "os.system", "lines": [2]}));
}

#[test]
fn destructive_dangers_come_first() {
    let found = dangers("requests.get('a')\nos.remove('x')", Language::Python);
    assert_eq!(names(&found), ["deletes_file", "network_read"]);
}

#[test]
fn other_languages_are_judged_by_words() {
    let dangerous = [
        (Language::R, "system('ls')"),
        (Language::R, "unlink ('x')"),
        (Language::R, "eval(parse(text = x))"),
        (Language::R, "write.csv(d, 'x')"),
        (Language::Julia, "run(`ls`)"),
        (Language::Julia, "rm(\"x\")"),
        (Language::Julia, "ENV[\"KEY\"]"),
        (Language::Bash, "rm -rf x"),
        (Language::Bash, "ls > x"),
        (Language::Bash, "ls; reboot"),
        (Language::Bash, "cat x | sh"),
        (Language::Bash, "cat a | sort -o b"),
        (Language::Bash, "sort -no b a"),
        (Language::Bash, "sort --compress-program x a"),
        (Language::Bash, "uniq a b"),
        (Language::Bash, "cat a | uniq - b"),
        (Language::Bash, "date -s tomorrow"),
        (Language::Bash, "hostname x"),
        (Language::Bash, "file -C -m x"),
        (Language::Bash, "ls || reboot"),
        (Language::Sql, "drop table x"),
        (Language::Sql, "/* a */ delete from x"),
        (Language::Sql, "select 1; update x set a = 1"),
        (Language::Sql, "with a as (select 1) delete from x"),
        (Language::Sql, "explain analyze delete from x"),
        (Language::Sql, "create or replace table x as select 1"),
        (Language::Other, "require('child_process').execSync('ls')"),
        (Language::Other, "fs.unlinkSync('x')"),
    ];
    for (language, code) in dangerous {
        assert!(is_destructive(&dangers(code, language)), "{language:?} {code}");
    }
    let clean = [
        (Language::R, "summary(lm(y ~ x))"),
        (Language::R, "ecosystem(3)"),
        (Language::Julia, "sum(x .^ 2)"),
        (Language::Bash, "ls -la\n# rm x\nwc -l data.csv | sort -rn | uniq -c\ndate +%F\nhostname\nfile x"),
        (Language::Sql, "select deleted, updated from x where drop_date > 1"),
        (Language::Other, "const x = [1, 2].map(n => n + 1)"),
    ];
    for (language, code) in clean {
        assert_eq!(names(&dangers(code, language)), Vec::<&str>::new(), "{language:?} {code}");
    }
}

#[test]
fn languages_are_known_by_the_names_of_kernels() {
    for (name, language) in
        [("python", Language::Python), ("R", Language::R), ("julia-1.9", Language::Julia), ("cobol", Language::Other)]
    {
        assert_eq!(Language::named(name), language);
    }
}

#[test]
fn too_much_code_is_a_danger_by_itself() {
    let found = dangers(&"x = 1\n".repeat(MAX_CHECKED_BYTES / 6 + 1), Language::Python);
    assert_eq!(names(&found), ["too_long"]);
}

/// A beginning, what is repeated until the text is as long as allowed, an end.
const REPEATED: &[(&str, &str, &str)] = &[
    ("", "-", "1"),
    ("", "not ", "1"),
    ("", "~", "1"),
    ("", "(", ""),
    ("", "[", ""),
    ("", "{", ""),
    ("", "{1:", "1"),
    ("x", ".a", ""),
    ("x", "()", ""),
    ("x", "[0]", ""),
    ("x", "+x", ""),
    ("x", "**x", ""),
    ("", "lambda:", "1"),
    ("", "await ", "x"),
    ("", "x if x else ", "x"),
    ("", "f(", ""),
    ("", "x[", ""),
    ("x", " and (x", ""),
    ("", "(yield ", ""),
    ("", "*", "x"),
    ("", "f'{", ""),
    ("", "x:=(", ""),
    ("", "a=", "1"),
    ("", "@", "x"),
    ("if 1: 1\n", "elif 1: 1\n", ""),
    ("x", "<x", ""),
    ("", "print ", ""),
    ("", "match ", ""),
    ("", "async ", ""),
    ("", "for x in ", ""),
    ("", "[x for x in ", ""),
    ("", "%time ", "x"),
    ("", "%%time\n", "x"),
    ("", "!", ""),
    ("", "?", ""),
    ("", "import ", ""),
    ("", "\\\n", ""),
    ("", "\"", ""),
    ("import a", ".a", ""),
    ("from ", ".", " import a"),
    ("x: ", "a[", ""),
    ("", "type x = ", ""),
    ("", "yield ", ""),
    ("", "return ", ""),
    ("", "try:\n", ""),
    ("match x:\n case ", "[", ""),
    ("match x:\n case ", "a|", "a"),
    ("match x:\n case ", "a(", ""),
    ("", "x,", ""),
    ("", ";", ""),
    ("", "'a' ", ""),
    ("os.", "path.os.", "system"),
    ("getattr(", "getattr(", ""),
    ("'a'", "%'a'", ""),
    ("cur.execute(", "'a'+", "'b')"),
    ("", "t'{", ""),
    ("", "x if ", ""),
    ("", "not(", ""),
    ("", "else:\n", ""),
];

/// Trees as deep as the text is long: they must be refused in words, on the stack that a test has.
#[test]
fn hostile_depth_is_refused_and_not_followed() {
    for (head, middle, tail) in REPEATED {
        let count = (MAX_CHECKED_BYTES - head.len() - tail.len()) / middle.len();
        let code = format!("{head}{}{tail}", middle.repeat(count));
        dangers(&code, Language::Python);
    }
    let nested = "x".to_owned() + &"+x".repeat(400);
    assert_eq!(names(&dangers(&nested, Language::Python)), ["too_nested"]);
    let indented: String = (0..400).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    dangers(&indented, Language::Python);
}

/// Work that would grow with the square of the text is not done, and that is the answer.
#[test]
fn what_costs_too_much_is_not_checked() {
    let long = format!("q = '{}'\n", "y".repeat(19_000)).repeat(4);
    let executed = format!("{long}{}", "cur.execute(q)\n".repeat(1_500));
    let timed = format!("import timeit\n{long}{}", "timeit.timeit(q)\n".repeat(1_300));
    for code in [executed, timed] {
        assert!(names(&dangers(&code, Language::Python)).contains(&"not_checked"));
    }
    let others = dangers_of_each(&[], &[&long, &"cur.execute(q)\n".repeat(5_000), "1"], Language::Python);
    assert!(others.iter().all(|found| is_destructive(found)), "nobody knows which of them was not looked at");
}

/// 1 MiB of names, texts, functions and magics is judged to its end.
#[test]
fn a_large_notebook_is_checked() {
    let cell = |number: usize| {
        let lines = (0..700).map(|line| {
            format!("a{number}_{line} = 'x'\n%time f{number}(a{number}_{line}, df['a'].rolling(3).mean())\ndef g{line}(x): return os.path.join(x, a0_{line})\n")
        });
        lines.collect::<String>()
    };
    let cells: Vec<String> = (0..10).map(cell).collect();
    let codes: Vec<&str> = cells.iter().map(String::as_str).chain(["from os import *"]).collect();
    assert!(codes.iter().all(|code| code.len() <= MAX_CHECKED_BYTES));
    for found in dangers_of_each(&[], &codes, Language::Python) {
        assert_eq!(names(&found), Vec::<&str>::new());
    }
}

/// Each magic used to copy all names of the notebook.
#[test]
#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test measures")]
fn code_in_code_does_not_copy_the_names() {
    let named: Vec<String> =
        (0..8).map(|cell| (0..6_000).map(|name| format!("a{cell}_{name}='x'\n")).collect()).collect();
    let earlier: Vec<&str> = named.iter().map(String::as_str).collect();
    let time = |code: &str| {
        let start = std::time::Instant::now();
        dangers_after(&earlier, code, Language::Python);
        start.elapsed()
    };
    let best = |code: &str| (0..3).map(|_| time(code)).min().unwrap();
    let (few, many) = (best("%time 1\n"), best(&"%time 1\n".repeat(1_000)));
    assert!(many < few * 20, "one magic: {few:?}, 1,000: {many:?}");
}

#[test]
fn what_is_found_is_limited() {
    let many: String = (0..4_000).map(|number| format!("!c{number}\n")).collect();
    let found = dangers(&many, Language::Python);
    assert_eq!(found.len(), 20);
    let often = dangers(&"eval(1)\n".repeat(1_000), Language::Python);
    assert_eq!(often[0].lines.len(), 50);
}

#[test]
fn rules_have_stable_names() {
    for rule in DangerRule::ALL {
        assert_eq!(serde_json::to_value(rule).expect("JSON"), rule.name());
        assert!(rule.sentence().ends_with('.'));
    }
    assert_eq!(DangerRule::ShellCommand.grade(), Grade::Destructive);
}

/// The code cells of the notebooks of the repository, which run without harm.
fn real_cells() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/notebooks");
    let files = std::fs::read_dir(folder).expect("the fixtures are there").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = files.filter(|path| path.extension().is_some_and(|found| found == "ipynb")).collect();
    paths.sort();
    paths.iter().flat_map(|path| code_cells(&std::fs::read_to_string(path).expect("a notebook is text"))).collect()
}

fn code_cells(notebook: &str) -> Vec<String> {
    let notebook: serde_json::Value = serde_json::from_str(notebook).expect("a notebook is JSON");
    let cells = notebook["cells"].as_array().cloned().unwrap_or_default();
    let code = cells.into_iter().filter(|cell| cell["cell_type"] == "code");
    code.map(|cell| match &cell["source"] {
        serde_json::Value::String(text) => text.clone(),
        lines => lines.as_array().into_iter().flatten().filter_map(|line| line.as_str()).collect(),
    })
    .collect()
}

#[test]
fn real_harmless_cells_are_mostly_clean() {
    let cells = real_cells();
    let flagged: Vec<_> = cells
        .iter()
        .map(|cell| (cell, dangers(cell, Language::Python)))
        .filter(|(_, found)| is_destructive(found))
        .collect();
    for (cell, found) in &flagged {
        let sentences: Vec<String> = found.iter().map(Danger::sentence).collect();
        println!("{sentences:?}\n{}\n", cell.chars().take(300).collect::<String>());
    }
    println!("{} of {} harmless cells ask", flagged.len(), cells.len());
    assert!(
        !cells.is_empty() && flagged.len() * 100 <= cells.len() * 3,
        "{} of {} harmless cells ask",
        flagged.len(),
        cells.len()
    );
}

const PIECES: &[&str] = &[
    "os",
    ".",
    "system",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "\"\"\"",
    "\n",
    "    ",
    "=",
    "!",
    "%",
    "%%",
    "%%time\n",
    "import ",
    "from ",
    " as ",
    "*",
    "**",
    "lambda ",
    ":",
    ",",
    ";",
    "f'",
    "f\"{",
    "#",
    "\\",
    "if ",
    "for x in ",
    "with ",
    "def f",
    "class A",
    "await ",
    "getattr(",
    "globals()",
    "__import__",
    "\t",
    "\r",
    "\u{0}",
    "é",
    "😀",
    "?",
    "??",
    "/",
    ">>> ",
    "In [1]: ",
    "match ",
    "case ",
    "eval",
    "execute(",
    "DROP TABLE",
    "open(",
    "'w'",
    "@",
    "->",
    ":=",
    "...",
    "0x",
    "1e",
    "yield ",
    "%sql ",
    "%%sql\n",
    "%env ",
    "-",
    "--",
    "%timeit -",
];

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![prop::sample::select(PIECES).prop_map(str::to_owned), any::<String>(),];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn any_language() -> impl Strategy<Value = Language> {
    use Language::*;
    prop::sample::select(vec![Python, Python, Python, R, Julia, Bash, Sql, Other])
}

proptest! {
    #[test]
    fn nothing_panics_and_lines_are_inside((code, language) in (pieces(), any_language())) {
        let lines = u32::try_from(code.split('\n').count()).expect("few lines");
        for danger in dangers(&code, language) {
            prop_assert!(!danger.lines.is_empty() && danger.lines.iter().all(|line| (1..=lines).contains(line)), "{:?} of {code:?}", danger);
            prop_assert!(danger.found.chars().count() <= 80);
        }
        dangers_after(&[&code], "x", language);
    }

    #[test]
    fn bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let code = String::from_utf8_lossy(&bytes);
        dangers(&code, Language::Python);
    }
}
