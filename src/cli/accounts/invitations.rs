//! Invites the people of a list in CSV.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use csv::WriterBuilder;
use notarium_wire::rest::{InvitedPeople, InvitedPerson};
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;

use crate::cli::connection::client::RestClient;
use crate::cli::terminal::print;
use crate::cli::{Ended, Failure};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium user invite class.csv
  notarium user invite class.csv --csv > tokens.csv     # login, name, email, token and url, to send them with
  notarium user invite - < class.csv

class.csv:
  login,name,email,workspaces,admin
  ann,Ann Miller,ann@example.org,Lab;Class:viewer,no
  bob,,,,")]
pub struct InviteArgs {
    /// CSV in UTF-8 with the columns login (required), name, email, workspaces (divided by `;`; `:viewer` and the like for another role than
    /// editor) and admin (yes or no); `-`: standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The tokens as CSV.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

pub async fn invite(args: InviteArgs, client: &RestClient) -> Ended {
    let list = read(&args.file)?;
    let request = client.request(Method::POST, "/api/users/invited").header(CONTENT_TYPE, "text/csv").body(list);
    let people: InvitedPeople = client.json(request).await?;
    if args.json {
        return print::json(&people);
    }
    if !people.existing.is_empty() {
        let logins: Vec<&str> = people.existing.iter().map(|person| person.login.as_str()).collect();
        let count = print::count(logins.len(), "account");
        print::note(format!("{count} existed already and stayed as before: {}", print::clean(&logins.join(", "))));
    }
    match (people.invited.is_empty(), args.csv) {
        (true, false) => print::noted("nobody was invited"),
        (_, true) => print::raw(&csv(&people.invited)?),
        (false, false) => {
            let server = client.server();
            print::note(format!(
                "{} created; the tokens are shown once. Send each to its person, who opens the address, or runs \
                 `notarium login --server {server} --one-time` and enters the token:",
                print::count(people.invited.len(), "account")
            ));
            print::columns(&rows(&people.invited)).into_iter().try_for_each(print::line)
        }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let mut list = Vec::new();
    let read = match file == Path::new("-") {
        true => std::io::stdin().lock().read_to_end(&mut list).map(drop),
        false => std::fs::read(file).map(|bytes| list = bytes),
    };
    read.map_err(|error| Failure::unreadable(file, &error))?;
    Ok(list)
}

/// Tokens are not shortened, as cells of other tables are.
fn rows(invited: &[InvitedPerson]) -> Vec<[String; 3]> {
    let row = |person: &InvitedPerson| {
        let login = person.user.login.as_deref().unwrap_or_default();
        let opened = person.url.as_ref().unwrap_or(&person.token);
        [print::clean(login), print::clean(person.email.as_deref().unwrap_or("–")), print::clean(opened)]
    };
    invited.iter().map(row).collect()
}

fn csv(invited: &[InvitedPerson]) -> Result<String, Failure> {
    let failed = |error: String| Failure::failed(format!("the tokens cannot be written as CSV: {error}"));
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    writer.write_record(["login", "name", "email", "token", "url"]).map_err(|error| failed(error.to_string()))?;
    for InvitedPerson { user, email, token, url, .. } in invited {
        let [login, email, url] = [&user.login, email, url].map(|text| text.as_deref().unwrap_or_default());
        let record = [&*inert(login), &*inert(&user.name), &*inert(email), token, url];
        writer.write_record(record).map_err(|error| failed(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| failed(error.to_string()))
}

/// A name that begins like a formula, with the apostrophe by which a spreadsheet takes it as text.
fn inert(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}
