//! Templates of new notebooks: notebooks that are marked as templates, and the starters of every server. The mark is in
//! `metadata.notarium.template`, so it is in the record and in exported files. Pure.

use std::collections::BTreeMap;

use notarium_core::{Command, RawObject};
use notarium_wire::ipynb::{self, Limits};
use notarium_wire::rest::Starter;
use serde_json::value::RawValue;

use crate::notebooks::files::import;
use crate::rooms::metadata::{self, TEMPLATE, entries, template_description};

const STARTERS: [(&str, &str); 4] = [
    ("table", include_str!("starters/table.ipynb")),
    ("report", include_str!("starters/report.ipynb")),
    ("assistant", include_str!("starters/assistant.ipynb")),
    ("example", include_str!("starters/example.ipynb")),
];

/// Starters of every server.
pub fn starters() -> Vec<Starter> {
    let starter = |(id, file): &(&str, &str)| {
        let metadata = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(file).ok()?.remove("metadata")?;
        let metadata = RawObject::parse(metadata.get()).ok()?;
        let title = serde_json::from_str(entries(&metadata).get("title")?.get()).ok()?;
        let description = template_description(&metadata)?;
        Some(Starter { id: (*id).to_owned(), title, description })
    };
    STARTERS.iter().filter_map(starter).collect()
}

/// Command that makes a notebook from a starter; `None`: there is no such starter.
pub fn start(id: &str, title: String) -> Option<Command> {
    let (_, file) = STARTERS.iter().find(|(starter, _)| *starter == id)?;
    let mut count = 0_u32;
    let mut new_id = || {
        count += 1;
        format!("start-{count}")
    };
    let mut imported = ipynb::read(file.as_bytes(), &Limits::default(), &mut new_id).ok()?;
    imported.document.metadata.remove("title");
    let _: Option<Box<RawValue>> = metadata::take(&mut imported.document.metadata, TEMPLATE);
    Some(import::plan(imported, title).command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms::metadata::{with_template_mark, without_template_mark};

    fn object(text: &str) -> RawObject {
        RawObject::parse(text).expect("an object")
    }

    #[test]
    fn a_mark_comes_and_goes_and_leaves_the_rest() {
        let plain = object(r#"{"kernelspec":{"name":"python3"},"notarium":{"odd":1e400}}"#);
        assert_eq!(template_description(&plain), None);
        let marked = with_template_mark(&plain, "For \"reports\"".to_owned());
        assert_eq!(template_description(&marked).as_deref(), Some("For \"reports\""));
        assert_eq!(without_template_mark(&marked).get(), plain.get());
        assert_eq!(without_template_mark(&with_template_mark(&RawObject::default(), String::new())).get(), "{}");
        assert_eq!(
            template_description(&with_template_mark(&plain, "x".repeat(300))).map(|text| text.len()),
            Some(200)
        );
        for odd in [r#"{"notarium":7}"#, r#"{"notarium":{"template":7}}"#] {
            assert_eq!(template_description(&object(odd)), None, "{odd}");
        }
    }

    #[test]
    fn every_starter_has_words_and_makes_a_notebook() {
        let starters = starters();
        assert_eq!(starters.len(), STARTERS.len());
        for starter in starters {
            assert!(!starter.title.is_empty() && !starter.description.is_empty(), "{starter:?}");
            let Some(Command::Batch { commands }) = start(&starter.id, "New".to_owned()) else { panic!("{starter:?}") };
            let Command::CreateNotebook { title, metadata, .. } = &commands[0] else { panic!("{commands:?}") };
            assert_eq!((title.as_str(), template_description(metadata)), ("New", None));
            assert!(commands.len() > 3);
        }
        assert!(start("none", "New".to_owned()).is_none());
    }
}
