//! The queries of notices, the same for every database but for its clock.

use async_trait::async_trait;
use notarium_record::{Millis, NotebookId, UserId, Version};

use super::notices::*;
use super::rows;
use super::tables::{AccountTables, Read, RowColumns, TableStatement};
use crate::StoreError;
use crate::event_store::page;

/// Deliveries that belong to nobody now; `{now}` is the store's clock.
const IS_FREE: &str = "ended_at IS NULL AND (claimed_until IS NULL OR claimed_until < {now})";

fn free<S: AccountTables>() -> String {
    IS_FREE.replace("{now}", S::NOW)
}

async fn many<S: AccountTables, T>(
    store: &S,
    statement: TableStatement,
    read: fn(&dyn RowColumns) -> Read<T>,
) -> Result<Vec<T>, StoreError> {
    let rows = store.rows(statement).await?;
    rows.iter().map(|row| read(row)).collect::<Read<Vec<T>>>().map_err(|error| store.unreadable(error))
}

async fn one<S: AccountTables, T>(
    store: &S,
    statement: TableStatement,
    read: fn(&dyn RowColumns) -> Read<T>,
) -> Result<Option<T>, StoreError> {
    Ok(many(store, statement, read).await?.into_iter().next())
}

/// Moves the position of a notebook; changes no row if it is neither at `after` nor, by an attempt whose answer was lost, at `to`.
fn advance(progress: &NoticeProgress) -> TableStatement {
    let sql = "INSERT INTO notice_positions (notebook, version) VALUES ($1, $2) \
               ON CONFLICT (notebook) DO UPDATE SET version = EXCLUDED.version WHERE notice_positions.version IN ($2, $3)";
    TableStatement::new(sql).bind(progress.notebook.as_str()).bind(progress.to).bind(progress.after)
}

fn settle(notebook: &NotebookId, (subject, at): &(String, Millis)) -> TableStatement {
    let sql = "UPDATE notices SET settled_at = $1, read_at = coalesce(read_at, $1) \
               WHERE notebook = $2 AND subject = $3 AND settled_at IS NULL";
    TableStatement::new(sql).bind(*at).bind(notebook.as_str()).bind(subject)
}

fn insert(notice: &StoredNotice) -> TableStatement {
    let sql = "INSERT INTO notices (user_id, id, notebook, version, subject, kind, at, in_inbox, read_at, settled_at) \
               SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 \
               WHERE EXISTS (SELECT 1 FROM users WHERE id = $1 AND deactivated_at IS NULL) ON CONFLICT (user_id, id) DO NOTHING";
    let (notebook, version) = notice.place.as_ref().map(|(notebook, version)| (notebook.as_str(), *version)).unzip();
    let statement = TableStatement::new(sql).bind(notice.user.as_str()).bind(&notice.id).bind(notebook).bind(version);
    let statement = statement.bind(&notice.subject).bind(&notice.kind).bind(notice.at).bind(notice.in_inbox);
    statement.bind(notice.read_at).bind(notice.settled_at)
}

fn insert_delivery(new: &NewNotice, channel: &str, due_at: Millis) -> TableStatement {
    let sql = "INSERT INTO notice_deliveries (user_id, notice_id, channel, created_at, due_at, attempts) \
               SELECT $1, $2, $3, $4, $5, 0 WHERE EXISTS (SELECT 1 FROM notices WHERE user_id = $1 AND id = $2) \
               ON CONFLICT (user_id, notice_id, channel) DO NOTHING";
    let statement = TableStatement::new(sql).bind(new.notice.user.as_str()).bind(&new.notice.id).bind(channel);
    statement.bind(new.created_at).bind(due_at)
}

/// Deletes the oldest notices above the limit, unread ones last, and none that is still to be sent. Those outside the inbox count apart: unread
/// ones in it do not push them out.
fn trim(user: &UserId) -> [TableStatement; 2] {
    let of_inbox = "DELETE FROM notices WHERE user_id = $1 AND id IN (SELECT id FROM notices WHERE user_id = $1 AND in_inbox \
                    ORDER BY (read_at IS NULL) DESC, at DESC, id DESC LIMIT 1000 OFFSET $2) AND NOT EXISTS \
                    (SELECT 1 FROM notice_deliveries d WHERE d.user_id = $1 AND d.notice_id = notices.id AND d.ended_at IS NULL)";
    let others = "DELETE FROM notices WHERE user_id = $1 AND id IN (SELECT id FROM notices WHERE user_id = $1 AND NOT in_inbox \
                  ORDER BY at DESC, id DESC LIMIT 1000 OFFSET $2) AND NOT EXISTS \
                  (SELECT 1 FROM notice_deliveries d WHERE d.user_id = $1 AND d.notice_id = notices.id AND d.ended_at IS NULL)";
    [of_inbox, others].map(|sql| TableStatement::new(sql).bind(user.as_str()).bind(MAX_NOTICES))
}

/// Ends an attempt of a claimed delivery.
fn end(delivery: &NoticeDelivery, claim: &str, result: &AttemptResult) -> TableStatement {
    let statement = match result {
        AttemptResult::Ended { outcome, at, problem } => {
            let sql = "UPDATE notice_deliveries SET ended_at = $1, outcome = $2, problem = $3, claimed_until = NULL \
                       WHERE user_id = $4 AND notice_id = $5 AND channel = $6 AND claimed_by = $7";
            TableStatement::new(sql).bind(*at).bind(outcome.as_str()).bind(problem)
        }
        AttemptResult::Retry { due_at, problem } => {
            let sql = "UPDATE notice_deliveries SET due_at = $1, outcome = $2, problem = $3, claimed_until = NULL \
                       WHERE user_id = $4 AND notice_id = $5 AND channel = $6 AND claimed_by = $7";
            TableStatement::new(sql).bind(*due_at).bind(None::<&str>).bind(problem)
        }
    };
    statement.bind(delivery.user.as_str()).bind(&delivery.notice_id).bind(&delivery.channel).bind(claim)
}

/// Moves what else is due to a webhook that has failed: it is not tried once for each notice.
fn put_off(delivery: &NoticeDelivery, due_at: Millis) -> TableStatement {
    let sql = "UPDATE notice_deliveries SET due_at = $1 WHERE user_id = $2 AND channel = $3 AND ended_at IS NULL AND due_at < $1";
    TableStatement::new(sql).bind(due_at).bind(delivery.user.as_str()).bind(&delivery.channel)
}

#[async_trait]
impl<S: AccountTables> NoticeStore for S {
    async fn put_notices(&self, notices: &[NewNotice], progress: Option<&NoticeProgress>) -> Result<bool, StoreError> {
        let mut statements: Vec<TableStatement> = progress.map(advance).into_iter().collect();
        for new in notices {
            statements.push(insert(&new.notice));
            statements.extend(new.channels.iter().map(|(channel, due_at)| insert_delivery(new, channel, *due_at)));
        }
        let mut users: Vec<&UserId> = notices.iter().map(|new| &new.notice.user).collect();
        users.sort_unstable();
        users.dedup();
        statements.extend(users.into_iter().flat_map(trim));
        if let Some(progress) = progress {
            statements.extend(progress.settled.iter().map(|settled| settle(&progress.notebook, settled)));
        }
        self.transact(statements, progress.is_some()).await
    }

    async fn notice_position(&self, notebook: &NotebookId) -> Result<Version, StoreError> {
        let statement = TableStatement::new("SELECT version FROM notice_positions WHERE notebook = $1");
        let found = one(self, statement.bind(notebook.as_str()), |row| row.number("version")).await?;
        Ok(found.unwrap_or_default())
    }

    async fn open_notices_of(&self, notebook: &NotebookId, subject: &str) -> Result<Vec<UserId>, StoreError> {
        let sql = "SELECT user_id FROM notices WHERE notebook = $1 AND subject = $2 AND settled_at IS NULL ORDER BY user_id LIMIT 1000";
        many(self, TableStatement::new(sql).bind(notebook.as_str()).bind(subject), rows::user_id).await
    }

    async fn notice_lag(&self, after: Option<&NotebookId>, limit: usize) -> Result<Vec<NotebookId>, StoreError> {
        let statement = TableStatement::new(S::NOTICE_LAG).bind(after.map_or("", NotebookId::as_str));
        many(self, statement.bind(page(limit)), rows::notebook_id).await
    }

    async fn notices(&self, user: &UserId, query: &NoticeQuery) -> Result<Vec<StoredNotice>, StoreError> {
        let sql = "SELECT * FROM notices WHERE user_id = $1 AND in_inbox AND (NOT $2 OR read_at IS NULL) \
                   AND ($3 IS NULL OR at < $3 OR (at = $3 AND id < $4)) ORDER BY at DESC, id DESC LIMIT $5";
        let before = query.before.as_ref();
        let statement = TableStatement::new(sql).bind(user.as_str()).bind(query.only_unread);
        let statement = statement.bind(before.map(|(at, _)| *at)).bind(before.map_or("", |(_, id)| id.as_str()));
        many(self, statement.bind(page(query.limit)), rows::notice).await
    }

    async fn notice(&self, user: &UserId, id: &str) -> Result<Option<StoredNotice>, StoreError> {
        let statement = TableStatement::new("SELECT * FROM notices WHERE user_id = $1 AND id = $2");
        one(self, statement.bind(user.as_str()).bind(id), rows::notice).await
    }

    async fn unread_notices(&self, user: &UserId) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) AS number FROM notices WHERE user_id = $1 AND in_inbox AND read_at IS NULL";
        let found = one(self, TableStatement::new(sql).bind(user.as_str()), |row| row.number("number")).await?;
        Ok(found.unwrap_or_default())
    }

    async fn mark_notices(&self, user: &UserId, ids: &[String], at: Option<Millis>) -> Result<(), StoreError> {
        let mark = |id: &String| {
            let sql = "UPDATE notices SET read_at = $1 WHERE user_id = $2 AND id = $3";
            TableStatement::new(sql).bind(at).bind(user.as_str()).bind(id)
        };
        self.transact(ids.iter().map(mark).collect(), false).await.map(drop)
    }

    async fn mark_all_notices(&self, user: &UserId, until: Millis, at: Millis) -> Result<(), StoreError> {
        let sql = "UPDATE notices SET read_at = $1 WHERE user_id = $2 AND at <= $3 AND read_at IS NULL";
        self.run(TableStatement::new(sql).bind(at).bind(user.as_str()).bind(until)).await.map(drop)
    }

    async fn notice_choices(&self, user: &UserId) -> Result<Vec<NoticeChoice>, StoreError> {
        let statement =
            TableStatement::new("SELECT * FROM notice_choices WHERE user_id = $1 ORDER BY topic, channel LIMIT 1000");
        many(self, statement.bind(user.as_str()), rows::notice_choice).await
    }

    async fn notice_person(&self, user: &UserId) -> Result<NoticePerson, StoreError> {
        let statement = TableStatement::new("SELECT * FROM notice_people WHERE user_id = $1").bind(user.as_str());
        Ok(one(self, statement, rows::notice_person).await?.unwrap_or_default())
    }

    async fn count_code(&self, user: &UserId, max_attempts: u64) -> Result<bool, StoreError> {
        let sql = "UPDATE notice_people SET code_attempts = code_attempts + 1 \
                   WHERE user_id = $1 AND new_address IS NOT NULL AND code_attempts < $2";
        Ok(self.run(TableStatement::new(sql).bind(user.as_str()).bind(max_attempts)).await? > 0)
    }

    async fn webhooks(&self, user: &UserId) -> Result<Vec<StoredWebhook>, StoreError> {
        let statement =
            TableStatement::new("SELECT * FROM webhooks WHERE user_id = $1 ORDER BY created_at, id LIMIT 1000");
        many(self, statement.bind(user.as_str()), rows::webhook).await
    }

    async fn webhook(&self, id: &str) -> Result<Option<StoredWebhook>, StoreError> {
        one(self, TableStatement::new("SELECT * FROM webhooks WHERE id = $1").bind(id), rows::webhook).await
    }

    async fn webhook_tried(&self, id: &str, at: Millis, problem: Option<&str>) -> Result<(), StoreError> {
        let statement = TableStatement::new("UPDATE webhooks SET tried_at = $1, problem = $2 WHERE id = $3");
        self.run(statement.bind(at).bind(problem).bind(id)).await.map(drop)
    }

    async fn due_deliveries(
        &self,
        now: Millis,
        but_to: &[String],
        limit: usize,
    ) -> Result<Vec<NoticeDelivery>, StoreError> {
        let left_out: String = (0..but_to.len()).map(|index| format!(", ${}", index + 4)).collect();
        let sql = format!(
            "SELECT * FROM notice_deliveries WHERE due_at <= $1 AND channel NOT IN ($2{left_out}) AND {} ORDER BY due_at LIMIT $3",
            free::<S>()
        );
        let statement = TableStatement::new(sql).bind(now).bind(MAIL_CHANNEL).bind(page(limit));
        let statement = but_to.iter().fold(statement, TableStatement::bind);
        many(self, statement, rows::delivery).await
    }

    async fn claim_delivery(&self, delivery: &NoticeDelivery, claim: &str, for_ms: Millis) -> Result<bool, StoreError> {
        let sql = format!(
            "UPDATE notice_deliveries SET claimed_by = $1, claimed_until = {} + $2, attempts = attempts + 1 \
             WHERE user_id = $3 AND notice_id = $4 AND channel = $5 AND ended_at IS NULL AND (claimed_by = $1 OR {})",
            S::NOW,
            free::<S>()
        );
        let statement = TableStatement::new(sql).bind(claim).bind(for_ms).bind(delivery.user.as_str());
        Ok(self.run(statement.bind(&delivery.notice_id).bind(&delivery.channel)).await? > 0)
    }

    async fn end_attempt(
        &self,
        delivery: &NoticeDelivery,
        claim: &str,
        result: &AttemptResult,
    ) -> Result<bool, StoreError> {
        let mut statements = vec![end(delivery, claim, result)];
        if let AttemptResult::Retry { due_at, .. } = result {
            statements.push(put_off(delivery, *due_at));
        }
        self.transact(statements, true).await
    }

    async fn free_claims(&self) -> Result<(), StoreError> {
        let sql =
            "UPDATE notice_deliveries SET claimed_until = NULL WHERE ended_at IS NULL AND claimed_until IS NOT NULL";
        self.run(TableStatement::new(sql)).await.map(drop)
    }

    async fn next_delivery(&self) -> Result<Option<Millis>, StoreError> {
        let sql = "SELECT min(CASE WHEN claimed_until > due_at THEN claimed_until ELSE due_at END) AS due_at \
                   FROM notice_deliveries WHERE ended_at IS NULL";
        Ok(one(self, TableStatement::new(sql), |row| row.optional_number("due_at")).await?.flatten())
    }

    async fn due_mails(&self, pace: MailPace, limit: usize) -> Result<Vec<UserId>, StoreError> {
        let sql = format!(
            "SELECT DISTINCT d.user_id FROM notice_deliveries d JOIN notice_people p ON p.user_id = d.user_id \
             WHERE d.due_at <= $1 AND d.channel = $2 AND p.address IS NOT NULL AND p.mailed_at <= $3 AND {} \
             ORDER BY d.user_id LIMIT $4",
            free::<S>()
        );
        let statement = TableStatement::new(sql).bind(pace.now).bind(MAIL_CHANNEL);
        many(self, statement.bind(pace.now.saturating_sub(pace.interval)).bind(page(limit)), rows::user_id).await
    }

    async fn claim_mail(
        &self,
        user: &UserId,
        pace: MailPace,
        claim: &str,
        for_ms: Millis,
    ) -> Result<Option<ClaimedMail>, StoreError> {
        let sql = "SELECT batch FROM notice_deliveries WHERE user_id = $1 AND channel = $2 AND ended_at IS NULL \
                   AND batch IS NOT NULL ORDER BY due_at LIMIT 1";
        let statement = TableStatement::new(sql).bind(user.as_str()).bind(MAIL_CHANNEL);
        let begun = one(self, statement, |row| row.text("batch")).await?;
        let sql = "UPDATE notice_people SET mailed_at = $1 WHERE user_id = $2 AND (mailed_at <= $3 OR mailed_at = $1)";
        let turn = TableStatement::new(sql).bind(pace.now).bind(user.as_str());
        let turn = turn.bind(pace.now.saturating_sub(pace.interval));
        let wanted = if begun.is_some() { "batch = $3" } else { "batch IS NULL" };
        let sql = format!(
            "UPDATE notice_deliveries SET claimed_by = $1, claimed_until = {} + $2, attempts = attempts + 1, batch = $3 \
             WHERE user_id = $4 AND channel = $5 AND {wanted} AND {}",
            S::NOW,
            free::<S>()
        );
        let batch = begun.unwrap_or_else(|| claim.to_owned());
        let rows = TableStatement::new(sql).bind(claim).bind(for_ms).bind(&batch);
        let rows = rows.bind(user.as_str()).bind(MAIL_CHANNEL);
        if !self.transact(vec![turn, rows], true).await? {
            return Ok(None);
        }
        let sql = "SELECT * FROM notice_deliveries WHERE user_id = $1 AND channel = $2 AND claimed_by = $3 AND ended_at IS NULL \
                   ORDER BY created_at, notice_id";
        let statement = TableStatement::new(sql).bind(user.as_str()).bind(MAIL_CHANNEL).bind(claim);
        let deliveries = many(self, statement, rows::delivery).await?;
        Ok((!deliveries.is_empty()).then_some(ClaimedMail { batch, deliveries }))
    }

    async fn forget_deliveries(&self, before: Millis) -> Result<u64, StoreError> {
        let gone =
            self.run(TableStatement::new("DELETE FROM notice_deliveries WHERE ended_at < $1").bind(before)).await?;
        let sql = "DELETE FROM notices WHERE NOT in_inbox AND at < $1 AND NOT EXISTS (SELECT 1 FROM notice_deliveries d \
                   WHERE d.user_id = notices.user_id AND d.notice_id = notices.id)";
        Ok(gone + self.run(TableStatement::new(sql).bind(before)).await?)
    }

    async fn failed_deliveries(&self, user: &UserId, limit: usize) -> Result<Vec<FailedDelivery>, StoreError> {
        let sql = "SELECT * FROM notice_deliveries WHERE user_id = $1 AND outcome = 'given_up' ORDER BY ended_at DESC LIMIT $2";
        many(self, TableStatement::new(sql).bind(user.as_str()).bind(page(limit)), rows::failed_delivery).await
    }
}
