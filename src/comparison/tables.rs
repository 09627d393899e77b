//! Tables in HTML, such as those of data frames: their cells, and the text beside them. Styles, scripts, attributes and ids do not count.

/// Texts of the cells of a table, by row.
pub type HtmlTable = Vec<Vec<String>>;

/// A page as a reader sees it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HtmlTables {
    pub tables: Vec<HtmlTable>,
    /// Words outside of the tables, each separated by one blank.
    pub beside: String,
}

/// Elements whose content is not shown.
const HIDDEN: [&str; 2] = ["style", "script"];

/// Reads the tables of a page. `None`: it has none.
pub fn read(html: &str) -> Option<HtmlTables> {
    let mut reader = TableReader::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        reader.text(&rest[..at]);
        rest = match rest[at..].strip_prefix("<!--") {
            Some(comment) => comment.split_once("-->").map_or("", |(_, after)| after),
            None => {
                let (tag, after) = rest[at + 1..].split_once('>').unwrap_or((&rest[at + 1..], ""));
                let name = tag_name(tag);
                reader.tag(&name);
                match HIDDEN.iter().find(|hidden| **hidden == name) {
                    Some(hidden) => after_end(after, hidden),
                    None => after,
                }
            }
        };
    }
    reader.text(rest);
    let TableReader { mut page, beside, .. } = reader;
    page.beside = words(&beside);
    page.tables.iter_mut().flatten().flatten().for_each(|cell| *cell = words(cell));
    (!page.tables.is_empty()).then_some(page)
}

/// A tag's name in lower case, with the slash of an end tag.
fn tag_name(tag: &str) -> String {
    let end = tag.find(|character: char| !character.is_ascii_alphanumeric() && character != '/').unwrap_or(tag.len());
    tag[..end].trim_end_matches('/').to_ascii_lowercase()
}

fn after_end<'a>(html: &'a str, name: &str) -> &'a str {
    let end = format!("</{name}");
    let lower = html.to_ascii_lowercase();
    lower.find(&end).map_or("", |at| &html[at..])
}

#[derive(Default)]
struct TableReader {
    page: HtmlTables,
    beside: String,
    /// Tables within tables are text of their cell.
    depth: usize,
    is_in_cell: bool,
}

impl TableReader {
    fn tag(&mut self, name: &str) {
        match (name, self.depth) {
            ("table", 0) => {
                self.page.tables.push(HtmlTable::new());
                self.depth = 1;
            }
            ("table", _) => {
                self.depth += 1;
                self.text(" ");
            }
            ("/table", 0) => {}
            ("/table", _) => {
                self.depth -= 1;
                self.is_in_cell &= self.depth > 0;
                self.text(" ");
            }
            ("tr", 1) => {
                self.is_in_cell = false;
                self.table(|table| table.push(Vec::new()));
            }
            ("td" | "th", 1) => {
                self.is_in_cell = true;
                self.table(|table| {
                    if table.is_empty() {
                        table.push(Vec::new());
                    }
                    table.last_mut().into_iter().for_each(|row| row.push(String::new()));
                });
            }
            ("/td" | "/th" | "/tr", 1) => self.is_in_cell = false,
            _ => self.text(" "),
        }
    }

    fn table(&mut self, change: impl FnOnce(&mut HtmlTable)) {
        if let Some(table) = self.page.tables.last_mut() {
            change(table);
        }
    }

    fn text(&mut self, text: &str) {
        let text = decoded(text);
        match (self.is_in_cell, self.page.tables.last_mut().and_then(|table| table.last_mut()?.last_mut())) {
            (true, Some(cell)) => cell.push_str(&text),
            _ => self.beside.push_str(&text),
        }
    }
}

/// The words of a text, each separated by one blank.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with the usual named characters.
fn decoded(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let named = [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&amp;", "&"),
    ];
    named.into_iter().fold(text.to_owned(), |text, (name, character)| text.replace(name, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_and_styles_are_not() {
        let html = "<style>.a td { color: red }</style><!-- <table> --><div><table id=T_1 class=\"dataframe\"><thead>\
                    <tr style=\"x\"><th></th><th>a &amp; b</th></tr></thead><tbody><tr><th>0</th><td> 1.5 </td></tr>\
                    </tbody></table><p>1 rows × 1 columns</p></div>";
        let page = read(html).unwrap();
        assert_eq!(page.tables, [vec![vec!["", "a & b"], vec!["0", "1.5"]]]);
        assert_eq!(page.beside, "1 rows × 1 columns");
        assert_eq!(read("<b>no table</b> < 5"), None);
    }

    #[test]
    fn broken_pages_are_read_to_their_end() {
        for html in [
            "<table><td>1<td>2",
            "<table><tr><td>1</td",
            "<table",
            "<style>",
            "</table><table>",
            "<table><tr></table>x<",
        ] {
            read(html);
        }
        assert_eq!(read("<table><td>1<td>2").unwrap().tables, [vec![vec!["1", "2"]]]);
        let nested = read("<table><tr><td>a<table><tr><td>b</td></tr></table>c</td><td>d</td></tr></table>").unwrap();
        assert_eq!(nested.tables, [vec![vec!["a b c", "d"]]]);
    }
}
