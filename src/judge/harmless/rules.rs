//! Functions that are judged by their arguments, and names that are judged by hand.

use crate::DangerRule::{self, *};
use crate::words::Words;

/// How a call is judged by what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Reads a file: its place must be a literal path inside the working folder.
    Reads,
    /// `open` for reading.
    Opens,
    /// A place, all parts of which must be literal.
    Place,
    /// `getattr`, `hasattr`, `setattr`, `delattr`.
    AttributeByName,
    /// `attrgetter`, `methodcaller`.
    NamesAttributes,
    /// One argument, of which it tells the type.
    Type,
    /// `setp`: sets what the texts say.
    SetsByName,
    /// Changes a definition, or makes one from names that nobody sees: only as a decorator, a base, a metaclass.
    Defines,
    /// A format, whose fields walk through objects.
    Formats,
    /// What a search sets by its name: no setting that opens a file.
    Searches,
    /// A name of a style, a backend or a display: a plain word.
    Word,
    /// A group of settings of pictures.
    Settings,
    /// Settings in a dictionary.
    SettingsOf,
    /// `pandas.set_option('display.…', …)`.
    Option,
    /// A model's formula, which is Python.
    Formula,
    /// `pandas.eval`
    Evaluates,
    /// What a page shows: a text of which it is known that it is no address.
    Shows,
    /// Callables, never texts.
    Measures,
    /// `logging.basicConfig` without a file.
    LogsToScreen,
    /// Reads a variable of the environment.
    Variable,
    /// Gets what an address has, or sends data there.
    Fetches,
    /// A module by its name.
    Imports,
    /// Names of the notebook: only to ask whether there is one.
    Namespace,
    /// A magic by its name.
    Magic,
}

const RULES: &[(Rule, &str)] = &[
    (
        Rule::Reads,
        "pandas.read_csv pandas.read_table pandas.read_fwf pandas.read_json pandas.read_excel pandas.read_parquet \
         pandas.read_feather pandas.read_orc pandas.read_stata pandas.read_sas pandas.read_spss pandas.ExcelFile \
         numpy.loadtxt numpy.genfromtxt numpy.load numpy.fromfile matplotlib.pyplot.imread matplotlib.image.imread \
         polars.read_csv polars.scan_csv polars.read_parquet polars.scan_parquet polars.read_json polars.read_ndjson \
         polars.read_ipc polars.read_excel scipy.io.loadmat scipy.io.wavfile.read skimage.io.imread pyarrow.csv.read_csv \
         pyarrow.parquet.read_table pyarrow.feather.read_table os.listdir os.path.exists os.path.isfile os.path.isdir \
         os.path.getsize os.path.getmtime os.walk os.stat glob.glob glob.iglob sklearn.datasets.load_svmlight_file",
    ),
    (Rule::Opens, "builtins.open io.open gzip.open bz2.open lzma.open codecs.open"),
    (Rule::Place, "pathlib.Path pathlib.PurePath pathlib.PosixPath"),
    (Rule::AttributeByName, "builtins.getattr builtins.hasattr builtins.setattr builtins.delattr"),
    (Rule::NamesAttributes, "operator.attrgetter operator.methodcaller"),
    (Rule::SetsByName, "matplotlib.pyplot.setp matplotlib.artist.setp"),
    (Rule::Type, "builtins.type"),
    (Rule::Defines, "functools.wraps dataclasses.dataclass typing.TypedDict abc.ABCMeta"),
    (Rule::Formats, "matplotlib.ticker.StrMethodFormatter logging.Formatter"),
    (
        Rule::Searches,
        "sklearn.model_selection.GridSearchCV sklearn.model_selection.RandomizedSearchCV sklearn.grid_search.GridSearchCV \
         sklearn.model_selection.HalvingGridSearchCV sklearn.model_selection.HalvingRandomSearchCV \
         sklearn.grid_search.RandomizedSearchCV sklearn.model_selection.validation_curve \
         sklearn.learning_curve.validation_curve",
    ),
    (
        Rule::Word,
        "matplotlib.use matplotlib.pyplot.switch_backend matplotlib.pyplot.style.use matplotlib.style.use \
         matplotlib.pyplot.style.context matplotlib.style.context seaborn.set_style seaborn.axes_style seaborn.set_context \
         seaborn.plotting_context",
    ),
    (Rule::Settings, "matplotlib.rc matplotlib.pyplot.rc"),
    (
        Rule::SettingsOf,
        "matplotlib.rcParams.update matplotlib.pyplot.rcParams.update matplotlib.pyplot.rc_context matplotlib.rc_context \
         seaborn.set seaborn.set_theme",
    ),
    (Rule::Option, "pandas.set_option pandas.option_context pandas.get_option pandas.reset_option"),
    (Rule::Evaluates, "pandas.eval"),
    (Rule::Formula, "statsmodels.formula.api.* patsy.dmatrix patsy.dmatrices statsmodels.api.formula.*"),
    (
        Rule::Shows,
        "IPython.display.HTML IPython.display.Markdown IPython.display.Latex IPython.display.Math IPython.display.SVG \
         IPython.display.Image IPython.display.Audio IPython.core.display.HTML IPython.display.JSON IPython.display.Code \
         IPython.core.display.Image IPython.display.Pretty IPython.core.display.Markdown",
    ),
    (
        Rule::Measures,
        "timeit.timeit timeit.repeat timeit.Timer cProfile.run cProfile.runctx profile.run profile.runctx",
    ),
    (Rule::Variable, "os.getenv os.environ.get os.environ.pop"),
    (Rule::Fetches, "urllib.request.urlopen"),
    (Rule::Imports, "importlib.import_module"),
    (Rule::LogsToScreen, "logging.basicConfig"),
    (Rule::Namespace, "builtins.globals builtins.locals"),
    (Rule::Magic, "builtins.get_ipython IPython.get_ipython"),
];

pub(crate) fn of(path: &str) -> Option<Rule> {
    let (module, _) = path.rsplit_once('.')?;
    let is_meant = |name: &str| name == path || name.strip_suffix(".*") == Some(module);
    RULES.iter().find(|(_, names)| names.split_whitespace().any(is_meant)).map(|(rule, _)| *rule)
}

/// Modules all of whose names may be imported at once.
pub(crate) static HARMLESS_STARS: Words = Words::of(
    "math cmath numpy numpy.random numpy.linalg matplotlib.pyplot ipywidgets IPython.display itertools collections \
     operator string random statistics typing dataclasses decimal fractions datetime scipy.stats",
);

/// Names that such modules have beside those that are known to be harmless: they may hide one of the notebook.
pub(crate) static HIDDEN_BY_STARS: Words = Words::of(
    "save savez savez_compressed savetxt load loadtxt genfromtxt fromfile fromregex memmap DataSource bmat info test \
     f2py lib core ctypeslib savefig imsave imread switch_backend rc rc_context rcParams style attrgetter \
     methodcaller Formatter get_type_hints make_dataclass HTML Javascript Image IFrame SVG Markdown FileUpload",
);

/// Methods that a class of the notebook may have and call on `self`, whatever `self` is.
pub(crate) static MILD_METHODS: Words = Words::of(
    "run load load_data get_data send connect fetch fetch_data kill accept bind initialize download export retrieve \
     use",
);

/// Attributes of objects of the libraries that make them open files, run programs or build other objects.
pub(crate) fn is_told_attribute(name: &str) -> bool {
    static TOLD: Words = Words::of("input memory usetex klass default_args default_kwargs allow_pickle bar_format");
    TOLD.has(name.trim_start_matches('_'))
}

/// Attributes that nobody may reach by their names in a text.
pub(crate) fn is_never_named(attribute: &str) -> bool {
    static NEVER: Words = Words::of("rename replace move show format format_index inspect update hist boxplot");
    NAME_FUNCTIONS.has(attribute) || NEVER.has(attribute) || place_of_settings(attribute).is_some()
}

/// Attributes that run what they are told by a text: `df.agg('to_csv')`.
pub(crate) static NAME_FUNCTIONS: Words = Words::of("agg aggregate apply transform pivot_table crosstab");

/// Arguments by name that make a harmless call do more.
pub(crate) fn is_told_keyword(name: &str) -> bool {
    static TOLD: Words = Words::of(
        "usetex backend eval_str allow_pickle memory qhull_options storage_options renderer url filename out_file \
         memory_map plugin dashboard_url engine_kwargs filesystem",
    );
    TOLD.has(own_name(name))
}

/// Keys that do more than say how something looks, in whatever dictionary is handed on as arguments by name.
pub(crate) fn is_told_key(key: &str) -> bool {
    is_told_keyword(key)
        || key.contains("formula")
        || matches!(own_name(key), "input" | "bar_format")
        || key.starts_with("__")
}

/// What such a setting could do.
pub(crate) fn harm_of_setting(name: &str) -> DangerRule {
    match own_name(name).trim_start_matches('_') {
        "usetex" => DrawsWithProgram,
        "backend" | "renderer" | "plugin" | "klass" | "default_args" | "default_kwargs" => DynamicImport,
        "eval_str" | "bar_format" => RunsText,
        "allow_pickle" => LoadsObjects,
        "memory" | "filename" | "out_file" | "qhull_options" => WritesFile,
        name if name.contains("formula") => RunsText,
        _ => UnknownSetting,
    }
}

/// A setting of pictures that nobody knows to be harmless.
pub(crate) fn harm_of_picture_setting(key: &str) -> DangerRule {
    if is_drawn_elsewhere(key) { DrawsWithProgram } else { UnknownSetting }
}

fn is_drawn_elsewhere(key: &str) -> bool {
    ["usetex", "latex", "preamble", "backend", "pgf", "animation"].iter().any(|word| key.contains(word))
}

/// An argument whose value is a dictionary of arguments for something else: `title_kw`, `textprops`, `fontdict`.
pub(crate) fn is_dictionary_of_settings(keyword: &str) -> bool {
    ["kw", "kws", "props", "_kwargs", "_kwds", "fontdict"].iter().any(|end| keyword.ends_with(end)) || keyword == "prop"
}

/// Where a function that draws takes such a dictionary by its place.
pub(crate) fn place_of_settings(function: &str) -> Option<usize> {
    match function {
        "title" | "xlabel" | "ylabel" | "zlabel" | "suptitle" | "set_title" | "set_xlabel" | "set_ylabel"
        | "set_zlabel" | "set_xticklabels" | "set_yticklabels" | "set_zticklabels" | "set_ticklabels" => Some(1),
        "text" | "figtext" | "text2D" => Some(3),
        "theme" => Some(0),
        "annotate" => Some(5),
        "pie" => Some(11),
        _ => None,
    }
}

/// `memory` of `step__memory`: a setting of a part.
pub(crate) fn own_name(keyword: &str) -> &str {
    keyword.rsplit_once("__").map_or(keyword, |(_, name)| name)
}

/// What draws pictures and starts no program and no server for it.
pub(crate) fn is_harmless_backend(name: &str) -> bool {
    static BACKENDS: Words = Words::of(
        "agg cairo pdf ps svg template inline nbagg notebook widget ipympl macosx tkagg tkcairo qtagg qt5agg qt4agg \
         qtcairo gtk3agg gtk4agg gtk3cairo gtk4cairo wxagg",
    );
    BACKENDS.has(&name.to_ascii_lowercase())
}

/// Settings of pictures that change how they look and nothing else.
pub(crate) fn is_harmless_setting(key: &str) -> bool {
    static GROUPS: Words = Words::of(
        "figure axes axes3d font lines xtick ytick legend grid image patch boxplot errorbar hist scatter contour \
         polaraxes text mathtext patches hatch savefig",
    );
    GROUPS.has(key.split('.').next().unwrap_or_default()) && !is_drawn_elsewhere(key)
}
