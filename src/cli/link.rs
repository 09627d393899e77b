//! `link`: a link that signs a browser in as who is signed in here.

use clap::Args;
use notarium_core::NotebookId;
use notarium_wire::rest::OneTimeToken;
use reqwest::Method;

use super::{Context, Ended, find, print};

#[derive(Debug, Args)]
#[command(
    after_help = "The link is good for one browser, once, within an hour, and ends when another is made. The browser then has a session of its own: \
other tabs and the next day need no link."
)]
pub struct LinkArgs {
    /// The notebook to open: its id, or its title. Else the list of notebooks.
    notebook: Option<String>,
}

pub async fn link(args: LinkArgs, context: &Context) -> Ended {
    let client = context.client()?;
    let notebook = match &args.notebook {
        Some(name) => Some(find::notebook(&client, name).await?),
        None => None,
    };
    let made: OneTimeToken = client.json(client.request(Method::POST, "/api/session/link")).await?;
    print::line(to(client.server(), &made.token, notebook.as_ref().map(|notebook| &notebook.id)))?;
    print::note(format!("it opens one browser, once, until {}", print::optional_time(made.expires_at)));
    Ok(())
}

/// What stands behind the # stays in the browser, which drops it from the address.
pub fn to(server: &str, token: &str, notebook: Option<&NotebookId>) -> String {
    let place = notebook.map(|notebook| format!("&notebook={notebook}")).unwrap_or_default();
    format!("{server}/#token={token}{place}")
}
