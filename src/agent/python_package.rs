//! The Python package of this build. Kernels search it after all their own packages.

use std::path::Path;

macro_rules! files {
    ($($name:literal)*) => {
        &[("__init__.py", include_str!("embedded.py")), $(($name, include_str!(concat!("../../clients/python/notarium/", $name)))),*]
    };
}

/// Files that cells use. The client for programs is left out: it needs other packages.
const FILES: &[(&str, &str)] = files! {
    "kernel/__init__.py" "kernel/calls.py" "kernel/constraints.py" "kernel/docstrings.py" "kernel/errors.py" "kernel/host.py" "kernel/progress.py"
    "kernel/registry.py" "kernel/results.py" "kernel/shapes.py" "kernel/signature.py" "kernel/values.py"
    "sql/__init__.py" "sql/binding.py" "sql/catalog.py" "sql/cell.py" "sql/connections.py" "sql/errors.py" "sql/header.py" "sql/local.py"
    "sql/magic.py" "sql/questions.py" "sql/remote.py" "sql/results.py" "sql/rows.py" "sql/show.py" "sql/tokens.py" "sql/wire.py"
    "tables/__init__.py" "tables/display.py" "tables/frames.py" "tables/of_pandas.py" "tables/of_polars.py" "tables/questions.py"
    "tables/registry.py" "tables/values.py"
};

/// Name of the folder in a kernel's private folder that its launcher adds to Python's path.
pub(crate) const FOLDER: &str = "packages";

pub(crate) fn write(parent: &Path) -> std::io::Result<()> {
    let package = parent.join(FOLDER).join("notarium");
    for folder in ["kernel", "sql", "tables"] {
        std::fs::create_dir_all(package.join(folder))?;
    }
    FILES.iter().try_for_each(|(name, text)| std::fs::write(package.join(name), text))
}
