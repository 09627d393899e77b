//! Records in words: a sentence for each event, and pages of HTML for people who answer for a record.
//!
//! Purpose: [`EventNarrator`] tells events one after another. [`report_page`] makes the page of a stretch of a record, for the command line and for the
//! server. [`diff_page`] shows the differences of two versions.
//!
//! Invariants:
//! - Control characters of a record reach neither a terminal nor a page. Every text of a record is escaped in pages.
//! - Pages are one file each, without scripts and without addresses from which a browser loads.
//!
//! Files: `record_source` (where events and names come from), `narrate` (sentences), `report_page`, `diff_page`, `words` (times, counts, clean text).
//!
//! This crate must never do I/O: events and names come by a [`RecordSource`].

use std::fmt::Write as _;

use notarium_export::escaped;

mod diff_page;
mod narrate;
mod record_source;
mod report_page;
pub mod words;

pub use diff_page::diff_page;
pub use narrate::{EndRequests, EventNarrator, NarratedEvent, did, subject_name};
pub use record_source::RecordSource;
pub use report_page::{ReportScope, report_page};

/// Style of all pages: light and dark, on screens and on paper.
const STYLE: &str = include_str!("page.css");

/// The beginning of a page, with its title as heading. No browser loads or runs anything for it.
pub fn head_of(title: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n"
    )
}

/// A table under a heading, with at most so many rows.
pub fn table(
    max_rows: usize,
    out: &mut String,
    title: &str,
    headings: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    empty: &str,
) {
    let _ = writeln!(out, "<h2>{title}</h2>");
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        let _ = writeln!(out, "<p class=\"empty\">{empty}</p>");
        return;
    }
    out.push_str("<table><thead><tr>");
    headings.iter().for_each(|heading| _ = write!(out, "<th scope=\"col\">{heading}</th>"));
    out.push_str("</tr></thead><tbody>\n");
    for row in rows.by_ref().take(max_rows) {
        out.push_str("<tr>");
        row.iter().for_each(|cell| _ = write!(out, "<td>{}</td>", escaped(cell)));
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
    let left_out = rows.count();
    if left_out > 0 {
        let _ = writeln!(out, "<p>{left_out} more are not shown.</p>");
    }
}
