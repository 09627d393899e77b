//! Kinds of effects of IPython's magics and commands of a shell.

use notarium_judge::ipython;
use ruff_python_ast::IpyEscapeKind;

use crate::table::ExpectedKinds;

/// Effect of a magic.
pub(crate) enum MagicUse {
    Kinds(ExpectedKinds),
    /// It runs this Python.
    Code(String),
}

pub(crate) fn of_escape(kind: IpyEscapeKind, value: &str) -> MagicUse {
    match kind {
        IpyEscapeKind::Help | IpyEscapeKind::Help2 => MagicUse::Kinds(ExpectedKinds::NONE),
        IpyEscapeKind::Magic | IpyEscapeKind::Magic2 => of_line(value),
        _ => MagicUse::Kinds(ExpectedKinds::ALL),
    }
}

/// A magic with the rest of its line.
fn of_line(value: &str) -> MagicUse {
    let (name, rest) = split(value);
    match name {
        "time" | "timeit" | "prun" | "memit" | "mprun" | "lprun" if writes_profile(name, rest) => {
            MagicUse::Kinds(ExpectedKinds::ALL)
        }
        "time" | "timeit" | "prun" | "memit" | "mprun" | "lprun" => {
            MagicUse::Code(ipython::without_options(rest).to_owned())
        }
        name => MagicUse::Kinds(of_name(name)),
    }
}

fn writes_profile(name: &str, rest: &str) -> bool {
    matches!(name, "prun" | "mprun" | "lprun") && ipython::writes_profile(rest)
}

fn of_name(name: &str) -> ExpectedKinds {
    match name {
        "matplotlib" | "autoreload" | "load_ext" | "reload_ext" | "pylab" | "cd" | "pushd" | "popd" => {
            ExpectedKinds::LIBRARY
        }
        "precision" | "xmode" | "colors" | "pdb" | "pwd" | "who" | "who_ls" | "whos" | "lsmagic" | "quickref"
        | "magic" | "dhist" | "config" | "env" | "pdoc" | "pdef" | "pinfo" | "psource" | "capture" | "reset"
        | "reset_selective" | "xdel" => ExpectedKinds::NONE,
        "history" | "hist" => ExpectedKinds::WRITE,
        _ => ExpectedKinds::ALL,
    }
}

/// Cell magic whose body is no Python of the notebook; `None`: its body is.
pub(crate) fn of_cell(text: &str) -> Option<ExpectedKinds> {
    if !text.starts_with("%%") || ipython::has_python_body(text) {
        return None;
    }
    Some(match split(text.lines().next().unwrap_or_default()).0 {
        "html" | "HTML" | "svg" | "SVG" | "markdown" | "latex" | "javascript" | "js" => ExpectedKinds::NONE,
        "writefile" | "file" => ExpectedKinds::WRITE,
        "timeit" => return None,
        _ => ExpectedKinds::ALL,
    })
}

/// The magic's name, and the rest of its line.
fn split(value: &str) -> (&str, &str) {
    let value = value.trim_start_matches('%').trim_start();
    let end = value.find(|found: char| !(found.is_alphanumeric() || found == '_')).unwrap_or(value.len());
    (&value[..end], value[end..].trim())
}
