//! Finds pictures that stand in Markdown as `data:` addresses.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

/// A picture in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlinePicture<'a> {
    /// Bytes of the text that the whole address takes.
    pub address: Range<usize>,
    /// The media type, for instance `image/png`.
    pub mime: &'a str,
    pub base64: &'a str,
}

/// Pictures in base64 of at least `min_bytes` of address, in the order of the text: of images, their definitions, and HTML. Code
/// is left alone.
#[must_use]
pub fn inline_pictures(markdown: &str, min_bytes: usize) -> Vec<InlinePicture<'_>> {
    if !markdown.contains(BEGIN) {
        return Vec::new();
    }
    let parser = Parser::new_ext(markdown, Options::empty());
    let mut places: Vec<Range<usize>> =
        parser.reference_definitions().iter().map(|(_, definition)| definition.span.clone()).collect();
    places.extend(parser.into_offset_iter().filter_map(|(event, place)| match event {
        Event::Start(Tag::Image { .. }) | Event::Html(_) | Event::InlineHtml(_) => Some(place),
        _ => None,
    }));
    let mut found: Vec<InlinePicture<'_>> = places.into_iter().flat_map(|place| pictures_in(markdown, place)).collect();
    found.retain(|picture| picture.address.len() >= min_bytes);
    found.sort_by_key(|picture| picture.address.start);
    found.dedup_by_key(|picture| picture.address.start);
    found
}

const BEGIN: &str = "data:image/";

fn pictures_in(markdown: &str, place: Range<usize>) -> Vec<InlinePicture<'_>> {
    let starts = markdown[place.clone()].match_indices(BEGIN).map(|(at, _)| place.start + at);
    starts.filter_map(|start| picture_at(markdown, start, place.end)).collect()
}

fn picture_at(markdown: &str, start: usize, end: usize) -> Option<InlinePicture<'_>> {
    let (kind, rest) = markdown[start + BEGIN.len()..end].split_once(";base64,")?;
    let is_kind = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    if kind.is_empty() || !kind.bytes().all(is_kind) {
        return None;
    }
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let length = rest.bytes().position(|byte| !is_base64(byte)).unwrap_or(rest.len());
    let data = start + BEGIN.len() + kind.len() + ";base64,".len();
    let mime = &markdown[start + "data:".len()..start + BEGIN.len() + kind.len()];
    (length > 0).then(|| InlinePicture { address: start..data + length, mime, base64: &markdown[data..data + length] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(markdown: &str) -> Vec<(&str, &str, &str)> {
        let pictures = inline_pictures(markdown, 20);
        pictures.into_iter().map(|it| (&markdown[it.address], it.mime, it.base64)).collect()
    }

    #[test]
    fn pictures_are_found_where_they_are_shown() {
        let address = "data:image/png;base64,AAAA+/==";
        for text in [
            format!("a ![x]({address}) b"),
            format!("![x](<{address}> \"title\")"),
            format!("- one\n- ![x]({address})\n"),
            format!("![x][p]\n\n[p]: {address}"),
            format!("![x][p]\n\n[p]: <{address}>"),
            format!("<img width=\"5\" src=\"{address}\">"),
            format!("text <img src='{address}'/> text"),
        ] {
            assert_eq!(found(&text), [(address, "image/png", "AAAA+/==")], "{text}");
        }
        let two = format!("![é]({address})![y](data:image/svg+xml;base64,BBBB)");
        assert_eq!(found(&two).iter().map(|(_, mime, _)| *mime).collect::<Vec<_>>(), ["image/png", "image/svg+xml"]);
    }

    #[test]
    fn code_and_other_text_is_left_alone() {
        for text in [
            "`![x](data:image/png;base64,AAAAAAAA)`",
            "```\n![x](data:image/png;base64,AAAAAAAA)\n```",
            "    ![x](data:image/png;base64,AAAAAAAA)",
            "data:image/png;base64,AAAAAAAA",
            "![x](data:image/svg+xml;utf8,<svg></svg>AAAA)",
            "![x](data:image/png;base64,)",
            "![x](https://example.org/data:image/png)",
            "![small](data:image/x;base64,A)",
        ] {
            assert_eq!(inline_pictures(text, 25), [], "{text}");
        }
    }
}
