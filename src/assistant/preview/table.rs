//! DataFrames and Series, from the HTML and the text of pandas and polars.

use super::text::{truncated, unescaped};

/// Describes the table of a page; `None` if the page is no data frame.
pub(super) fn of_html(html: &str) -> Option<String> {
    let start = html.find("class=\"dataframe").or_else(|| html.find("class='dataframe"))?;
    let table = &html[start..];
    let columns = header(table);
    let body = table.split_once("<tbody").map_or("", |(_, body)| body);
    let shown = body.split("</tbody>").next().unwrap_or_default().matches("<tr").count();
    let shape = stated_shape(&html.replace("&times;", "×")).unwrap_or((shown, columns.len()));
    Some(described(shape, &columns))
}

/// The column names in the first row of the head, without the corner above the index.
fn header(table: &str) -> Vec<String> {
    let head = table.split_once("<thead").map_or("", |(_, rest)| rest).split("</thead>").next().unwrap_or_default();
    let row = head.split("</tr>").next().unwrap_or_default();
    let cells = row.split("<th").skip(1).filter(|cell| !cell.starts_with("ead"));
    let names =
        cells.filter_map(|cell| cell.split_once('>')).map(|(_, text)| text.split('<').next().unwrap_or_default());
    let mut names: Vec<String> = names.map(|name| unescaped(name).trim().to_owned()).collect();
    if names.first().is_some_and(String::is_empty) {
        names.remove(0);
    }
    names
}

/// `100 rows × 5 columns` (pandas) or `shape: (100, 5)` (polars).
fn stated_shape(text: &str) -> Option<(usize, usize)> {
    let polars = text
        .rsplit_once("shape: (")
        .and_then(|(_, rest)| rest.split_once(')'))
        .and_then(|(inside, _)| inside.split_once(','));
    let pandas = text.rsplit_once(" columns").and_then(|(before, _)| {
        let before = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_').len();
        let (rows, times) = text[..before].rsplit_once(" rows ")?;
        let columns = text[before..].split(' ').next()?;
        let rows = rows.rsplit(|c: char| !c.is_ascii_digit()).next()?;
        matches!(times.trim(), "×" | "x").then_some((rows, columns))
    });
    let number = |text: &str| text.trim().replace('_', "").parse().ok();
    polars.or(pandas).and_then(|(rows, columns)| Some((number(rows)?, number(columns)?)))
}

fn described((rows, width): (usize, usize), columns: &[String]) -> String {
    let words = format!("[DataFrame: {rows} rows x {width} cols]");
    let names = columns.iter().map(|name| if name == "..." { "…" } else { name }).collect::<Vec<_>>().join(", ");
    if names.is_empty() { words } else { format!("{words} columns: {}", truncated(&names)) }
}

/// Describes a frame or a series in pandas' plain text; `None` if it is not certainly one.
pub(super) fn of_text(text: &str) -> Option<String> {
    let last = text.trim_end().lines().next_back()?.trim();
    let is_frame = last.starts_with('[') && last.ends_with("columns]") || text.starts_with("shape: (");
    if is_frame {
        let columns = if text.starts_with("shape: (") { Vec::new() } else { column_line(text) };
        return stated_shape(text).map(|shape| described(shape, &columns));
    }
    let is_series =
        last.rsplit(", ").next().is_some_and(|part| part.starts_with("dtype: ")) && text.trim_end().contains('\n');
    is_series.then(|| series(text, last))
}

/// The column names above a frame. Two blanks separate columns, so a name with two blanks counts as two.
fn column_line(text: &str) -> Vec<String> {
    let line = text.lines().next().unwrap_or_default().trim_end_matches('\\');
    let names = line.split("  ").map(str::trim).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// The last line reads `Name: price, Length: 100, dtype: int64`, where the first two may be absent.
fn series(text: &str, last: &str) -> String {
    let field = |name: &str| last.split(", ").find_map(|part| part.strip_prefix(name));
    let shown = text.trim_end().lines().count() - 1;
    let length = field("Length: ").and_then(|length| length.parse().ok()).unwrap_or(shown);
    let name = field("Name: ").map(|name| format!(" {name}")).unwrap_or_default();
    format!("[Series{name}: {length} values, dtype {}]", field("dtype: ").unwrap_or("object"))
}
