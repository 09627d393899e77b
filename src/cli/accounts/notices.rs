//! Notices to you: the inbox, and webhooks.

use clap::{Args, Subcommand};
use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use notarium_wire::rest::{
    InboxNotice, IssuedWebhook, MarkNotices, NewWebhook, NoticeNews, NoticePage, Webhook, WebhookTest,
};
use reqwest::Method;

use crate::cli::connection::client::RestClient;
use crate::cli::terminal::print;
use crate::cli::{CommonOptions, Ended, Failure, JsonArgs};

/// Notices that are marked in one request.
const MARKED_AT_ONCE: usize = 100;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium notices --unread
  notarium notices --watch
  notarium notices --read")]
pub struct NoticesArgs {
    /// Only unread ones.
    #[arg(long)]
    unread: bool,
    /// Number of notices.
    #[arg(long, default_value_t = 30, value_name = "N")]
    limit: usize,
    /// Marks the listed ones as read.
    #[arg(long, conflicts_with = "watch")]
    read: bool,
    /// Waits, and prints new ones as they come.
    #[arg(long)]
    watch: bool,
    /// In JSON; with --watch an object per line.
    #[arg(long)]
    json: bool,
}

pub async fn notices(args: NoticesArgs, context: &CommonOptions) -> Ended {
    let client = context.client()?;
    if args.watch {
        return watch(&client, args.json).await;
    }
    let unread = args.unread.then_some("true");
    let query = [("unread", unread)];
    let split = |page: NoticePage| (page.notices, page.next.map(|next| ("before", next)));
    let listed = client.pages("/api/notices", &query, args.limit, split).await?;
    let headings = ["", "at", "notice", "notebook", "id"];
    print::list(&listed, args.json, "no notices", headings, async |notice: &InboxNotice| {
        [
            if notice.is_read { String::new() } else { "•".to_owned() },
            print::time(notice.at),
            notice.text.clone(),
            notice.notebook.as_ref().map(|place| place.id.to_string()).unwrap_or_default(),
            notice.id.clone(),
        ]
    })
    .await?;
    if args.read {
        let ids: Vec<String> = listed.into_iter().filter(|notice| !notice.is_read).map(|notice| notice.id).collect();
        for some in ids.chunks(MARKED_AT_ONCE) {
            let marks = MarkNotices { ids: Some(some.to_vec()), until: None, read: Some(true) };
            client.send(client.request(Method::POST, "/api/notices/read").json(&marks)).await?;
        }
    }
    Ok(())
}

async fn watch(client: &RestClient, as_json: bool) -> Ended {
    let response = client.send(client.request(Method::GET, "/api/notices/stream")).await?;
    let mut events = response.bytes_stream().eventsource();
    while let Some(event) = events.next().await {
        let broken = |_| Failure::failed("the stream of notices broke off: run it again");
        let news: NoticeNews = serde_json::from_str(&event.map_err(broken)?.data).map_err(Failure::not_understood)?;
        match news.notice {
            Some(notice) if as_json => print::json_line(&notice)?,
            Some(notice) => print::line(format_args!("{}  {}", print::time(notice.at), notice.text))?,
            None => {}
        }
    }
    Err(Failure::failed("the server ended the stream of notices: run it again"))
}

#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// Make a webhook, and print the secret by which its receiver verifies signatures (Standard Webhooks).
    #[command(after_help = "Example:
  notarium webhook new https://example.org/hooks/notarium --label team")]
    New {
        /// Address, to which notices are posted.
        url: String,
        /// For you to know it by.
        #[arg(long, default_value = "")]
        label: String,
        /// The answer in JSON.
        #[arg(long)]
        json: bool,
    },
    /// List your webhooks.
    Ls(JsonArgs),
    /// Give a webhook a new secret. For a day messages are signed with both.
    Rotate {
        /// Id, as `ls` lists it.
        webhook: String,
        /// The answer in JSON.
        #[arg(long)]
        json: bool,
    },
    /// Send a test message now.
    Test {
        /// Id, as `ls` lists it.
        webhook: String,
    },
    /// Delete a webhook.
    Rm {
        /// Id, as `ls` lists it.
        webhook: String,
    },
}

impl WebhookCommand {
    pub async fn run(self, context: &CommonOptions) -> Ended {
        let client = context.client()?;
        match self {
            Self::New { url, label, json } => {
                let made = client.post("/api/webhooks", &NewWebhook { url, label }).await?;
                issued(&made, json, "verify signatures with this secret, which is shown once")
            }
            Self::Ls(JsonArgs { json }) => list(&client, json).await,
            Self::Rotate { webhook, json } => {
                let path = format!("/api/webhooks/{webhook}/rotate");
                let made = client.json(client.request(Method::POST, &path)).await?;
                issued(&made, json, "the new secret, which is shown once; the old one signs too for a day")
            }
            Self::Test { webhook } => {
                let path = format!("/api/webhooks/{webhook}/test");
                let test: WebhookTest = client.json(client.request(Method::POST, &path)).await?;
                match test.problem {
                    None => print::noted("the webhook accepted the test"),
                    Some(problem) => Err(Failure::failed(format!("the test was not accepted: {problem}"))),
                }
            }
            Self::Rm { webhook } => {
                client.delete(&format!("/api/webhooks/{webhook}")).await?;
                print::noted("deleted")
            }
        }
    }
}

fn issued(made: &IssuedWebhook, as_json: bool, remark: &str) -> Ended {
    print::secret(made, &made.secret, as_json, &format!("webhook {}: {remark}", made.webhook.id))
}

async fn list(client: &RestClient, as_json: bool) -> Ended {
    let webhooks: Vec<Webhook> = client.get("/api/webhooks").await?;
    let headings = ["webhook", "label", "address", "made", "last delivery", "problem"];
    print::list(&webhooks, as_json, "no webhooks", headings, async |webhook| {
        [
            webhook.id.clone(),
            webhook.label.clone(),
            webhook.url.clone(),
            print::time(webhook.created_at),
            print::optional_time(webhook.tried_at),
            webhook.problem.clone().unwrap_or_default(),
        ]
    })
    .await
}
