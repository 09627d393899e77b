use serde_json::{Value, json};

use super::{ExportedCell, ExportedKind, ExportedNotebook, Format, write};

fn notebook(cells: Vec<ExportedCell>) -> ExportedNotebook {
    ExportedNotebook { title: "T".to_owned(), cells, ..ExportedNotebook::default() }
}

fn text(source: &str) -> ExportedCell {
    ExportedCell { kind: ExportedKind::Markdown, source: source.to_owned(), ..ExportedCell::default() }
}

/// The part below the title.
fn html(sources: &[&str]) -> String {
    let page = write(Format::Html, &notebook(sources.iter().map(|source| text(source)).collect()));
    page.split_once("</h1>").expect("a title").1.to_owned()
}

fn of_output(mime: &str, content: &str) -> ExportedCell {
    let output = json!({ "output_type": "display_data", "metadata": {}, "data": { mime: content } });
    ExportedCell { outputs: vec![output], ..ExportedCell::default() }
}

/// Text of a page without tags and blanks.
fn seen(page: &str) -> String {
    let bare = regex::Regex::new("<[^>]*>").expect("a pattern").replace_all(page, "").replace("&nbsp;", "");
    bare.chars()
        .filter(|sign| !sign.is_whitespace() && !"\u{2061}\u{2062}\u{2063}\u{200b}\u{a0}".contains(*sign))
        .collect()
}

#[test]
fn formulas_have_lines_blanks_pipes_and_signs_of_markdown() {
    for (source, count) in [
        ("two lines $a +\nb$ end", 1),
        ("$ \\alpha + \\beta $ and $\\gamma $ and $ \\delta$", 3),
        ("$a\n- b\n= c$ and $$\n* x\n---\n+ y\n$$", 2),
        ("| a | b |\n|---|---|\n| $|x|$ | $a*b*c$ |", 2),
        ("\\\\(x^2\\\\) and \\\\[y^2\\\\] and \\(z^2\\)", 3),
        ("see \\begin{cases}a\\\\ b\\end{cases} there", 1),
        ("> $$\n> a\n> = b\n> $$", 1),
        ("<div>$x$</div>", 1),
        ("it costs $5 and $6, or $ 5 and $ 6", 0),
        ("`$x$` and <code>$y$</code>\n\n    $z$\n\n```\n$w$\n```", 0),
        ("a lone $$ and \\[link\\] and \\$5", 0),
    ] {
        let page = html(&[source]);
        assert_eq!(page.matches("<math").count(), count, "{source}: {page}");
        assert!(!page.contains("<code>") || count == 0, "{source}: {page}");
        assert!(!page.contains('\u{fdd0}') && !page.contains("%EF%B7%90"), "{source}: {page}");
    }
    assert!(html(&["[a](https://example.org/$x$ \"a $t$ b\")"]).contains("title=\"a $t$ b\""));
}

#[test]
fn macros_numbers_and_references_go_through_the_notebook() {
    let page = html(&[
        "see \\eqref{eq:b} and $\\ref{none}$",
        "$$\\newcommand{\\R}{\\mathbb{Q}}\\newcommand{\\v}[2]{#1_{#2}}$$ $\\let\\q=\\R\\DeclareMathOperator{\\rank}{rank}$",
        "\\begin{equation}\na = b\n\\end{equation}",
        "\\begin{align} c &= d \\notag \\\\ e &= \\begin{cases} 1 \\\\ 2 \\end{cases} \\label{eq:b} \\\\ f &= g \\tag{A} \\end{align}",
        "$x \\in \\R$ $\\v{i}{j}$ $\\q$ $\\rank$ $\\renewcommand{\\R}{S}\\R$",
    ]);
    assert!(!page.contains("<code>"), "{page}");
    assert!(page.contains("<a href=\"#eq-eq_3ab\">(2)</a>"), "{page}");
    assert!(page.contains("<span id=\"eq-eq_3ab\"></span><math"), "{page}");
    let text = seen(&page);
    assert!(text.contains("see(2)and???"), "{text}");
    assert!(text.contains("(1)") && text.contains("(A)") && !text.contains("(3)"), "{text}");
    assert!(text.ends_with("ℚrankS") || text.contains("rank"), "{text}");
    assert!(!page.contains("\\newcommand"), "{page}");
}

#[test]
fn environments_are_aligned_and_common_commands_known() {
    let page = html(&["\\begin{align} a &= b \\\\ c &= d \\end{align}", "$\\bm{x}$ $\\bra{\\psi}$ $\\ket{\\psi}$"]);
    assert!(page.contains("<mtable class=\"menv-alignlike menv-align") && !page.contains("<code>"), "{page}");
    assert!(page.contains("⟩") && page.contains("⟨"), "{page}");
}

#[test]
fn a_definition_with_a_mistake_spoils_only_what_needs_it() {
    let page = html(&["$\\def\\bad{\\begin{}$ and $\\def\\ok{1}$", "$x^2$ and $\\ok$"]);
    assert!(page.contains("<msup>"), "{page}");
}

#[test]
fn chemistry_is_written_out() {
    for (formula, expected) in [
        ("H2O", "{\\mathrm{H}_{2}\\mathrm{O}}"),
        ("SO4^2-", "{\\mathrm{SO}_{4}^{2-}}"),
        ("Na+", "{\\mathrm{Na}^{+}}"),
        ("2H2 + O2 -> 2H2O", "{2\\,\\mathrm{H}_{2}+\\,\\mathrm{O}_{2}\\,\\rightarrow 2\\,\\mathrm{H}_{2}\\mathrm{O}}"),
        ("Fe(OH)3 v", "{\\mathrm{Fe}(\\mathrm{OH})_{3}\\downarrow }"),
        ("A <=>[heat] B", "{\\mathrm{A}\\,\\overset{\\mathrm{heat}}{\\rightleftharpoons} \\mathrm{B}}"),
        ("^{14}_{6}C", "{{}^{14}_{6}\\mathrm{C}}"),
    ] {
        assert_eq!(super::chemistry::written_out(&format!("\\ce{{{formula}}}")), expected);
        let page = html(&[&format!("$\\ce{{{formula}}}$")]);
        assert!(page.contains("<math") && !page.contains("<code>"), "{formula}: {page}");
    }
    assert_eq!(super::chemistry::written_out("\\cell \\ce{H"), "\\cell \\ce{H");
}

#[test]
fn latex_outputs_are_one_formula_or_text_with_formulas() {
    let page = |latex| write(Format::Html, &notebook(vec![of_output("text/latex", latex)]));
    for latex in ["$\\displaystyle x^{2}$", "$$x^2$$", "x^2", "\\begin{align}x^2 &= y\\end{align}"] {
        assert!(page(latex).contains("<msup>"), "{latex}");
    }
    assert_eq!(page("so $x^2$ and $y^2$").matches("<msup>").count(), 2);
}

#[test]
fn attachments_of_any_name_are_shown() {
    for (written, name) in [
        ("50%.png", "50%.png"),
        ("100%25.png", "100%.png"),
        ("my%20pic.png", "my pic.png"),
        ("a&b.png", "a&b.png"),
        ("Gr%C3%B6%C3%9Fe.png", "Größe.png"),
        ("Größe%.png", "Größe%.png"),
    ] {
        let attachments: Value = json!({ name: { "image/png": "QUJD" } });
        for source in [format!("![p](attachment:{written})"), format!("<img src=\"attachment:{written}\">")] {
            for format in [Format::Html, Format::Markdown] {
                let cell = ExportedCell { attachments: attachments.clone(), ..text(&source) };
                let page = write(format, &notebook(vec![cell]));
                assert!(page.contains("data:image/png;base64,QUJD"), "{source}: {page}");
            }
        }
    }
}

const STYLED: &str = r##"<style type="text/css">
#T_a1_row0_col0, #T_a1_row1_col0:hover { background-color: #ff0000; position: fixed; }
#T_a1 th.col_heading { color: rgb(1, 2, 3) }
#T_a1 td { background: url(https://evil.example) }
body { display: none }
#T_a1 td, body { color: red }
</style><table id="T_a1" class="dataframe nb-cell"><thead><tr><th id="x" class="col_heading level0 col0">n</th></tr></thead><tbody><tr><td id="T_a1_row0_col0" class="data row0 col0">7</td></tr></tbody></table>"##;

#[test]
fn a_styler_keeps_its_colours_and_gets_nothing_else() {
    let page = write(Format::Html, &notebook(vec![of_output("text/html", STYLED)]));
    let (_, body) = page.split_once("<body>").expect("a body");
    assert!(body.contains("<style>#T_a1_row0_col0, #T_a1_row1_col0:hover{background-color:#ff0000}#T_a1 th.col_heading{color:rgb(1, 2, 3)}</style>"), "{body}");
    assert!(body.contains("id=\"T_a1_row0_col0\""), "{body}");
    assert!(body.contains("class=\"data row0 col0\""), "{body}");
    for wrong in
        ["position", "evil", "display: none", "display:none", "id=\"x\"", "nb-cell dataframe", "dataframe nb-cell"]
    {
        assert!(!body.contains(wrong), "{wrong} in {body}");
    }
    let markdown = write(Format::Markdown, &notebook(vec![of_output("text/html", STYLED)]));
    assert!(markdown.contains("<td") && !markdown.contains("background"), "{markdown}");
}

#[test]
fn hostile_formulas_take_no_long_time() {
    for piece in [
        "$",
        "${",
        "\\(",
        "\\begin{a}",
        "`",
        "`` ` ",
        "<!--",
        "\\\\[",
        "$$\n",
        "\\[\n",
        "<a \"",
        "\\label{",
        "$\\def\\a{",
    ] {
        let page = html(&[&piece.repeat(40_000 / piece.len())]);
        assert!(page.contains("</main>"), "{piece}");
    }
}
