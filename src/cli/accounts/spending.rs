//! Usage of the server's storage and of models, and caps on spending.

use clap::{Args, Subcommand, ValueEnum};
use notarium_core::{Actor, Subject};
use notarium_wire::rest::{
    AccountUsage, CapName, CapStatus, CapsAnswer, ModelUsage, ModelUsageAnswer, Money, NewCap, SpenderKind,
    SpendingPeriod, UsageAnswer,
};
use reqwest::Method;
use serde::Serialize;

use crate::cli::connection::client::{RestClient, with_query};
use crate::cli::connection::find::{self, People, subject};
use crate::cli::terminal::print;
use crate::cli::terminal::values::word;
use crate::cli::{CommonOptions, Ended, Failure};

/// UsageGrouping by which usage of models is summed.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum UsageGrouping {
    Day,
    Model,
    Person,
    Workspace,
    Notebook,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium usage                                  # notebooks, records and large outputs
  notarium usage --by day                         # tokens and cost of your assistants this month
  notarium usage --by person --all --csv > november.csv")]
pub struct UsageArgs {
    /// Everybody, who uses most first; for administrators.
    #[arg(long)]
    all: bool,
    /// Tokens and cost of assistants, summed by this.
    #[arg(long, value_enum)]
    by: Option<UsageGrouping>,
    /// Everybody in this workspace, by its name or id; for its owners.
    #[arg(long, value_name = "WORKSPACE", requires = "by")]
    workspace: Option<String>,
    /// First day in UTC, as in 2026-11-01; absent: the first of this month.
    #[arg(long, value_name = "DAY", requires = "by")]
    since: Option<String>,
    /// Last day in UTC; absent: today.
    #[arg(long, value_name = "DAY", requires = "by")]
    until: Option<String>,
    /// The answer as CSV.
    #[arg(long, requires = "by", conflicts_with = "json")]
    csv: bool,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn usage(args: UsageArgs, context: &CommonOptions) -> Ended {
    let client = context.client()?;
    match args.by {
        Some(by) => model_usage(&client, &args, by).await,
        None => storage_usage(&client, &args).await,
    }
}

async fn storage_usage(client: &RestClient, args: &UsageArgs) -> Ended {
    let path = if args.all { "/api/usage?all=true" } else { "/api/usage" };
    let UsageAnswer { accounts } = client.get(path).await?;
    let mut people = People::new(client);
    let headings = ["who", "notebooks", "records", "large outputs"];
    print::list(&accounts, args.json, "nobody uses anything yet", headings, async |account| {
        let AccountUsage { person, workspace, used, limits } = account;
        let who = match (person, workspace) {
            (Some(id), _) => people.name(&Actor::User { id: id.clone() }).await,
            (None, Some(id)) => people.subject(&Subject::Workspace { id: id.clone() }).await,
            (None, None) => String::new(),
        };
        let of = |used: u64, limit: u64| format!("{} of {}", print::size(used), print::size(limit));
        let notebooks = format!("{} of {}", used.notebooks, limits.notebooks);
        [who, notebooks, of(used.log_bytes, limits.log_bytes), of(used.blob_bytes, limits.blob_bytes)]
    })
    .await
}

async fn model_usage(client: &RestClient, args: &UsageArgs, by: UsageGrouping) -> Ended {
    let by = by.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let workspace = find::named_workspace(client, args.workspace.as_deref()).await?;
    let parameters = [
        ("by", Some(by.as_str())),
        ("all", args.all.then_some("true")),
        ("workspace", workspace.as_ref().map(|id| id.as_str())),
        ("since", args.since.as_deref()),
        ("until", args.until.as_deref()),
    ];
    if args.csv {
        let request = client.request(Method::GET, &with_query("/api/spending.csv", &parameters));
        let text = client.send(request).await?.text().await;
        return print::raw(&text.map_err(|error| Failure::failed(format!("the answer was cut off: {error}")))?);
    }
    let answer: ModelUsageAnswer = client.get(&with_query("/api/spending", &parameters)).await?;
    let empty = format!("no assistant was asked from {} to {}", answer.since, answer.until);
    let headings = [by.as_str(), "calls", "tokens in", "cached", "tokens out", "cost"];
    print::list(&answer.rows, args.json, &empty, headings, async |row| {
        let ModelUsage { value, name, calls, input_tokens, cached_tokens, output_tokens, .. } = row;
        let name = match (name, value.as_str()) {
            (Some(name), _) => print::clean(name),
            (None, "") => "(none)".to_owned(),
            (None, value) => value.to_owned(),
        };
        let numbers = [*input_tokens, *cached_tokens, *output_tokens].map(|number| number.to_string());
        let [input, cached, output] = numbers;
        [name, calls.to_string(), input, cached, output, cost(row)]
    })
    .await
}

/// Cost of a row; a part that is not known is named.
fn cost(row: &ModelUsage) -> String {
    let known = row.cost.iter().map(|Money { amount, currency }| format!("{amount} {currency}"));
    let unknown = (row.unpriced_calls > 0).then(|| match row.unpriced_calls {
        calls if calls == row.calls => "price not known".to_owned(),
        calls => format!("price of {} not known", print::count(usize::try_from(calls).unwrap_or(usize::MAX), "call")),
    });
    known.chain(unknown).collect::<Vec<_>>().join(" + ")
}

// --- caps ---

#[derive(Debug, Subcommand)]
pub enum CapCommand {
    /// List the caps that apply to you and your workspaces, with what is used of them.
    Ls {
        /// Every cap; for administrators.
        #[arg(long)]
        all: bool,
        /// The answer in JSON.
        #[arg(long)]
        json: bool,
    },
    /// Set a cap, in place of the one of the same spender, period and unit.
    #[command(after_help = "Examples:
  notarium cap set each-person day 5 USD
  notarium cap set ann month 2000000 tokens
  notarium cap set workspace:Lab month 300 USD
  notarium cap set server month 2500 USD")]
    Set {
        /// A login, user:ID, workspace:NAME, each-person, each-workspace or server.
        spender: String,
        /// Period, by the calendar in UTC.
        #[arg(value_enum)]
        period: Period,
        /// Whole tokens, or money such as 5 or 0.50; 0: nothing may be spent.
        amount: String,
        /// `tokens`, or the code of the currency of the prices, such as USD.
        unit: String,
    },
    /// Remove a cap.
    Rm {
        /// Spender, as `cap set` takes it.
        spender: String,
        /// Period.
        #[arg(value_enum)]
        period: Period,
        /// Unit.
        unit: String,
    },
}

/// Period of a cap.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Period {
    Day,
    Month,
}

impl From<Period> for SpendingPeriod {
    fn from(period: Period) -> Self {
        match period {
            Period::Day => Self::Day,
            Period::Month => Self::Month,
        }
    }
}

impl CapCommand {
    pub async fn run(self, context: &CommonOptions) -> Ended {
        let client = context.client()?;
        match self {
            Self::Ls { all, json } => list_caps(&client, all, json).await,
            Self::Set { spender, period, amount, unit } => {
                let CapName { spender, person, workspace, period, unit } =
                    named(&client, &spender, period, unit).await?;
                let new = NewCap { spender, person, workspace, period, unit, amount };
                change(&client, Method::PUT, &new).await?;
                print::noted("the cap is set, from the next model call on")
            }
            Self::Rm { spender, period, unit } => {
                change(&client, Method::DELETE, &named(&client, &spender, period, unit).await?).await?;
                print::noted("the cap is removed")
            }
        }
    }
}

async fn change(client: &RestClient, method: Method, body: &impl Serialize) -> Ended {
    client.send(client.request(method, "/api/caps").json(body)).await.map(drop)
}

async fn named(client: &RestClient, spender: &str, period: Period, unit: String) -> Result<CapName, Failure> {
    let (spender, person, workspace) = match spender {
        "server" => (SpenderKind::Server, None, None),
        "each-person" => (SpenderKind::EachPerson, None, None),
        "each-workspace" => (SpenderKind::EachWorkspace, None, None),
        name => match subject(client, name).await? {
            Subject::User { id } => (SpenderKind::Person, Some(id), None),
            Subject::Workspace { id } => (SpenderKind::Workspace, None, Some(id)),
            _ => return Err(Failure::usage("a cap is for a person, a workspace, each of them, or the server")),
        },
    };
    Ok(CapName { spender, person, workspace, period: period.into(), unit })
}

async fn list_caps(client: &RestClient, all: bool, as_json: bool) -> Ended {
    let path = if all { "/api/caps?all=true" } else { "/api/caps" };
    let CapsAnswer { caps } = client.get(path).await?;
    let mut people = People::new(client);
    let headings = ["who", "period", "cap", "used", "under way", "until", "set by"];
    print::list(&caps, as_json, "there is no cap", headings, async |cap| {
        let who = match (&cap.person, &cap.workspace) {
            (Some(id), _) => people.name(&Actor::User { id: id.clone() }).await,
            (None, Some(id)) => people.subject(&Subject::Workspace { id: id.clone() }).await,
            (None, None) => word(&cap.spender).replace('_', "-"),
        };
        let amount =
            |amount: &Option<String>| amount.as_ref().map_or_else(String::new, |amount| with_unit(cap, amount));
        let used = if cap.is_reached { format!("{}, reached", amount(&cap.used)) } else { amount(&cap.used) };
        let author = match (cap.is_fixed, cap.by_owner) {
            (true, _) => "option",
            (_, true) => "owner",
            _ => "administrator",
        };
        [
            who,
            word(&cap.period),
            with_unit(cap, &cap.amount),
            used,
            amount(&cap.reserved),
            print::time(cap.ends_at),
            author.to_owned(),
        ]
    })
    .await
}

fn with_unit(cap: &CapStatus, amount: &str) -> String {
    format!("{amount} {}", cap.unit)
}
