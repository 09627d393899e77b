//! Test that imports between the files of a part form no cycle.

use std::collections::{BTreeMap, BTreeSet};

use super::{PARTS, with_extension};

type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_imports_form_a_circle() {
    for part in PARTS {
        let graph = graph(part);
        assert!(graph.len() > 3, "src/{part} was read");
        let circle = circle(&graph);
        assert!(circle.is_empty(), "src/{part}: these files import each other in a circle: {}", circle.join(" -> "));
    }
}

#[test]
fn a_circle_is_found() {
    let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a")];
    let graph = edges.iter().map(|(from, to)| ((*from).to_owned(), BTreeSet::from([(*to).to_owned()]))).collect();
    assert_eq!(circle(&graph), ["b", "c", "b"]);
    let text = "use crate::{access, text::json};\nuse crate::ids::{CellId};\n// crate::state\nfn f() { super::hash() }";
    let known = ["access", "text::json", "ids", "state", "apply::hash"].map(str::to_owned);
    let found = imports("apply::cells", text, &known.into());
    assert_eq!(found, ["access", "apply::hash", "ids", "text::json"].map(str::to_owned).into());
}

/// Returns the modules of a part, each with the modules that it imports.
fn graph(part: &str) -> Graph {
    let root = format!("src/{part}/");
    let modules = with_extension("rs").filter_map(|(path, text)| {
        let path = path.to_str()?.strip_prefix(&root)?.strip_suffix(".rs")?.to_owned();
        let is_code = path != "lib" && !["tests", "examples", "benches"].iter().any(|folder| path.contains(folder));
        is_code.then(|| (path.trim_end_matches("/mod").replace('/', "::"), text))
    });
    let modules: BTreeMap<String, String> = modules.collect();
    let names: BTreeSet<String> = modules.keys().cloned().collect();
    modules.iter().map(|(name, text)| (name.clone(), imports(name, text, &names))).collect()
}

/// Returns the modules named by `crate::…` or `super::…` outside of tests and comments. A module may re-export its children.
fn imports(name: &str, text: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: String =
        code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let parent = name.rsplit_once("::").map_or("", |(parent, _)| parent);
    let mut found = BTreeSet::new();
    for (marker, base) in [("crate::", ""), ("super::", parent)] {
        for at in code.match_indices(marker).map(|(at, _)| at + marker.len()) {
            for path in paths(&code[at..]) {
                let path = if base.is_empty() { path } else { format!("{base}::{path}") };
                found.extend(longest(&path, known).filter(|module| *module != name && *module != parent));
            }
        }
    }
    found
}

/// Parses `a::b`, or each path of `{a, b::c}`.
fn paths(text: &str) -> Vec<String> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    let one = |text: &str| text.chars().take_while(|character| is_part(*character)).collect::<String>();
    match text.strip_prefix('{') {
        Some(group) => group.split('}').next().unwrap_or_default().split(',').map(|item| one(item.trim())).collect(),
        None => vec![one(text)],
    }
}

fn longest(path: &str, known: &BTreeSet<String>) -> Option<String> {
    let parts: Vec<&str> = path.split("::").collect();
    (1..=parts.len()).rev().map(|length| parts[..length].join("::")).find(|prefix| known.contains(prefix))
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
