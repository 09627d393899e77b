//! The Python packages of this build. Kernels search them after all their own packages.

use std::path::Path;

macro_rules! files {
    ($($name:literal)*) => {
        &[("notarium/__init__.py", include_str!("embedded.py")), $(($name, include_str!(concat!("../../../clients/python/", $name)))),*]
    };
}

/// Files that cells use. The client for programs is left out: it needs other packages.
const FILES: &[(&str, &str)] = files! {
    "notarium/kernel.py" "notarium/sql.py"
    "notarium_kernel/__init__.py" "notarium_kernel/dialogs.py" "notarium_kernel/host.py" "notarium_kernel/progress.py"
    "notarium_kernel/functions/__init__.py" "notarium_kernel/functions/calls.py" "notarium_kernel/functions/constraints.py"
    "notarium_kernel/functions/docstrings.py" "notarium_kernel/functions/errors.py" "notarium_kernel/functions/registry.py"
    "notarium_kernel/functions/results.py" "notarium_kernel/functions/shapes.py" "notarium_kernel/functions/signature.py"
    "notarium_kernel/functions/values.py"
    "notarium_kernel/sql/__init__.py" "notarium_kernel/sql/binding.py" "notarium_kernel/sql/catalog.py" "notarium_kernel/sql/cell.py"
    "notarium_kernel/sql/connections.py" "notarium_kernel/sql/duckdb_texts.py" "notarium_kernel/sql/errors.py" "notarium_kernel/sql/frame_advice.py" "notarium_kernel/sql/header.py" "notarium_kernel/sql/holdable.py" "notarium_kernel/sql/loading.py" "notarium_kernel/sql/local.py"
    "notarium_kernel/sql/magic.py" "notarium_kernel/sql/postgresql_texts.py" "notarium_kernel/sql/questions.py" "notarium_kernel/sql/remote.py" "notarium_kernel/sql/results.py"
    "notarium_kernel/sql/rows.py" "notarium_kernel/sql/show.py" "notarium_kernel/sql/tokens.py" "notarium_kernel/sql/wire.py"
    "notarium_kernel/sql/written.py"
    "notarium_kernel/tables/__init__.py" "notarium_kernel/tables/columns.py" "notarium_kernel/tables/display.py" "notarium_kernel/tables/frames.py"
    "notarium_kernel/tables/of_pandas.py" "notarium_kernel/tables/of_polars.py" "notarium_kernel/tables/questions.py"
    "notarium_kernel/tables/registry.py" "notarium_kernel/tables/values.py"
};

/// Name of the folder in a kernel's private folder that its launcher adds to Python's path.
pub(crate) const FOLDER: &str = "packages";

pub(crate) fn write(parent: &Path) -> std::io::Result<()> {
    let packages = parent.join(FOLDER);
    for folder in ["notarium", "notarium_kernel/functions", "notarium_kernel/sql", "notarium_kernel/tables"] {
        std::fs::create_dir_all(packages.join(folder))?;
    }
    FILES.iter().try_for_each(|(name, text)| std::fs::write(packages.join(name), text))
}
