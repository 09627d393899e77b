//! Moves pictures that were pasted into the text of a Markdown cell to the cell's attachments, as an import does. A text with a
//! picture in it cannot be edited, and each edit would carry it.

use std::collections::BTreeMap;

use notarium_export::inline_pictures;
use notarium_wire::ipynb::{Document, DocumentCell, Notice, NoticeCode};
use serde_json::value::RawValue;

use crate::rooms::metadata;

/// Moves the pictures of all cells whose address has more than `max_inline_bytes`; the notice says so. Smaller ones are icons.
pub fn take_out(file: &mut Document, max_inline_bytes: usize) -> Option<Notice> {
    let (mut count, mut first) = (0, None);
    for (index, cell) in file.cells.iter_mut().enumerate().filter(|(_, cell)| cell.cell_type == "markdown") {
        let taken = take_from(cell, max_inline_bytes);
        count += taken;
        first = first.or((taken > 0).then_some(index));
    }
    let message = "pictures in the text of cells became their attachments".to_owned();
    (count > 0).then_some(Notice { code: NoticeCode::PicturesAttached, count, cell: first, message })
}

fn take_from(cell: &mut DocumentCell, max_inline_bytes: usize) -> usize {
    let pictures = inline_pictures(&cell.source, max_inline_bytes.saturating_add(1));
    let count = pictures.len();
    let mut attachments = cell.attachments.take().unwrap_or_default();
    let mut source = String::new();
    let mut end = 0;
    for picture in pictures {
        let bundle = BTreeMap::from([(picture.mime, picture.base64)]);
        let name = name_of(&attachments, picture.mime, &bundle);
        source.push_str(&cell.source[end..picture.address.start]);
        source.push_str("attachment:");
        source.push_str(&name);
        end = picture.address.end;
        attachments.insert(name, metadata::to_raw(&bundle));
    }
    if count > 0 {
        source.push_str(&cell.source[end..]);
        cell.source = source;
    }
    cell.attachments = Some(attachments).filter(|attachments| count > 0 || !attachments.is_empty());
    count
}

/// A free name, or that of the same picture.
fn name_of(attachments: &BTreeMap<String, Box<RawValue>>, mime: &str, bundle: &BTreeMap<&str, &str>) -> String {
    let ending = match mime.trim_start_matches("image/") {
        "jpeg" => "jpg",
        "svg+xml" => "svg",
        other => other,
    };
    let same = metadata::to_raw(bundle);
    let is_free = |name: &String| attachments.get(name).is_none_or(|known| known.get() == same.get());
    let mut names = (1..).map(|number| format!("picture-{number}.{ending}"));
    names.find(is_free).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_in_the_text_becomes_an_attachment_and_small_ones_stay() {
        let (large, other) = ("A".repeat(9 << 10), "B".repeat(9 << 10));
        let text =
            |first: &str, second: &str| format!("# Map\n![a]({first}) and <img src=\"{second}\"> ![b]({first})\n");
        let address = |data: &str| format!("data:image/png;base64,{data}");
        let cell = DocumentCell {
            cell_type: "markdown".into(),
            source: text(&address(&large), &address(&other)),
            attachments: Some(
                [("picture-1.png".to_owned(), metadata::to_raw(&BTreeMap::from([("image/png", "C")])))].into(),
            ),
            ..DocumentCell::default()
        };
        let icon = DocumentCell { source: format!("![i]({})", address("AAAA")), ..cell.clone() };
        let code = DocumentCell { cell_type: "code".into(), attachments: None, ..cell.clone() };
        let mut file = Document { cells: vec![icon.clone(), code.clone(), cell], ..Document::default() };
        let notice = take_out(&mut file, 8 << 10).unwrap();
        assert_eq!((notice.count, notice.cell), (3, Some(2)));
        let [same_icon, same_code, cell] = file.cells.as_slice() else { panic!() };
        assert_eq!((&same_icon.source, &same_code.source), (&icon.source, &code.source));
        assert_eq!(cell.source, text("attachment:picture-2.png", "attachment:picture-3.png"));
        let attachments = cell.attachments.as_ref().unwrap();
        assert_eq!(attachments.len(), 3);
        assert_eq!(attachments["picture-2.png"].get(), format!(r#"{{"image/png":"{large}"}}"#));
        assert!(take_out(&mut file, 8 << 10).is_none());
    }
}
