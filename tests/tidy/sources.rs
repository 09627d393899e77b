//! Rust sources as `syn` reads them: folders, type names and sleeps.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item};

use super::with_extension;

/// Names of types with more than one definition. It only falls.
const MOST_SHARED_NAMES: usize = 26;

type Graph = BTreeMap<String, BTreeSet<String>>;
type Module = Vec<String>;

/// Facts of a source file that the rules below need. Parsing takes seconds, so each file is parsed once.
struct Source {
    path: PathBuf,
    lines: Vec<String>,
    /// Paths within the crate that code outside of tests names.
    named: BTreeSet<Module>,
    /// Types that code outside of tests defines, each with its line.
    types: Vec<(String, usize)>,
    /// Lines where tests call a function named `sleep`.
    sleeps: Vec<usize>,
}

static SOURCES: LazyLock<Vec<Source>> =
    LazyLock::new(|| with_extension("rs").map(|(path, text)| read(path, &text)).collect());

fn read(path: PathBuf, text: &str) -> Source {
    let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut code, mut tests) = (Vec::new(), Vec::new());
    split(file.items, &mut code, &mut tests);
    if is_test_file(&path) {
        tests.append(&mut code);
    }
    let mut source = Source {
        lines: text.lines().map(str::to_owned).collect(),
        named: BTreeSet::new(),
        types: Vec::new(),
        sleeps: Vec::new(),
        path,
    };
    let module = module_of(&source.path);
    for item in code {
        source.types.extend(type_name(&item).map(|name| (name.to_string(), name.span().start().line)));
        paths(item.into_token_stream(), &module, &mut source.named);
    }
    for item in tests {
        calls_of_sleep(item.into_token_stream(), &mut source.sleeps);
    }
    source
}

/// `src/PART/a/b.rs` is the module `a::b`.
fn module_of(path: &Path) -> Module {
    let name = path.with_extension("");
    let parts = name.iter().skip(2).filter(|part| *part != "mod");
    parts.map(|part| part.to_string_lossy().into_owned()).collect()
}

fn type_name(item: &Item) -> Option<&syn::Ident> {
    match item {
        Item::Struct(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        _ => None,
    }
}

/// Tests whether a file holds tests alone.
fn is_test_file(path: &Path) -> bool {
    let is_test_folder = |part: &std::ffi::OsStr| {
        ["tests", "examples", "benches", "behaviour", "simulation"].iter().any(|name| part == *name)
    };
    path.components().any(|part| is_test_folder(part.as_os_str())) || path.ends_with("tests.rs")
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Tests whether an item is compiled for tests alone: `#[cfg(test)]`, `#[cfg(all(test, …))]`, `#[test]`.
fn is_test(item: &Item) -> bool {
    attributes(item).iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string();
        attribute.path().is_ident("cfg") && text.contains("test") && !text.contains("not")
            || attribute.path().is_ident("test")
    })
}

/// Splits the items of a file, also those in its inline modules, in code and tests.
fn split(items: Vec<Item>, code: &mut Vec<Item>, tests: &mut Vec<Item>) {
    for item in items {
        match item {
            item if is_test(&item) => tests.push(item),
            Item::Mod(mut module) if module.content.is_some() => {
                let (brace, items) = module.content.take().expect("an inline module");
                code.push(Item::Mod(syn::ItemMod { content: Some((brace, Vec::new())), ..module }));
                split(items, code, tests);
            }
            item => code.push(item),
        }
    }
}

/// Collects the paths that begin with `crate`, `super` or `self`, as absolute paths of the crate. Groups of a `use` are spread.
fn paths(tokens: TokenStream, module: &[String], found: &mut BTreeSet<Module>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < trees.len() {
        match &trees[at] {
            TokenTree::Group(group) => paths(group.stream(), module, found),
            TokenTree::Ident(first) if is_separator(&trees, at + 1) => {
                let parent = &module[..module.len().saturating_sub(1)];
                match first.to_string().as_str() {
                    "crate" => at = spread(&trees, at + 3, Vec::new(), found),
                    "self" => at = spread(&trees, at + 3, module.to_vec(), found),
                    "super" => at = spread(&trees, at + 3, parent.to_vec(), found),
                    _ => {}
                }
            }
            _ => {}
        }
        at += 1;
    }
}

fn is_separator(trees: &[TokenTree], at: usize) -> bool {
    let is_colon = |at: usize| matches!(trees.get(at), Some(TokenTree::Punct(colon)) if colon.as_char() == ':');
    is_colon(at) && is_colon(at + 1)
}

/// Adds the path, or each path of a group, that goes on at `at`. Returns the place of its last token.
fn spread(trees: &[TokenTree], at: usize, mut base: Module, found: &mut BTreeSet<Module>) -> usize {
    match trees.get(at) {
        Some(TokenTree::Ident(name)) if name == "super" && is_separator(trees, at + 1) => {
            base.pop();
            spread(trees, at + 3, base, found)
        }
        Some(TokenTree::Ident(name)) => {
            base.push(name.to_string());
            match is_separator(trees, at + 1) {
                true => spread(trees, at + 3, base, found),
                false => {
                    found.insert(base);
                    at
                }
            }
        }
        Some(TokenTree::Group(group)) => {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            let mut place = 0;
            while place < inner.len() {
                if matches!(&inner[place], TokenTree::Ident(_)) {
                    place = spread(&inner, place, base.clone(), found);
                }
                place += 1;
            }
            at
        }
        _ => at,
    }
}

/// Edges between the folders of a crate that have the same parent, and between the loose files at its root.
fn folders(modules: &BTreeMap<Module, BTreeSet<Module>>) -> Graph {
    let is_folder = |name: &[String]| modules.keys().any(|other| other.len() > name.len() && other.starts_with(name));
    let mut graph = Graph::new();
    for (module, named) in modules {
        for path in named {
            let longest = (1..=path.len()).rev().map(|length| &path[..length]).find(|part| modules.contains_key(*part));
            let Some(target) = longest else { continue };
            let shared = module.iter().zip(target).take_while(|(mine, its)| mine == its).count();
            // A module may name its children, and these their parent.
            if shared == module.len() || shared == target.len() {
                continue;
            }
            let (from, to) = (&module[..=shared], &target[..=shared]);
            if shared == 0 || (is_folder(from) && is_folder(to)) {
                graph.entry(from.join("/")).or_default().insert(to.join("/"));
            }
        }
    }
    graph
}

/// Modules of a part, each with the paths that its code names.
fn modules(part: &str) -> BTreeMap<Module, BTreeSet<Module>> {
    let is_module = |source: &&Source| {
        let is_root = ["lib", "main", "build"].iter().any(|name| module_of(&source.path) == [*name]);
        source.path.starts_with(format!("src/{part}")) && !is_test_file(&source.path) && !is_root
    };
    SOURCES.iter().filter(is_module).map(|source| (module_of(&source.path), source.named.clone())).collect()
}

#[test]
fn no_folders_form_a_circle() {
    for part in super::PARTS.into_iter().chain(["cli"]) {
        let modules = modules(part);
        assert!(modules.len() > 2, "src/{part} was read");
        let circle = circle(&folders(&modules));
        assert!(circle.is_empty(), "src/{part}: these folders name each other in a circle: {}", circle.join(" -> "));
    }
}

#[test]
fn a_circle_is_found() {
    let named = |name: &str, text: &str| {
        let module: Module = name.split('/').map(str::to_owned).collect();
        let mut found = BTreeSet::new();
        paths(syn::parse_file(text).expect("Rust").into_token_stream(), &module, &mut found);
        (module, found)
    };
    let found = named(
        "apply/cells",
        "use crate::{access, text::{self, json::Json}};\nfn f() { super::hash(); vec![super::super::ids()] }",
    )
    .1;
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["access", "apply::hash", "ids", "text::json::Json", "text::self"]);

    let modules = [
        named("a/one", "use crate::b::two;"),
        named("a/two", "use super::one;"),
        named("b/two", "fn f() -> crate::c::Three { todo() }"),
        named("c", "use crate::a::two::x;"),
        named("c/inner", "use super::x;"),
    ];
    assert_eq!(circle(&folders(&modules.into())), ["a", "b", "c", "a"]);
}

/// Returns a cycle of the graph, with its first module repeated at the end; empty: none.
fn circle(graph: &Graph) -> Vec<String> {
    let mut done = BTreeSet::new();
    graph.keys().find_map(|start| walk(graph, start, &mut Vec::new(), &mut done)).unwrap_or_default()
}

fn walk(graph: &Graph, at: &str, way: &mut Vec<String>, done: &mut BTreeSet<String>) -> Option<Vec<String>> {
    if let Some(begin) = way.iter().position(|seen| seen == at) {
        return Some(way[begin..].iter().cloned().chain([at.to_owned()]).collect());
    }
    if !done.insert(at.to_owned()) {
        return None;
    }
    way.push(at.to_owned());
    let found = graph.get(at).into_iter().flatten().find_map(|next| walk(graph, next, way, done));
    way.pop();
    found
}

#[test]
fn a_type_name_means_one_thing() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in SOURCES.iter().filter(|source| source.path.starts_with("src")) {
        for (name, line) in &source.types {
            places.entry(name.clone()).or_default().insert(format!("{}:{line}", source.path.display()));
        }
    }
    places.retain(|_, places| places.len() > 1);
    let listed: Vec<String> = places.iter().map(|(name, places)| format!("{name}: {places:?}")).collect();
    assert!(
        places.len() <= MOST_SHARED_NAMES,
        "{} type names have several definitions, {MOST_SHARED_NAMES} may: say in the name what is in it\n{}",
        places.len(),
        listed.join("\n")
    );
}

#[test]
fn tests_wait_for_events_and_never_sleep() {
    // Benchmarks and examples measure time.
    let is_timed = |path: &Path| path.iter().any(|part| part == "benches" || part == "examples");
    let mut found = Vec::new();
    for Source { path, lines, sleeps, .. } in SOURCES.iter().filter(|source| !is_timed(&source.path)) {
        let is_explained = |line: usize| line > 1 && lines[line - 2].trim_start().starts_with("//");
        found.extend(
            sleeps.iter().filter(|line| !is_explained(**line)).map(|line| format!("{}:{line}", path.display())),
        );
    }
    assert!(found.is_empty(), "these tests sleep: wait for the event, or say why there is none: {found:#?}");
}

/// Lines, from 1, of calls of a function named `sleep`.
fn calls_of_sleep(tokens: TokenStream, lines: &mut Vec<usize>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => calls_of_sleep(group.stream(), lines),
            TokenTree::Ident(name) if name == "sleep" => {
                let is_call = matches!(trees.get(at + 1), Some(TokenTree::Group(_)));
                let is_path = at >= 2 && is_separator(&trees, at - 2);
                if is_call && is_path {
                    lines.push(name.span().start().line);
                }
            }
            _ => {}
        }
    }
}
