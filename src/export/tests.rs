use serde_json::{Value, json};

use super::{ExportedCell, ExportedKind, ExportedNotebook, Format, write};

fn cell(kind: ExportedKind, source: &str) -> ExportedCell {
    ExportedCell { kind, source: source.to_owned(), ..ExportedCell::default() }
}

fn display(data: Value) -> Value {
    json!({ "output_type": "display_data", "metadata": {}, "data": data })
}

fn notebook(cells: Vec<ExportedCell>) -> ExportedNotebook {
    ExportedNotebook {
        title: "Sea & <Wind>".to_owned(),
        kernel_name: "python3".to_owned(),
        kernel_display_name: "Python 3".to_owned(),
        language: "python".to_owned(),
        cells,
    }
}

fn html(cells: Vec<ExportedCell>) -> String {
    write(Format::Html, &notebook(cells))
}

fn of_output(output: Value) -> String {
    html(vec![ExportedCell { outputs: vec![output], ..cell(ExportedKind::Code, "x") }])
}

const HOSTILE: [&str; 14] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href='javascript:alert(1)'>a</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>a</a>",
    "<object data='x'></object><embed src=x>",
    "<form action='https://evil.example'><input name=a><button>Go</button></form>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href='https://evil.example'>",
    "<link rel=stylesheet href='https://evil.example'>",
    "<style>body{display:none}</style>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "</code></pre></section><script>alert(1)</script>",
];

fn is_harmless(page: &str) {
    let (_, body) = page.split_once("<body>").expect("a body");
    let lower = body.to_lowercase();
    for tag in
        ["<script", "<iframe", "<object", "<embed", "<form", "<meta", "<base", "<link", "<style", "<svg", "<input"]
    {
        assert!(!lower.contains(tag), "{tag} in {body}");
    }
    for address in ["href=\"javascript:", "href=\"data:"] {
        assert!(!lower.contains(address), "{address} in {body}");
    }
    let mut rest = lower.as_str();
    while let Some(at) = rest.find('<') {
        let tag = rest[at..].split('>').next().unwrap_or_default();
        assert!(!tag.contains(" onerror") && !tag.contains(" onload"), "a handler in {tag}");
        rest = &rest[at + 1..];
    }
}

#[test]
fn a_hostile_notebook_runs_nothing_wherever_the_text_stands() {
    for text in HOSTILE {
        let everywhere = vec![
            cell(ExportedKind::Markdown, text),
            cell(
                ExportedKind::Markdown,
                &format!("a $x {text}$ b\n\n$$\\text{{{text}}}$$\n\n`{text}`\n\n```{text}\n{text}\n```"),
            ),
            cell(ExportedKind::Markdown, &format!("[a](<{text}>) ![{text}](attachment:{text}) [x]: {text}")),
            cell(ExportedKind::Prompt, text),
            cell(ExportedKind::Raw, text),
            ExportedCell {
                outputs: vec![
                    display(json!({ "text/html": text })),
                    display(json!({ "text/markdown": text })),
                    display(json!({ "text/latex": text })),
                    display(json!({ "text/plain": text, "image/png": format!("\">{text}") })),
                    display(json!({ "image/svg+xml": text, "text/plain": text })),
                    display(json!({ text: text })),
                    json!({ "output_type": "stream", "name": "stdout", "text": format!("\u{1b}[31m{text}") }),
                    json!({ "output_type": "error", "ename": text, "evalue": text, "traceback": [text] }),
                ],
                attachments: json!({ text: { "image/png": format!("\">{text}") } }),
                ..cell(ExportedKind::Code, text)
            },
        ];
        let hostile = ExportedNotebook { title: text.to_owned(), ..notebook(everywhere) };
        let page = write(Format::Html, &hostile);
        is_harmless(&page);
        assert!(page.contains("default-src 'none'; img-src data:"));
    }
}

#[test]
fn markdown_holds_no_active_html_and_no_fence_is_broken_out_of() {
    let out = write(
        Format::Markdown,
        &notebook(vec![
            cell(
                ExportedKind::Markdown,
                "Fine <b>bold</b>\n\n<script>alert(1)</script>\n\n[x](javascript:alert)\n\n`<script>` stays",
            ),
            ExportedCell {
                outputs: vec![
                    json!({ "output_type": "stream", "name": "stdout", "text": "```\n<script>alert(1)</script>\n" }),
                ],
                ..cell(ExportedKind::Code, "print('```')")
            },
        ]),
    );
    assert!(out.contains("<b>bold</b>") && out.contains("`<script>` stays"), "{out}");
    assert!(out.contains("&lt;script>alert(1)"), "{out}");
    assert!(!out.contains("\n[x](javascript:"), "{out}");
    assert!(out.contains("````python\nprint('```')\n````"), "{out}");
    assert!(out.contains("````text\n```\n<script>"), "{out}");
}

#[test]
fn a_page_has_prose_formulas_tables_pictures_and_colours() {
    let table = "<style scoped>x</style><table border=\"1\" class=\"dataframe\"><tr><td style=\"color: red; position: fixed\">7</td></tr></table>";
    let prose = "# Sea\n\nA *calm* $x^2$ and $$\\frac{a}{b}$$\n\n|a|b|\n|-|-|\n|1|2|\n\n![p](attachment:a.png)";
    let page = html(vec![
        ExportedCell {
            attachments: json!({ "a.png": { "image/png": "QUJD" } }),
            ..cell(ExportedKind::Markdown, prose)
        },
        ExportedCell {
            execution_count: Some(3),
            outputs: vec![
                display(json!({ "text/html": table, "text/plain": "7" })),
                display(json!({ "image/png": "iVBOR\nw0K", "text/plain": "<Figure>" })),
                json!({ "output_type": "stream", "name": "stdout", "text": "10%\r100%\n\u{1b}[1;31mred\u{1b}[0m" }),
            ],
            ..cell(ExportedKind::Code, "a < b")
        },
    ]);
    for expected in [
        "<h1>Sea</h1>",
        "<em>calm</em>",
        "<msup>",
        "<mfrac>",
        "<td>1</td>",
        "src=\"data:image/png;base64,QUJD\"",
        "<td style=\"color:red\">7</td>",
        "src=\"data:image/png;base64,iVBORw0K\"",
        "100%\n<span class=\"af-r a-bold\">red</span>",
        "[3]",
        "a &lt; b",
    ] {
        assert!(page.contains(expected), "{expected} is not in {page}");
    }
    assert!(!page.contains("position: fixed") && !page.contains("position:fixed"), "{page}");
}

#[test]
fn what_draws_itself_is_its_picture_or_a_word() {
    let plotly =
        json!({ "application/vnd.plotly.v1+json": { "data": [] }, "text/html": "<div><script>x</script></div>" });
    assert!(of_output(display(plotly)).contains("An interactive Plotly chart. Open the notebook to use it."));
    let with_picture = json!({ "application/vnd.plotly.v1+json": {}, "image/png": "QUJD" });
    assert!(of_output(display(with_picture)).contains("data:image/png;base64,QUJD"));
    let script = json!({ "text/html": "<div id=a></div><script>draw()</script>", "text/plain": "<Map>" });
    assert!(of_output(display(script)).contains("&lt;Map&gt;"));
}

#[test]
fn what_is_hidden_is_left_out_of_files_to_read() {
    let output = json!({ "output_type": "stream", "name": "stdout", "text": "shown" });
    let hidden = |source: bool, outputs: bool| ExportedCell {
        outputs: vec![output.clone()],
        is_source_hidden: source,
        are_outputs_hidden: outputs,
        ..cell(ExportedKind::Code, "secret()")
    };
    for format in [Format::Html, Format::Markdown] {
        for (source, outputs) in [(true, false), (false, true), (true, true)] {
            let out = write(format, &notebook(vec![hidden(source, outputs)]));
            assert_eq!(
                (out.contains("secret()"), out.contains(">shown<") || out.contains("\nshown\n")),
                (!source, !outputs)
            );
        }
    }
    // Without hidden sources, Python would be a different program.
    assert!(write(Format::Percent, &notebook(vec![hidden(true, true)])).contains("secret()"));
}

#[test]
fn percent_comments_magics_and_other_languages() {
    let source =
        "%matplotlib inline\n!ls -l\nx = !pwd\nif a:\n    %time f()\n# %plain\n\"\"\"\n%not\n\"\"\"\nhelp?\ny = a % b";
    let out = write(
        Format::Percent,
        &notebook(vec![
            cell(ExportedKind::Code, source),
            cell(ExportedKind::Code, "%%bash -e\necho a"),
            cell(ExportedKind::Markdown, "# T\n\ntext"),
            cell(ExportedKind::Sql, "SELECT 1"),
            cell(ExportedKind::Code, ""),
        ]),
    );
    let expected = "\n# %%\n# %matplotlib inline\n# !ls -l\n# x = !pwd\nif a:\n    # %time f()\n# # %plain\n\"\"\"\n%not\n\"\"\"\n\
                    # help?\ny = a % b\n\n# %% magic_args=\"-e\" language=\"bash\"\n# echo a\n\n# %% [markdown]\n# # T\n#\n# text\n\n\
                    # %% language=\"sql\"\n# SELECT 1\n\n# %%\n";
    assert!(out.ends_with(expected), "{out}");
}

#[test]
fn notes_stand_before_the_outputs_unless_these_are_hidden() {
    let changed = ExportedCell {
        notes: vec!["Changed since it ran.".to_owned()],
        outputs: vec![json!({ "output_type": "stream", "name": "stdout", "text": "22.75" })],
        ..cell(ExportedKind::Code, "sum(prices) * 2")
    };
    let page = html(vec![changed.clone()]);
    let (before, _) = page.split_once("22.75").expect("the output");
    assert!(before.contains("<p class=\"nb-note\">Changed since it ran.</p>"), "{page}");
    let text = write(Format::Markdown, &notebook(vec![changed.clone()]));
    assert!(text.contains("```\n\n*Changed since it ran.*\n\n```text\n22.75"), "{text}");
    assert!(!html(vec![ExportedCell { are_outputs_hidden: true, ..changed }]).contains("Changed since"));
}
