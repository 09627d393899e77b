//! Changes of a person's choices about notices, as statements of the transaction that also writes the audit.

use notarium_record::{Millis, UserId};

use super::changes::{Changed, change_one, run};
use super::rows::json;
use super::tables::{TableStatement, Tables};
use super::{AccountChange, MAIL_CHANNEL, NewAddress, NoticeChoice, StoredWebhook};

/// Statements that delete everything about notices of a person; the choices too: nothing is sent after a reactivation.
const FORGET_PERSON: [&str; 5] = [
    "DELETE FROM notice_deliveries WHERE user_id = $1",
    "DELETE FROM notices WHERE user_id = $1",
    "DELETE FROM webhooks WHERE user_id = $1",
    "DELETE FROM notice_choices WHERE user_id = $1",
    "DELETE FROM notice_people WHERE user_id = $1",
];

/// Makes a change of notices. Every other change is made elsewhere, and does nothing here.
pub(super) async fn make(tables: &mut dyn Tables, change: &AccountChange) -> Changed {
    match change {
        AccountChange::SetNoticeChoices { user, choices } => choose(tables, user, choices).await,
        AccountChange::SetLongRun { user, seconds } => set_long_run(tables, user, *seconds).await,
        AccountChange::SetNewAddress { user, new_address } => set_new_address(tables, user, new_address.as_ref()).await,
        AccountChange::SetNoticeAddress { user, address, at } => {
            set_address(tables, user, address.as_deref(), *at).await
        }
        AccountChange::CreateWebhook(webhook) => create_webhook(tables, webhook).await,
        AccountChange::ChangeWebhook(webhook) => change_webhook(tables, webhook).await,
        AccountChange::DeleteWebhook { user, webhook } => delete_webhook(tables, user, webhook).await,
        _ => Ok(()),
    }
}

pub(super) async fn forget_person(tables: &mut dyn Tables, user: &UserId) -> Changed {
    for sql in FORGET_PERSON {
        run(tables, "notice", TableStatement::new(sql).bind(user.as_str())).await?;
    }
    Ok(())
}

pub(super) async fn choose(tables: &mut dyn Tables, user: &UserId, choices: &[NoticeChoice]) -> Changed {
    for NoticeChoice { topic, channel, is_on } in choices {
        let sql = "INSERT INTO notice_choices (user_id, topic, channel, is_on) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (user_id, topic, channel) DO UPDATE SET is_on = EXCLUDED.is_on";
        let statement = TableStatement::new(sql).bind(user.as_str()).bind(topic).bind(channel).bind(*is_on);
        run(tables, "choice", statement).await?;
    }
    Ok(())
}

/// Creates the person's row, unless it is there.
async fn begin(tables: &mut dyn Tables, user: &UserId) -> Changed {
    let sql = "INSERT INTO notice_people (user_id, code_hash, code_attempts, mailed_at) VALUES ($1, $2, 0, 0) \
               ON CONFLICT (user_id) DO NOTHING";
    run(tables, "person", TableStatement::new(sql).bind(user.as_str()).bind(&[][..])).await.map(drop)
}

pub(super) async fn set_long_run(tables: &mut dyn Tables, user: &UserId, seconds: Option<u64>) -> Changed {
    begin(tables, user).await?;
    let statement = TableStatement::new("UPDATE notice_people SET long_run_seconds = $1 WHERE user_id = $2");
    change_one(tables, "person", statement.bind(seconds).bind(user.as_str())).await
}

pub(super) async fn set_new_address(tables: &mut dyn Tables, user: &UserId, new: Option<&NewAddress>) -> Changed {
    begin(tables, user).await?;
    let sql = "UPDATE notice_people SET new_address = $1, code_hash = $2, code_expires_at = $3, code_attempts = $4 WHERE user_id = $5";
    let statement = TableStatement::new(sql).bind(new.map(|new| new.address.as_str()));
    let statement = statement.bind(new.map_or(&[][..], |new| new.code_hash.as_slice()));
    let statement = statement.bind(new.map(|new| new.expires_at)).bind(new.map_or(0, |new| new.attempts));
    change_one(tables, "person", statement.bind(user.as_str())).await
}

pub(super) async fn set_address(tables: &mut dyn Tables, user: &UserId, address: Option<&str>, at: Millis) -> Changed {
    begin(tables, user).await?;
    // The time of the last code stays: who takes the address back may not send the next one at once.
    let sql = "UPDATE notice_people SET address = $1, new_address = NULL, code_hash = $2, \
               code_expires_at = CASE WHEN $1 IS NULL THEN code_expires_at END WHERE user_id = $3";
    let statement = TableStatement::new(sql).bind(address).bind(&[][..]).bind(user.as_str());
    change_one(tables, "person", statement).await?;
    if address.is_some() {
        return Ok(());
    }
    let sql = "UPDATE notice_deliveries SET ended_at = $1, outcome = 'left_out' \
               WHERE user_id = $2 AND channel = $3 AND ended_at IS NULL";
    let statement = TableStatement::new(sql).bind(at).bind(user.as_str()).bind(MAIL_CHANNEL);
    run(tables, "delivery", statement).await.map(drop)
}

pub(super) async fn create_webhook(tables: &mut dyn Tables, webhook: &StoredWebhook) -> Changed {
    let sql = "INSERT INTO webhooks (id, user_id, url, label, secrets, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
    let statement = TableStatement::new(sql).bind(&webhook.id).bind(webhook.user.as_str()).bind(&webhook.url);
    let statement = statement.bind(&webhook.label).bind(json(&webhook.secrets)?).bind(webhook.created_at);
    run(tables, "webhook", statement).await.map(drop)
}

pub(super) async fn change_webhook(tables: &mut dyn Tables, webhook: &StoredWebhook) -> Changed {
    let sql = "UPDATE webhooks SET url = $1, label = $2, secrets = $3 WHERE id = $4 AND user_id = $5";
    let statement = TableStatement::new(sql).bind(&webhook.url).bind(&webhook.label).bind(json(&webhook.secrets)?);
    change_one(tables, "webhook", statement.bind(&webhook.id).bind(webhook.user.as_str())).await
}

pub(super) async fn delete_webhook(tables: &mut dyn Tables, user: &UserId, webhook: &str) -> Changed {
    let statement = TableStatement::new("DELETE FROM webhooks WHERE id = $1 AND user_id = $2");
    change_one(tables, "webhook", statement.bind(webhook).bind(user.as_str())).await?;
    let statement = TableStatement::new("DELETE FROM notice_deliveries WHERE channel = $1 AND user_id = $2");
    run(tables, "delivery", statement.bind(webhook).bind(user.as_str())).await.map(drop)
}
