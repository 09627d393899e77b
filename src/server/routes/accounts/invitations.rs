//! Route that invites the people of a list in CSV.

use axum::Json;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{StatusCode, header};
use notarium_wire::rest::{ExistingPerson, InvitedPeople, InvitedPerson};

use super::{AccountCaller, AccountRoutes};
use crate::auth::{InvitationError, Invited, InvitedList};
use crate::http::extract::{BytesBody, too_large};
use crate::http::guard::{Guard, GuardedRouter, route_table};
use crate::http::openapi::{Described, Taken};
use crate::http::problem::Problem;
use crate::routes::accounts;

/// Limit of a list.
const MAX_LIST_BYTES: usize = 256 * 1024;
/// Wrong lines that an answer names.
const MAX_WRONG_LINES: usize = 20;
const CSV: &str = "text/csv";

pub fn routes(router: GuardedRouter<AccountRoutes>) -> GuardedRouter<AccountRoutes> {
    route_table!(router; "accounts" "/api/users" {
        /// New accounts from a list, all or none, each with an invitation.
        ///
        /// The list is CSV in UTF-8, with at most 1,000 people and 256 KiB. Its first line names the columns in any order: `login`
        /// (required), `name`, `email`, `workspaces` (names or ids, divided by `;`, each with `:` and a role if it is not editor) and
        /// `admin` (`yes`, `no` or empty). Lines whose login has an account change nothing, so a list can be sent again. If a line is
        /// wrong, nobody is invited, and the problem `wrong_list` has the `lines`.
        POST "/invited", Guard::Admin => invite;
    })
}

/// Body of a list.
struct ListBody(Bytes);

impl<S: Send + Sync> FromRequest<S> for ListBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind =
            request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(CSV) {
            let detail = "the list must be sent as text/csv";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail));
        }
        let BytesBody(bytes) = BytesBody::from_request(request, state).await?;
        if bytes.len() > MAX_LIST_BYTES {
            return Err(too_large(format!("a list has at most {} KiB: send it in parts", MAX_LIST_BYTES / 1024)));
        }
        Ok(Self(bytes))
    }
}

impl Taken for ListBody {
    fn describe(described: &mut Described<'_>) {
        described.takes_bytes(CSV);
    }
}

async fn invite(
    AccountCaller { shared, who }: AccountCaller,
    ListBody(list): ListBody,
) -> Result<Json<InvitedPeople>, Problem> {
    let InvitedList { invited, existing } = shared.accounts.invite_all(&who, &list).await?;
    Ok(Json(InvitedPeople {
        invited: invited.into_iter().map(|invited| shown(&shared, invited)).collect(),
        existing: existing
            .into_iter()
            .map(|person| ExistingPerson { line: person.line, login: person.login })
            .collect(),
    }))
}

fn shown(shared: &AccountRoutes, Invited { person, user, invitation }: Invited) -> InvitedPerson {
    let one_time = shared.one_time(&invitation);
    InvitedPerson {
        line: person.line,
        user: accounts::user(user),
        email: person.email,
        token: one_time.token,
        url: one_time.url,
        expires_at: one_time.expires_at,
    }
}

impl From<InvitationError> for Problem {
    fn from(error: InvitationError) -> Self {
        match error {
            InvitationError::Wrong(mut lines) => {
                let count = lines.len();
                lines.truncate(MAX_WRONG_LINES);
                Self::wrong_list(lines, count)
            }
            InvitationError::Auth(error) => error.into(),
        }
    }
}
