//! Kinds of effects to which a text can lead.

use notarium_expectation::{ExpectedKinds, expected_kinds};

const NONE: &str = "";
const LIBRARY: &str = "write network";
const ALL: &str = "write remove network signal database";

fn words(kinds: ExpectedKinds) -> String {
    let names = [
        ("write", ExpectedKinds::WRITE),
        ("remove", ExpectedKinds::REMOVE),
        ("network", ExpectedKinds::NETWORK),
        ("signal", ExpectedKinds::SIGNAL),
        ("database", ExpectedKinds::DATABASE),
    ];
    let has = names.into_iter().filter(|(_, kind)| kinds.has(*kind)).map(|(name, _)| name);
    has.collect::<Vec<_>>().join(" ")
}

fn check(cases: &[(&[&str], &str, &str)]) {
    let wrong = cases.iter().filter_map(|(earlier, code, kinds)| {
        let found = words(expected_kinds(earlier, &[code])[0]);
        (found != *kinds).then(|| format!("{code:?} after {earlier:?}: {found:?}, not {kinds:?}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn texts_without_effects_have_no_kinds() {
    check(&[
        (&[], "1 + 1", NONE),
        (&[], "", NONE),
        (&[], "x", NONE),
        (&[], "print(len('x'), sorted([2, 1]))", NONE),
        (&[], "open('x').read", NONE),
        (&[], "with open('x', 'rb') as f: pass", NONE),
        (&[], "with open('x', encoding='utf8', mode='rt') as f: pass", NONE),
        (&["import json"], "json.dumps({})", NONE),
        (&[], "json.dumps({})", NONE),
        (&["import math as m"], "m.sqrt(2)", NONE),
        (&[], "from collections import Counter\nCounter('abc')", NONE),
        (&[], "import os\nos.path.join('a', 'b')", NONE),
        (&[], "items = [1, 2]\nitems.remove(1)\nitems.append(3)", NONE),
        (&["items = [1]"], "items.remove(1)", NONE),
        (&[], "'a b'.split()", NONE),
        (&[], "for i in range(3):\n    print(i.bit_length())", NONE),
        (&[], "import time\nfrom datetime import datetime\ntime.sleep(1), datetime.now()", NONE),
        (&[], "%time x = 1", NONE),
        (&[], "%%time\nprint(1)", NONE),
        (&[], "%%html\n<b>x</b>", NONE),
        (&[], "len?", NONE),
        (&["def add(a, b): return a + b"], "add(1, 2)", NONE),
        (&["class Point:\n    def __init__(self): self.x = 1"], "Point()", NONE),
        (&[], "__import__('json').dumps({})", LIBRARY),
    ]);
}

#[test]
fn a_trap_that_removes_is_a_surprise_to_these() {
    let earlier = ["import pandas as pd, json\ndf = pd.read_csv('data.csv')", "import os\nos.remove('old.csv')"];
    for code in [
        "df.describe()",
        "df",
        "json.dumps({})",
        "1+1",
        "df.groupby('a').mean()",
        "print(df)",
        "df.drop(columns='a')",
        "df.head()\ndf.plot()",
        "df.to_csv('out.csv')",
        "import numpy as np\nnp.arange(3)",
        "x = [1]\nx.clear()",
    ] {
        let found = words(expected_kinds(&earlier, &[code])[0]);
        assert!(!found.contains("remove") && !found.contains("signal"), "{code:?}: {found}");
    }
}

#[test]
fn a_call_into_a_library_may_write_and_use_the_network() {
    check(&[
        (&[], "import pandas as pd\npd.read_csv('x')", LIBRARY),
        (&["import pandas as pd"], "pd.read_csv('x')", LIBRARY),
        (&["import pandas as pd", "df = pd.read_csv('x')"], "df.describe()", LIBRARY),
        (&[], "unknown(1)", LIBRARY),
        (&[], "_.describe()", LIBRARY),
        (&[], "from mine import *\nhelper()", LIBRARY),
        (&["import numpy as np"], "@np.vectorize\ndef f(x): return x", LIBRARY),
        (&["from base import Base"], "class A(Base): pass", LIBRARY),
        (&[], "%matplotlib inline", LIBRARY),
        (&["import numpy as np"], "%timeit np.arange(3)", LIBRARY),
    ]);
}

#[test]
fn what_a_text_says_is_expected() {
    check(&[
        (&[], "open('x', 'w').close", "write"),
        (&[], "open('x', mode)", "write"),
        (&[], "open(*args)", "write"),
        (&[], "open('x', 'r+')", "write"),
        (&[], "opens = open", "write"),
        (&[], "import os\nos.mkdir('x')", "write"),
        (&[], "import os as o\no.remove('x')", "remove"),
        (&["import os as o"], "o.remove('x')", "remove"),
        (&["from os import remove as tidy"], "tidy('x')", "remove"),
        (&["from os import *"], "remove('x')", "write remove network"),
        (&[], "import os\nlist(map(os.remove, ['x']))", "remove"),
        (&[], "import shutil\nshutil.rmtree('x')", "write remove"),
        (&[], "from pathlib import Path\nPath('x').unlink()", "write remove network"),
        (&["from pathlib import Path\np = Path('x')"], "p.unlink()", "write remove network"),
        (&[], "getattr(p, 'unlink')()", "write remove network"),
        (&[], "import os\nos.kill(1, 9)", "signal"),
        (&[], "process.terminate()", "write network signal"),
        (&[], "import socket\nsocket.create_connection(('x', 1))", "network"),
        (&[], "from urllib.request import urlopen\nurlopen('http://x')", "network"),
        (&[], "con.execute('insert')", "write remove network"),
        (&[], "os.remove('x')", "remove"),
        (&[], "subprocess.run('ls')", ALL),
        (&[], "import notarium\nnotarium.sql('select 1')", "write remove network database"),
        (&[], "model.save('x')", "write remove network"),
        (&[], "from sklearn.datasets import fetch_openml\nfetch_openml('x')", "write remove network"),
        (&[], "fit(x, n_jobs=1)", LIBRARY),
        (&[], "fit(x, n_jobs=-1)", ALL),
    ]);
}

#[test]
fn what_starts_programs_or_runs_texts_may_do_everything() {
    let texts = [
        "!ls",
        "x = !ls",
        "import subprocess\nsubprocess.run('ls')",
        "import os\nos.system('ls')",
        "exec(text)",
        "eval('1')",
        "import pickle\npickle.load(f)",
        "getattr(os, name)('x')",
        "%run x.py",
        "%%bash\nls",
        "%unknown",
        "%%script x\ny",
        "def f(:",
        "get_ipython().system('ls')",
        "import importlib\nimportlib.reload(x)",
        "__import__(name)",
        "%pip install x",
        "import multiprocessing as mp\nmp.Pool()",
        "from concurrent.futures import ProcessPoolExecutor",
        "%timeit (",
    ];
    for text in texts.iter().filter(|text| !text.contains("ProcessPool")) {
        assert_eq!(words(expected_kinds(&[], &[text])[0]), ALL, "{text:?}");
    }
    check(&[(&["from concurrent.futures import ProcessPoolExecutor as Pool"], "Pool()", ALL)]);
    let long = "x = 1\n".repeat(20_000);
    assert_eq!(words(expected_kinds(&[], &[&long])[0]), ALL);
    let deep = format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000));
    assert_eq!(words(expected_kinds(&[], &[&deep])[0]), ALL);
}

#[test]
fn definitions_that_a_text_reaches_count_and_no_others() {
    let tidy = "import os\ndef tidy(): os.remove('x')";
    check(&[
        (&[tidy], "tidy()", "remove"),
        (&[tidy], "print(1)", NONE),
        (&[tidy, "def outer(): tidy()"], "outer()", "remove"),
        (&[tidy, "run = tidy"], "run()", "write remove network"),
        (
            &["import os\nclass Store:\n    def clear(self): os.remove('x')", "store = Store()"],
            "store.clear()",
            "write remove network",
        ),
        (
            &["import os\nclass Base:\n    def drop(self): os.remove('x')", "class Store(Base): pass"],
            "Store().drop()",
            "write remove network",
        ),
        (&[tidy, "%%time\ndef timed(): tidy()"], "timed()", "remove"),
        (&[tidy], "%timeit tidy()", "remove"),
        (&[tidy], "__import__(\"notarium\").call_function(\"tidy\", {})", "write remove network"),
        (&["def a(): b()", "def b(): a()"], "a()", NONE),
        (&["does not parse ("], "1", NONE),
    ]);
    let kinds = expected_kinds(&[], &[tidy, "tidy()", "1"]);
    assert_eq!(kinds.into_iter().map(words).collect::<Vec<_>>(), ["remove", "remove", NONE]);
}

#[test]
fn sql_cells_do_what_their_first_line_says() {
    check(&[
        (&[], "%%notarium_sql\nSELECT 1", LIBRARY),
        (&[], "%%notarium_sql\n-- @sales write\nDELETE FROM t", "write remove network database"),
        (&["%%notarium_sql\n-- @sales write > rows\nDELETE FROM t"], "rows.head()", "write remove network database"),
    ]);
}

proptest::proptest! {
    #[test]
    fn no_text_panics(earlier in "\\PC{0,80}", code in "[a-z.()'=%!\\n\\[\\]{}: ]{0,120}") {
        expected_kinds(&[&earlier], &[&code, &earlier]);
    }
}
