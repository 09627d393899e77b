//! Tests of traps that an assistant's code lays in a kernel's memory: they have no effect in a person's name that the
//! person's own text does not lead to, until the person allows it. Real kernels, the whole path.

use std::collections::BTreeSet;
use std::sync::Arc;

use notarium_core::{
    CellId, CellType, Command, Effect, Effects, Execution, ExecutionStatus, ExecutionTarget, InsertCell,
    KernelSurprises, Place, RequestExecution, RequestedEffects,
};

use super::{HeldScene, text};

/// Code of a person's run before the traps are laid.
const PREPARED: &str = "import statistics\nimport pandas as pd\n\
                        frame = pd.DataFrame({'a': [1, 2]})\nvalue = [1]\nclass Note: pass\nnote = Note()";
/// Code of an assistant: `spring` removes the file, once for each trap that calls it.
const SPRING: &str = "import os\ndef spring():\n    try:\n        os.remove('{C}')\n    except OSError:\n        pass";

/// A trap that an assistant lays, and the innocent cell of a person that springs it.
struct Trap {
    laid: &'static str,
    cell: &'static str,
}

const TRAPS: &[Trap] = &[
    // A function of a module.
    Trap {
        laid: "import statistics\nmean = statistics.mean\ndef fired(of):\n    statistics.mean = mean\n    spring()\n    return mean(of)\nstatistics.mean = fired",
        cell: "print(statistics.mean([1, 3]))",
    },
    // A method of a library's class.
    Trap {
        laid: "describe = pd.DataFrame.describe\ndef fired(self, *a, **k):\n    pd.DataFrame.describe = describe\n    spring()\n    return describe(self, *a, **k)\npd.DataFrame.describe = fired",
        cell: "frame.describe()",
    },
    // A method of one object of the person's.
    Trap { laid: "note.__class__ = type('Note', (), {'__repr__': lambda self: spring() or 'note'})", cell: "note" },
    // A destructor.
    Trap { laid: "value = type('Value', (), {'__del__': lambda self: spring()})()", cell: "value = 2; print(value)" },
    Trap {
        laid: "import weakref\nwatched = type('Watched', (), {})()\nend = weakref.finalize(watched, spring)\nvalue = [watched]; del watched",
        cell: "value = 3",
    },
    // Callbacks of IPython, and of the tracing of Python.
    Trap {
        laid: "def fired(*a):\n    get_ipython().events.unregister('pre_run_cell', fired)\n    spring()\nget_ipython().events.register('pre_run_cell', fired)",
        cell: "1 + 1",
    },
    Trap {
        laid: "import sys\ndef fired(*a):\n    sys.setprofile(None)\n    spring()\ndef arm(*a):\n    get_ipython().events.unregister('pre_run_cell', arm)\n    sys.setprofile(fired)\nget_ipython().events.register('pre_run_cell', arm)",
        cell: "print(2)",
    },
    // A builtin, and a program that removes.
    Trap {
        laid: "import builtins, subprocess\nbefore = builtins.divmod\ndef fired(*of):\n    builtins.divmod = before\n    subprocess.run(['rm', '{C}'], stderr=subprocess.DEVNULL)\n    return before(*of)\nbuiltins.divmod = fired",
        cell: "print(divmod(7, 2))",
    },
    // A process without another program.
    Trap {
        laid: "import builtins, os\nin_octal = builtins.oct\ndef fired(of):\n    builtins.oct = in_octal\n    if os.fork() == 0:\n        spring()\n        os._exit(0)\n    os.wait()\n    return in_octal(of)\nbuiltins.oct = fired",
        cell: "print(oct(8))",
    },
];

impl HeldScene {
    /// Starts a kernel in which a person ran what the traps need, and an assistant the function that they call.
    async fn mixed(arguments: &[&str]) -> Self {
        let mut scene = Self::with(arguments).await;
        assert_eq!(scene.cell(PREPARED).await.status, ExecutionStatus::Ok);
        scene.assert_holds();
        scene.lay(SPRING).await;
        scene
    }

    /// Has the assistant run code that asks for no effects. A person who is asked sees none, and confirms.
    async fn lay(&mut self, code: &str) {
        let code = self.witness.aim(code);
        let (runs, _) = self.confirmed(&[&code], &[]).await;
        assert_eq!((runs[0].status, &runs[0].refused), (ExecutionStatus::Ok, &Vec::new()), "{code} {:?}", runs[0]);
        self.witness.forget();
    }

    async fn insert(&mut self, code: &str) -> CellId {
        let insert = InsertCell::new(CellType::Code, code.to_owned(), Place::End);
        self.ada.command(Command::InsertCell(insert)).await.cells[0].clone()
    }

    /// Runs a cell again, with all effects allowed.
    async fn allow(&mut self, cell_id: &CellId) -> Arc<Execution> {
        let target = ExecutionTarget::Cell { cell_id: cell_id.clone(), cell_version: None };
        let effects = Some(RequestedEffects::Free);
        let request = Command::RequestExecution(RequestExecution { effects, ..RequestExecution::new(target) });
        let run = self.ada.command(request).await.executions[0].clone();
        self.ada.until("the request", |state| state.executions.contains_key(&run)).await;
        self.ended(std::slice::from_ref(cell_id)).await.remove(0)
    }

    fn has_file(&self) -> bool {
        std::fs::exists(self.witness.path("kept.txt")).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trap_removes_nothing_in_a_person_s_name() {
    let mut scene = HeldScene::mixed(&[]).await;
    for Trap { laid, cell } in TRAPS {
        scene.lay(laid).await;
        let run = scene.cell(cell).await;
        assert_eq!(run.status, ExecutionStatus::Ok, "{cell}: {run:?}");
        assert!(matches!(run.effects.judged(), Effects::Expected { .. }), "{cell}: {:?}", run.effects);
        let [refused] = &run.refused[..] else { panic!("{cell}: {:?}", run.refused) };
        assert_eq!((refused.kind.known(), refused.count), (Some(&Effect::Remove), 1), "{cell}: {refused:?}");
        assert_eq!(refused.target, scene.witness.path("kept.txt"), "{cell}");
        assert_eq!(scene.changes(), BTreeSet::new(), "{cell}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn allow_runs_the_cell_again_and_deny_leaves_all_as_it_is() {
    let mut scene = HeldScene::mixed(&[]).await;
    scene.lay("class Shown:\n    def __repr__(self):\n        spring()\n        return 'shown'\nnote = Shown()").await;
    let cell_id = scene.insert("note").await;
    let request = RequestExecution::new(ExecutionTarget::Cell { cell_id: cell_id.clone(), cell_version: None });
    scene.ada.command(Command::RequestExecution(request)).await;
    let run = scene.ended(std::slice::from_ref(&cell_id)).await.remove(0);
    assert_eq!(run.refused.len(), 1, "{run:?}");
    // Deny sends nothing: the next cell finds all as it was.
    assert_eq!(scene.changes(), BTreeSet::new());
    let run = scene.cell("print(value)").await;
    assert_eq!(text(&run), "[1]\n");
    let run = scene.allow(&cell_id).await;
    assert_eq!((run.effects.judged(), run.refused.len()), (Effects::Free, 0), "{run:?}");
    assert!(!scene.has_file(), "the person allowed it");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_ask_says_so_and_lets_it_happen() {
    for (arguments, setting) in
        [(&[][..], KernelSurprises::Ask), (&["--kernel-surprises", "off"][..], KernelSurprises::Off)]
    {
        let mut scene = HeldScene::mixed(arguments).await;
        let sandbox = scene.ada.state().kernels.values().next().unwrap().sandbox.clone();
        assert_eq!(KernelSurprises::of_sandbox(&sandbox), Some(setting), "{}", sandbox.get());
        scene.lay(TRAPS[0].laid).await;
        let run = scene.cell(TRAPS[0].cell).await;
        let asks = setting == KernelSurprises::Ask;
        assert_eq!((run.refused.len() == 1, scene.has_file()), (asks, asks), "{run:?}");
        assert_eq!(run.effects.judged() == Effects::Free, !asks, "{:?}", run.effects);
    }
}

/// Cells of people that write, remove, download and start programs, by their own text or by libraries.
const ORDINARY: &[&str] = &[
    "frame.to_csv('out.csv'); print(len(pd.read_csv('out.csv')))",
    "import os\nos.remove('out.csv')",
    "from pathlib import Path\nPath('a.txt').write_text('x'); Path('a.txt').unlink()",
    "!echo x > b.txt && rm b.txt",
    "import subprocess\nsubprocess.run(['sh', '-c', 'echo x > c.txt; rm c.txt'], check=True)",
    "import shutil\nos.makedirs('d/e'); shutil.rmtree('d')",
    "def tidy(name):\n    open(name, 'w').close()\n    os.remove(name)",
    "tidy('f.txt')",
    "import tempfile\nwith tempfile.TemporaryDirectory() as folder:\n    frame.to_csv(folder + '/x.csv')",
    "import urllib.request\nurllib.request.urlopen('{N}', timeout=0.1)",
    "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\nfigure = plt.figure(); figure.savefig('g.png'); os.remove('g.png')",
    "import sqlite3\nbase = sqlite3.connect('h.db'); base.execute('create table t (x)'); base.commit(); base.close(); os.remove('h.db')",
    "import logging\nlogging.basicConfig(filename='i.log', force=True); logging.warning('x'); logging.shutdown(); os.remove('i.log')",
    "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as pool:\n    list(pool.map(frame.to_csv, ['j.csv', 'k.csv']))\n[os.remove(name) for name in ('j.csv', 'k.csv')]",
    "import pickle\npickle.dump(frame, open('l.pkl', 'wb')); os.remove('l.pkl')",
    "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n    print(sum(pool.map(abs, range(4))))",
    "child = subprocess.Popen(['sleep', '1000']); child.kill(); print(child.wait())",
    "%time frame.describe()",
    "import sklearn.linear_model\nsklearn.linear_model.LinearRegression().fit(frame, frame.a).score(frame, frame.a)",
];

#[tokio::test(flavor = "multi_thread")]
async fn ordinary_cells_of_a_person_are_not_stopped() {
    let mut scene = HeldScene::mixed(&[]).await;
    let mut problems = Vec::new();
    for code in ORDINARY {
        let code = scene.witness.aim(code);
        let run = scene.cell(&code).await;
        let is_network = code.contains("http://");
        if !run.refused.is_empty() || run.status != ExecutionStatus::Ok && !is_network {
            problems.push(format!("{code}: {:?} {:?} {:?}", run.status, run.refused, run.outputs));
        }
        let is_connected = scene.changes().iter().any(|change| change.contains("TCP"));
        assert_eq!(is_connected, is_network, "{code}");
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
