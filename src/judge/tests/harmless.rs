//! Ordinary code is not warned of, and harmful pieces that say plainly what they do are.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;

use notarium_judge::{Danger, Grade, dangers, dangers_of_each, judge};
use serde_json::Value;

use crate::samples::{CLEAN, HELD, PRELUDE};

/// Pieces that each did harm in a real kernel, or would on another system. The system holds their effects; those with `warned`
/// are also warned of before they run.
const HARMFUL: &str = include_str!("harmful.jsonl");

fn with_places(code: &str) -> String {
    let places = [
        ("{N}", "http://127.0.0.1:9/x"),
        ("{NP}", "9"),
        ("{C}", "/tmp/keep.txt"),
        ("{D}", "/tmp/keep"),
        ("{P}", "/tmp/made"),
        ("{DB}", "/tmp/keep.db"),
        ("{PID}", "1"),
        ("{HEX}", "31"),
        ("{QHEX}", "31"),
        ("{ORDS}", "[49]"),
    ];
    places.iter().fold(code.to_owned(), |code, (place, value)| code.replace(place, value))
}

#[test]
fn harmful_pieces_that_are_marked_are_warned_of_and_no_others() {
    let (mut expected, mut found) = (BTreeSet::new(), BTreeSet::new());
    for line in HARMFUL.lines().filter(|line| !line.is_empty()) {
        let piece: Value = serde_json::from_str(line).expect("a line is JSON");
        let id = piece["id"].as_str().expect("a piece has an id").to_owned();
        if !dangers(&with_places(piece["code"].as_str().expect("a piece has code"))).is_empty() {
            found.insert(id.clone());
        }
        if piece["warned"] == true {
            expected.insert(id);
        }
    }
    assert_eq!(found, expected, "the marks in harmful.jsonl");
    assert!(expected.len() >= LEAST_WARNED, "{}", expected.len());
}

/// Marked pieces. This number only rises.
const LEAST_WARNED: usize = 22;

const HARMLESS: &[&str] = &[
    "import pandas as pd\ndf = pd.read_csv('data/x.csv')\ndf.groupby('a').agg({'b': ['mean', 'sum']}).plot()",
    "import pandas as pd, io\npd.read_csv(io.StringIO('a,b\\n1,2')).head()",
    "import pandas as pd\ndata = pd.DataFrame({'area': [1]})\ndata.area / data.area.sum()",
    "import pandas as pd\nframes = [pd.read_csv(f'data/{year}.csv') for year in range(3)]\npd.concat(frames)",
    "import pandas as pd, glob\nfor path in sorted(glob.glob('data/*.csv')):\n    print(pd.read_csv(path).shape)",
    "import numpy as np\nimport matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot(np.sin(np.linspace(0, 1)), label='x')\nax.legend()\nplt.show()",
    "from sklearn.linear_model import LinearRegression\nimport numpy as np\nmodel = LinearRegression().fit(np.eye(2), [1, 2])\nmodel.predict(np.eye(2)), model.coef_",
    "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\ndf.filter(['a']), df.filter(like='a', axis=1), df.groupby('a').filter(lambda group: len(group) > 1)",
    "import polars as pl\ndf = pl.DataFrame({'a': [1]})\ndf.filter(pl.col('a') > 1), df.filter(pl.col('a') > 1, pl.col('a') < 3), df.filter(pl.col('a') > 1, a=1)",
    "from pathlib import Path\n(Path('data') / 'x.txt').read_text()",
    "from pathlib import Path\n[path.name for path in sorted(Path('data').glob('*.csv'))]",
    "from pathlib import Path\nimport pandas as pd\nfolder = Path('data')\nfor path in folder.rglob('*.csv'):\n    print(pd.read_csv(path).shape)",
    "with open('data/x.txt') as f:\n    lines = [line.strip() for line in f]",
    "class A:\n    def __init__(self, x): self.x = x\n    def save(self): return self.x\na = A(1)\na.save()",
    "import matplotlib.pyplot as plt\nplt.rcParams['figure.figsize'] = (8, 4)\nplt.style.use('ggplot')",
    "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\ndf.query('a > 0 and a < 3')\ndf.eval('b = a + 1')",
    "import statsmodels.formula.api as smf, pandas as pd\nsmf.ols('y ~ x + C(z)', data=pd.DataFrame({'y': [1], 'x': [1], 'z': [1]}))",
    "%matplotlib inline\n%config InlineBackend.figure_format = 'retina'",
    "%timeit -n 10 sum(range(10))",
    "%%time\nx = sum(range(10))",
    "%time total = sum(range(10))\ntotal",
    "import numpy as np\nnp.sin?",
    "def f(n):\n    return 1 if n < 2 else n * f(n - 1)\nlist(map(f, range(4)))",
    "match [1, 2]:\n    case [a, b]: print(a + b)",
    "'{:.2f} {}'.format(1, 2)",
    "'df' in globals()",
    "import pandas as pd\npd.DataFrame({'a': [1]}).to_csv()",
    "import pandas as pd\npd.set_option('display.max_rows', 10)\npd.options.display.max_rows = 5",
    "from IPython.display import display, HTML\ndisplay(HTML('<b>x</b>'))",
    "type(1).__name__, (1).__class__.__name__",
    "from sklearn.decomposition import PCA\nimport numpy as np\nX = np.eye(3)\nPCA(2).fit(X).transform(X)",
    "import pandas as pd\npd.DataFrame({'a': [1]}).apply(lambda row: row.sum(), axis=1)",
    "import pandas as pd\ndf = pd.DataFrame({'k': [1], 'v': [2]})\ndf.pivot_table('v', index='k', aggfunc='sum')\ndf.groupby('k').agg(total=('v', 'sum'))",
    "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\npd.eval('df.a + 1')",
    "import pandas as pd\npd.Series(['a1']).str.extract('([a-z])')",
    "x = 3\nprint(type(x), isinstance(x, type(4)))\ntype(x) == int",
    "[type(x) for x in [1, 'a']]",
    "import numpy as np, pandas as pd\nnp.__version__, pd.__version__",
    "import numpy as np\nnp.load('data/x.npy', mmap_mode='r')",
    "class A:\n    def __init__(self): self._items = []\n    def run(self): return self._items\nA().run()",
    "class P:\n    def __init__(self): pass\nclass Q(P):\n    def __init__(self):\n        super().__init__()\n        P.__init__(self)\nQ()",
    "from functools import wraps\ndef d(f):\n    @wraps(f)\n    def g(*a): return f(*a)\n    return g",
    "from numpy import *\nsin(arange(3))",
    "import numpy as np\nhelp(len)\nhelp(np.sum)",
    "%time [x for x in range(3)]",
    "display({'image/png': b'', 'text/plain': 'a picture'}, raw=True)",
    "from dateutil import parser\nparser.parse('4th of July, 2015')",
    "import matplotlib.pyplot as plt\nplt.style.available[:5]\nplt.cm.get_cmap('viridis')",
    "'a-b'.replace('-', '_')",
    "from dataclasses import dataclass, field\n@dataclass(frozen=True)\nclass P:\n    x: int\n    y: list = field(default_factory=list)\nP(1).x",
    "from abc import ABC, ABCMeta, abstractmethod\nclass A(metaclass=ABCMeta):\n    @abstractmethod\n    def f(self): pass\nclass B(ABC): pass",
    "from typing import TypedDict\nclass Row(TypedDict, total=False):\n    x: int\nrow: Row = {'x': 1}",
    "import logging\nlogging.basicConfig(level=logging.INFO, format='%(asctime)s %(message)s')\nlogging.info('x')",
    "from tqdm import tqdm\nfor x in tqdm([1], desc='x', bar_format='{l_bar}{bar}'): pass",
    "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\ndf.style.format('{:.2f}')\ndf.style.format({'a': '{:.1%}'}).format(lambda x: 'x')",
    "import pandas as pd\ndf = pd.DataFrame({'a': [1], 'k': [1]})\ndf.groupby('k').agg(total=pd.NamedAgg('a', 'sum'), most=('a', 'max'))",
    "from sklearn.model_selection import GridSearchCV\nfrom sklearn.svm import SVC\ngrid = {'C': [1, 10], 'kernel': ['rbf']}\nGridSearchCV(SVC(), grid, cv=5)\nGridSearchCV(SVC(), param_grid=[{'C': [1]}, {'svc__gamma': [2]}])",
    "from sklearn.base import BaseEstimator\nclass E(BaseEstimator):\n    def __init__(self, alpha=1): self.alpha = alpha\nE().set_params(alpha=2).get_params()",
    "%config InlineBackend.rc = {'figure.figsize': (10, 6)}",
    "from pathlib import Path\nPath('data/x.txt').name.replace('.txt', '.csv')",
    "import matplotlib.pyplot as plt\nstyle = {'color': 'k', 'lw': 1}\ndef draw(ax, **kwargs):\n    kwargs.setdefault('color', 'r')\n    kwargs['lw'] = 2\n    ax.plot([1], **kwargs)\ndraw(plt.gca(), **style)",
    "import matplotlib.pyplot as plt\nlines = plt.plot([1])\nplt.setp(lines, color='r')\nplt.setp(lines, 'linewidth', 2)\nplt.title('x', {'size': 9})\nplt.text(0, 0, 'x', fontdict=dict(size=9))",
    "import matplotlib.pyplot as plt\nprops = dict(boxstyle='round')\nplt.annotate('x', (0, 0), arrowprops=props)\nplt.text(*(0, 0), 'x', **props)",
    "from collections import Counter, defaultdict\nc = Counter()\nc.update('abc')\nd = {}\ndef add(more): d.update(more)\nadd({1: 2})\nsum(d.values())",
    "import pandas as pd\nfiles = ['data/a.csv', 'data/b.csv']\nprint(len(files), sorted(files))\nfor path in files:\n    pd.read_csv(path)",
    "import pandas as pd\ndef total(a, b=1): return a + b\ntotal(**{'a': 1}), total(**dict(zip('ab', [1, 2])))",
    "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nplt.switch_backend('TkAgg')",
];

#[test]
fn ordinary_code_is_warned_of_in_three_percent_at_most() {
    let codes: Vec<&str> = [HARMLESS, HELD, CLEAN].concat();
    let warned: Vec<&&str> =
        codes.iter().filter(|code| !dangers_of_each(&[PRELUDE], &[code]).concat().is_empty()).collect();
    assert!(warned.len() * 100 <= codes.len() * 3, "{} of {}: {warned:#?}", warned.len(), codes.len());
}

#[test]
fn reading_computing_and_plotting_run_unasked() {
    for code in HARMLESS {
        let sentences: Vec<String> = dangers(code).iter().map(Danger::sentence).collect();
        assert_eq!(sentences, Vec::<String>::new(), "{code:?}");
    }
}

#[test]
fn names_of_other_cells_are_followed() {
    let grade = |earlier: &str, code: &str| judge(&[earlier], &[code], &[]).grade;
    assert_eq!(grade("from os import _exit as tidy", "tidy(0)"), Some(Grade::Destructive));
    assert_eq!(grade("import os\nleave = os._exit", "leave(0)"), Some(Grade::Destructive));
    assert_eq!(grade("%%time\nimport json as j", "j.dumps = print"), Some(Grade::Destructive));
    assert_eq!(grade("exit()", "x = 1"), None, "earlier cells are not judged again");
}

#[test]
fn a_registered_function_carries_its_risk() {
    let registered = [("wipe", Some(Grade::Destructive)), ("send", Some(Grade::Unknown)), ("look", None)];
    let earlier = ["def wipe(): pass\ndef send(): pass\ndef look(): pass"];
    let grade = |code: &str| judge(&earlier, &[code], &registered).grade;
    assert_eq!(grade("wipe()"), Some(Grade::Destructive));
    assert_eq!(grade("f = wipe"), Some(Grade::Destructive));
    assert_eq!(grade("send()"), Some(Grade::Unknown));
    assert_eq!(grade("look()"), None);
    assert_eq!(judge(&[], &["wipe()"], &registered).grade, Some(Grade::Destructive));
}
