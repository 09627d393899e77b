//! Warnings about the parameters of a headless run. The rest of parameters is the wire's, as schedules have them too.

use notarium_judge::cell_names;
use notarium_wire::ipynb::Document;
use notarium_wire::parameters::{Parameter, has_tag};

/// Warnings about parameters that the notebook's cell tagged `parameters` does not set, as of a mistyped name.
pub fn warnings(document: &Document, parameters: &[Parameter], language: &str) -> Vec<String> {
    if parameters.is_empty() {
        return Vec::new();
    }
    let Some(cell) = document.cells.iter().find(|cell| has_tag(cell, "parameters")) else {
        return vec!["no cell is tagged 'parameters': the given ones are set before the first cell".to_owned()];
    };
    let known = defined(&cell.source, language);
    let unknown = parameters.iter().filter(|parameter| !known.contains(&parameter.name));
    let list = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    unknown.map(|Parameter { name, .. }| format!("the notebook has no parameter '{name}' (it has: {list})")).collect()
}

/// Names that the source of a cell sets.
fn defined(source: &str, language: &str) -> Vec<String> {
    if language.eq_ignore_ascii_case("python")
        && let Some(names) = cell_names(source)
    {
        return names.writes.into_iter().collect();
    }
    let name = |line: &str| {
        let end =
            line.find(|character: char| !(character.is_alphanumeric() || character == '_' || character == '.'))?;
        let rest = line[end..].trim_start();
        let sets =
            (rest.starts_with('=') && !rest.starts_with("==")) || rest.starts_with("<-") || rest.starts_with(':');
        (sets && end > 0).then(|| line[..end].to_owned())
    };
    source.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use notarium_wire::ipynb::DocumentCell;
    use notarium_wire::parameters::parse;

    use super::*;

    fn document(tags: &[&str]) -> Document {
        let cell = |(index, tag): (usize, &&str)| {
            let metadata = serde_json::value::to_raw_value(&[tag]).unwrap();
            let metadata = [("tags".to_owned(), metadata)].into();
            DocumentCell { id: format!("c{index}"), cell_type: "code".into(), metadata, ..DocumentCell::default() }
        };
        Document { cells: tags.iter().enumerate().map(cell).collect(), ..Document::default() }
    }

    #[test]
    fn a_name_that_the_notebook_does_not_set_is_warned_of() {
        let mut document = document(&["parameters", "y"]);
        let given = [parse("alpha=1").unwrap(), parse("alhpa=2").unwrap()];
        document.cells[0].source = "alpha: float = 0.1\nname = 'x'".into();
        assert_eq!(
            warnings(&document, &given, "python"),
            ["the notebook has no parameter 'alhpa' (it has: alpha, name)"]
        );
        document.cells[0].source = "alpha <- 0.1\nalhpa=3\nalpha == 3".into();
        assert_eq!(warnings(&document, &given, "R"), Vec::<String>::new());
        assert_eq!(warnings(&document, &[], "python"), Vec::<String>::new());
        document.cells.remove(0);
        assert!(warnings(&document, &given, "python")[0].contains("no cell is tagged 'parameters'"));
    }
}
