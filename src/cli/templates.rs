//! `templates`, `template`: what new notebooks can be made of.

use clap::Args;
use notarium_wire::rest::{Answer, TemplateChoice, TemplateMark, Templates};

use super::client::NotebookClient;
use super::notebooks::report;
use super::{Context, Ended, Failure, print};

#[derive(Debug, Args)]
pub struct TemplatesArgs {
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

pub async fn list(args: TemplatesArgs, context: &Context) -> Ended {
    let templates = all(context).await?;
    if args.json {
        return print::json(&templates);
    }
    let starters = templates.starters.into_iter().map(|it| (it.id, it.title, it.description));
    let notebooks = templates.notebooks.into_iter().map(|it| (it.notebook.to_string(), it.title, it.description));
    let lines: Vec<(String, String, String)> = starters.chain(notebooks).collect();
    print::list(&lines, false, "no templates", ["template", "title", "what for"], async |(id, title, description)| {
        [id.clone(), title.clone(), description.clone()]
    })
    .await?;
    if templates.is_cut {
        print::note("there are more notebooks that are templates: name one by its id");
    }
    Ok(())
}

async fn all(context: &Context) -> Result<Templates, Failure> {
    context.client()?.get("/api/templates").await
}

/// A starter by its id, else a notebook by its id or title.
pub async fn named(context: &Context, name: &str) -> Result<TemplateChoice, Failure> {
    if all(context).await?.starters.iter().any(|starter| starter.id == name) {
        return Ok(TemplateChoice::Starter(name.to_owned()));
    }
    Ok(TemplateChoice::Notebook(context.notebook(name).await?.id.clone()))
}

#[derive(Debug, Args)]
pub struct TemplateArgs {
    /// What it is for, on one line.
    #[arg(long, default_value = "", value_name = "TEXT")]
    description: String,
    /// It is no template any more.
    #[arg(long, conflicts_with = "description")]
    off: bool,
}

pub async fn mark(args: TemplateArgs, notebook: NotebookClient) -> Ended {
    let (client, path) = (&notebook.client, notebook.path("/template"));
    let request = match args.off {
        true => client.request(reqwest::Method::DELETE, &path),
        false => client.request(reqwest::Method::PUT, &path).json(&TemplateMark { description: args.description }),
    };
    let answer: Answer = client.json(request).await?;
    report(&answer);
    Ok(())
}
