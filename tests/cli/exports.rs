//! Tests of exports for reading: HTML, Markdown and Python, by command and by REST.

use serde_json::json;

use super::support::World;

fn hostile() -> String {
    let output = json!({ "output_type": "display_data", "metadata": {}, "data": { "text/html": "<b>Wind</b><script>alert(1)</script>" } });
    let code = json!({ "id": "a", "cell_type": "code", "metadata": {}, "execution_count": 3, "source": "%time f('<script>')", "outputs": [output] });
    let text = json!({ "id": "b", "cell_type": "markdown", "metadata": {}, "source": "# Sea\n\n<script>alert(2)</script>\n\n$x^2$" });
    json!({ "nbformat": 4, "nbformat_minor": 5, "metadata": { "kernelspec": { "name": "python3", "display_name": "Python 3", "language": "python" } },
        "cells": [text, code] })
    .to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notebook_is_exported_as_a_page_as_markdown_and_as_python_alike_by_every_door() {
    let world = World::start().await;
    std::fs::write(world.folder.path().join("sea.ipynb"), hostile()).unwrap();
    let notebook = world.run(&["import", "sea.ipynb", "--title", "Sea"]).await.ok();
    for (ending, wanted) in [
        ("html", vec!["<h1>Sea</h1>", "<b>Wind</b>", "<msup>", "default-src 'none'", "[3]"]),
        ("md", vec!["# Sea", "```python\n%time f('<script>')\n```", "<b>Wind</b>", "$x^2$"]),
        ("py", vec!["# %% [markdown]\n# # Sea", "# %%\n# %time f('<script>')\n", "format_name: percent"]),
    ] {
        let name = format!("out.{ending}");
        world.run(&["export", "Sea", "-o", &name]).await.ok();
        let file = std::fs::read_to_string(world.folder.path().join(&name)).unwrap();
        for text in wanted {
            assert!(file.contains(text), "{text} is not in {file}");
        }
        if ending != "py" {
            assert!(!file.contains("<script>alert"), "{file}");
        }
        assert_eq!(world.run(&["export", "Sea", "--format", ending]).await.ok().trim_end(), file.trim_end());
        let url = format!("{}/api/notebooks/{notebook}/export?format={ending}", world.url());
        let answer = crate::support::client().get(&url).bearer_auth(world.token()).send().await.unwrap();
        let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("sandbox; default-src 'none'"), "{policy}");
        assert!(answer.headers()["content-disposition"].to_str().unwrap().contains(&format!("Sea.{ending}")));
        assert_eq!(answer.text().await.unwrap(), file);
    }
    let state = world.run(&["show", "Sea", "--json"]).await.json();
    let code = state["notebook"]["order"][1].as_str().unwrap();
    world.run(&["edit", "Sea", code, "--source", "later = 1"]).await.ok();
    for (ending, note) in
        [("html", "<p class=\"nb-note\">Changed since it ran.</p>"), ("md", "*Changed since it ran.*")]
    {
        let file = world.run(&["export", "Sea", "--format", ending]).await.ok();
        let (before, _) = file.split_once("<b>Wind</b>").expect("the old output");
        assert!(before.contains(note), "{file}");
    }
    let unknown = world.run(&["export", "Sea", "--format", "docx"]).await.fails(2);
    assert!(unknown.contains("no format 'docx': take ipynb, html, md or py"), "{unknown}");
    assert!(world.run(&["export", "Sea"]).await.ok().contains("\"nbformat\": 4"));
}
