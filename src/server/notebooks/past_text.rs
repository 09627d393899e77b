//! Search in a notebook's cells, now and in the past. The lines that ever stood in cells are written down in the background,
//! and up to the present when somebody searches.

use std::collections::BTreeMap;
use std::sync::Arc;

use notarium_core::{CellId, Document, NotebookId, Version};
use notarium_store::{EventStore, FoundLines, PastLine, PastLinesWritten, PastText, StoreError, Stretch, lower_case};
use notarium_wire::rest::{FoundPlace, FoundPlaces};

use super::{Notebooks, history};
use crate::http::problem::Problem;

/// Events per read.
const PAGE: usize = 1_000;

/// Events that a search writes down before it answers; more are left to the background.
const MAX_EVENTS_OF_SEARCH: Version = 20_000;

/// Lines in one write, so that the commits of others wait for milliseconds at most.
const LINES_PER_WRITE: usize = 200;

/// Limit of places in one answer.
const MAX_PLACES: usize = 500;

/// Limit of characters of a text to find.
const MAX_TEXT_CHARACTERS: usize = 1_000;

/// Types of events that change lines; others are not parsed.
const TYPES: [&str; 4] = ["CellInserted", "CellRestored", "CellDeleted", "CellSourceEdited"];

/// Writes down the lines of notebooks that have changed, one after the other, until the server stops.
pub async fn follow(notebooks: Arc<Notebooks>) {
    loop {
        let due = tokio::select! {
            () = notebooks.stopping.cancelled() => return,
            due = notebooks.rooms.past_lines_due.take() => due,
        };
        tokio::select! {
            () = notebooks.stopping.cancelled() => return,
            written = prepare(&notebooks, &due.notebook, due.version) => if let Err(problem) = written {
                let (notebook, reason) = (&due.notebook, &problem.detail);
                tracing::warn!(%notebook, reason, "the lines of a notebook's past were not written down: searches try again");
            },
        }
    }
}

/// Writes down lines, and keeps who wrote which characters.
async fn prepare(notebooks: &Notebooks, notebook: &NotebookId, to: Version) -> Result<(), Problem> {
    let written = write_down(&*notebooks.store, notebook, to).await?;
    notebooks.blames.keep(&*notebooks.store, notebook, written).await
}

/// Writes down the lines up to `to`. Returns the version up to which they are then: before `to` if the rest is unknown to this
/// server, or if somebody else writes them.
async fn write_down(store: &dyn EventStore, notebook: &NotebookId, to: Version) -> Result<Version, Problem> {
    let content = store.content_locks().try_read(notebook);
    let _content =
        content.ok_or_else(|| Problem::unavailable("content of the notebook is being redacted: ask again"))?;
    let PastLinesWritten { version: from, next } = store.past_lines_written(notebook).await?;
    if from >= to {
        return Ok(from);
    }
    let document = match from {
        0 => Document::new(notebook.clone()),
        from => history::state_at(store, notebook, from, Version::MAX).await?,
    };
    let standing = store.standing_lines(notebook).await?.into_iter().filter(|(number, _)| *number < next);
    let mut past = PastText::resume(&document, standing, next);
    let mut written = from;
    while past.version() < to {
        let wanted = usize::try_from(to - past.version()).unwrap_or(PAGE).min(PAGE);
        let events = store.read(notebook, past.version(), wanted).await?;
        let mut is_readable = !events.is_empty();
        for stored in &events {
            if !TYPES.contains(&stored.envelope.event_type.as_str()) {
                past.pass(stored.envelope.version);
            } else if let Ok(recorded) = stored.typed() {
                past.apply(&recorded);
            } else {
                is_readable = false;
                break;
            }
            if past.changed_count() >= LINES_PER_WRITE && !write(store, notebook, &mut written, &mut past).await? {
                return Ok(written);
            }
        }
        if !is_readable {
            break;
        }
        tokio::task::yield_now().await;
    }
    write(store, notebook, &mut written, &mut past).await?;
    Ok(written)
}

/// Writes what has changed; returns false if somebody else has written since.
async fn write(
    store: &dyn EventStore,
    notebook: &NotebookId,
    written: &mut Version,
    past: &mut PastText,
) -> Result<bool, StoreError> {
    let mut changed = past.take_changed();
    let end = PastLinesWritten { version: past.version(), next: past.next_number() };
    while changed.len() > LINES_PER_WRITE {
        let later = changed.keys().nth(LINES_PER_WRITE).copied().map(|number| changed.split_off(&number));
        // Lines of later versions than that which is told are written again if this is where it ends.
        let before = PastLinesWritten { version: *written, ..store.past_lines_written(notebook).await? };
        if !store.put_past_lines(notebook, *written, before, std::mem::take(&mut changed)).await? {
            return Ok(false);
        }
        changed = later.unwrap_or_default();
    }
    let is_written = store.put_past_lines(notebook, *written, end, changed).await?;
    if is_written {
        *written = end.version;
    }
    Ok(is_written)
}

/// Finds a text in the cells of a notebook, whose state is `now`.
pub async fn find(notebooks: &Notebooks, now: &Document, text: &str, ever: bool) -> Result<FoundPlaces, Problem> {
    let length = text.chars().count();
    if !(1..=MAX_TEXT_CHARACTERS).contains(&length) || text.contains('\n') {
        return Err(Problem::invalid("text is 1 to 1,000 characters on one line: lines are searched one by one"));
    }
    let text = lower_case(text);
    let mut answer = FoundPlaces { found: standing(now, &text), is_complete: true, looked_up_to: None };
    if ever {
        let (store, notebook) = (&*notebooks.store, &now.notebook_id);
        let begun = store.past_lines_written(notebook).await?.version;
        let to = now.version.min(begun + MAX_EVENTS_OF_SEARCH);
        let written = write_down(store, notebook, to).await?;
        if written < now.version {
            notebooks.rooms.past_lines_due.put(notebook.clone(), now.version);
        }
        let found = store.past_lines(notebook, &text).await?;
        answer.is_complete = found.is_complete && written >= now.version;
        answer.looked_up_to = Some(written);
        with_past(&mut answer.found, now, &text, &found);
    }
    answer.is_complete &= answer.found.len() <= MAX_PLACES;
    answer.found.truncate(MAX_PLACES);
    Ok(answer)
}

/// Lines that hold the text now, in page order.
fn standing(now: &Document, text: &str) -> Vec<FoundPlace> {
    let places = now.ordered_cells().flat_map(|(cell_id, cell)| {
        let lines = cell.content.source.split('\n').enumerate();
        lines.filter(|(_, line)| lower_case(line).contains(text)).map(|(index, line)| FoundPlace {
            cell_id: cell_id.clone(),
            line: line.to_owned(),
            line_number: Some(index + 1),
            first: None,
            last: None,
            is_deleted: false,
        })
    });
    places.collect()
}

/// Adds when the text stood where: to each line that stands the beginning of its cell's stretch, and the stretches that are over.
fn with_past(places: &mut Vec<FoundPlace>, now: &Document, text: &str, found: &FoundLines) {
    let mut by_cell = BTreeMap::<&CellId, Vec<(Stretch, &str)>>::new();
    for line in &found.lines {
        by_cell.entry(&line.cell_id).or_default().extend(stretches(line, text));
    }
    let mut over = Vec::new();
    for (cell_id, stretches) in by_cell {
        for (Stretch { first, last }, line) in joined(stretches) {
            match last {
                None => {
                    let here = places.iter_mut().filter(|place| place.cell_id == *cell_id);
                    here.for_each(|place| place.first = Some(first));
                }
                Some(_) => over.push(FoundPlace {
                    cell_id: cell_id.clone(),
                    line: line.to_owned(),
                    line_number: None,
                    first: Some(first),
                    last,
                    is_deleted: !now.cells.contains_key(cell_id),
                }),
            }
        }
    }
    over.sort_by_key(|place| std::cmp::Reverse(place.last));
    places.extend(over);
}

/// Stretches of a line, each with the last state of the line in it.
fn stretches<'a>(line: &'a PastLine, text: &'a str) -> impl Iterator<Item = (Stretch, &'a str)> {
    let holds = |part: &str| lower_case(part).contains(text);
    line.stretches(holds).into_iter().map(move |stretch| {
        let is_within = |since| since >= stretch.first && stretch.last.is_none_or(|last| since <= last);
        let last = line.spans.iter().rev().find(|span| is_within(span.since));
        (stretch, last.map_or("", |span| line.text_of(span)))
    })
}

/// Joins stretches of one cell that touch or overlap; the line of the one that ends last stands for them.
fn joined(mut stretches: Vec<(Stretch, &str)>) -> Vec<(Stretch, &str)> {
    stretches.sort_by_key(|(stretch, _)| stretch.first);
    let mut joined = Vec::<(Stretch, &str)>::new();
    for (stretch, line) in stretches {
        match joined.last_mut() {
            Some((before, shown)) if before.last.is_none_or(|last| stretch.first <= last + 1) => {
                let is_later = stretch.last.is_none() || before.last.is_some_and(|last| stretch.last >= Some(last));
                if is_later {
                    *shown = line;
                }
                before.last = before.last.zip(stretch.last).map(|(one, other)| one.max(other));
            }
            _ => joined.push((stretch, line)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(first: Version, last: Option<Version>) -> Stretch {
        Stretch { first, last }
    }

    #[test]
    fn stretches_that_touch_are_one() {
        let told = [(stretch(7, Some(8)), "c"), (stretch(1, Some(3)), "a"), (stretch(4, Some(5)), "b")];
        assert_eq!(joined(told.to_vec()), [(stretch(1, Some(5)), "b"), (stretch(7, Some(8)), "c")]);
        let inside = [(stretch(1, None), "a"), (stretch(2, Some(3)), "b"), (stretch(9, None), "c")];
        assert_eq!(joined(inside.to_vec()), [(stretch(1, None), "c")]);
    }
}
