//! The inbox of a person: pages with sentences and addresses, marks, and the stream of news.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream;
use notarium_core::{NotebookId, UserId};
use notarium_store::StoreError;
use notarium_store::accounts::{NoticeQuery, StoredNotice};
use notarium_wire::rest::{
    InboxNotice, MarkNotices, NoticeChannel, NoticeKind, NoticeNews, NoticePage, NoticePlace, NoticesQuery,
};
use tokio::sync::broadcast;

use super::outbox::kind_of;
use super::{NoticeNewsFor, Notices};
use crate::auth::{Authenticated, FollowedToken};
use crate::notebooks::listing::{sees, subjects_of};

/// Notices on one page.
const PAGE: usize = 30;
const MAX_PAGE: usize = 200;
/// Notices that one request marks.
const MAX_MARKED: usize = 100;
/// Interval at which a stream looks by itself: another node may not have told this one.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Reason why a request about the inbox is refused.
#[derive(Debug, thiserror::Error)]
pub enum InboxError {
    #[error("{0}")]
    Invalid(&'static str),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Notices {
    /// A page of the caller's inbox.
    pub async fn page(
        &self,
        who: &Authenticated,
        user: &UserId,
        query: NoticesQuery,
    ) -> Result<NoticePage, InboxError> {
        let limit = query.limit.unwrap_or(PAGE);
        if !(1..=MAX_PAGE).contains(&limit) {
            return Err(InboxError::Invalid("limit is 1 to 200"));
        }
        let before = match query.before.as_deref().map(cursor) {
            Some(None) => return Err(InboxError::Invalid("before is the `next` of the page before, as it came")),
            Some(before) => before,
            None => None,
        };
        // One more tells if there is a next page.
        let query = NoticeQuery { before, only_unread: query.unread, limit: limit + 1 };
        let mut stored = self.store.notices(user, &query).await?;
        let has_more = stored.len() > limit;
        stored.truncate(limit);
        let next = stored.last().filter(|_| has_more).map(|last| format!("{}-{}", last.at, last.id));
        let unread = self.store.unread_notices(user).await?;
        Ok(NoticePage { notices: self.all_shown(who, &stored).await?, unread, next })
    }

    async fn all_shown(&self, who: &Authenticated, stored: &[StoredNotice]) -> Result<Vec<InboxNotice>, StoreError> {
        let titles = self.titles(who, stored).await?;
        let mut shown = Vec::with_capacity(stored.len());
        for notice in stored {
            let title = notice.place.as_ref().and_then(|(notebook, _)| titles.get(notebook).cloned());
            shown.extend(self.shown(notice, title).await);
        }
        Ok(shown)
    }

    /// Titles of the notebooks that the caller may see.
    async fn titles(
        &self,
        who: &Authenticated,
        stored: &[StoredNotice],
    ) -> Result<BTreeMap<NotebookId, String>, StoreError> {
        let wanted: BTreeSet<NotebookId> =
            stored.iter().filter_map(|notice| notice.place.as_ref()).map(|(notebook, _)| notebook.clone()).collect();
        let wanted: Vec<NotebookId> = wanted.into_iter().collect();
        let subjects = subjects_of(who);
        let entries = self.notebooks.store.catalog_entries(&wanted).await?;
        let mut titles: BTreeMap<NotebookId, String> = entries
            .iter()
            .filter(|entry| sees(who, &subjects, entry))
            .map(|entry| (entry.notebook_id.clone(), entry.title.clone()))
            .collect();
        for notebook in wanted {
            // A notebook that was just made is not in the list yet.
            if !entries.iter().any(|entry| entry.notebook_id == notebook)
                && let Ok(state) = self.notebooks.read(who, &notebook).await
            {
                titles.insert(notebook, state.notebook.title.clone());
            }
        }
        Ok(titles)
    }

    /// The notice as its reader sees it. `title`: that of its notebook, if the reader may read it. `None`: this build does not know its
    /// kind.
    pub(super) async fn shown(&self, stored: &StoredNotice, title: Option<String>) -> Option<InboxNotice> {
        let about = kind_of(stored)?;
        let text = self.sentence(&about, title.as_deref(), &stored.user).await;
        let place = title.zip(stored.place.as_ref());
        let notebook = place.map(|(title, (id, version))| NoticePlace { id: id.clone(), title, version: *version });
        let link = notebook.as_ref().map(|place| link(&place.id, &about));
        let (is_read, is_settled) = (stored.read_at.is_some(), stored.settled_at.is_some());
        Some(InboxNotice { id: stored.id.clone(), at: stored.at, about, text, notebook, link, is_read, is_settled })
    }

    /// Marks notices as read or unread.
    pub async fn mark(&self, user: &UserId, marks: MarkNotices) -> Result<(), InboxError> {
        let now = self.notebooks.clock.now();
        match (marks.ids, marks.until, marks.read.unwrap_or(true)) {
            (Some(ids), None, _) if ids.len() > MAX_MARKED => {
                return Err(InboxError::Invalid("ids are at most 100: send several requests"));
            }
            (Some(ids), None, is_read) => self.store.mark_notices(user, &ids, is_read.then_some(now)).await?,
            (None, Some(until), true) => self.store.mark_all_notices(user, until, now).await?,
            _ => return Err(InboxError::Invalid("send ids, or until alone")),
        }
        self.publish(vec![NoticeNewsFor { user: user.clone(), notice: None }]);
        Ok(())
    }

    /// News of the caller's notices, while the token is valid: first the number of unread ones, then each change.
    pub fn stream(
        self: Arc<Self>,
        followed: FollowedToken,
        who: Authenticated,
        user: UserId,
    ) -> impl Stream<Item = NoticeNews> + Send + 'static {
        let stream = NewsStream { news: self.news.subscribe(), notices: self, followed, who, user, last: None };
        stream::unfold(stream, |mut stream| async move {
            let news = stream.next().await?;
            Some((news, stream))
        })
    }
}

/// One open stream.
struct NewsStream {
    notices: Arc<Notices>,
    news: broadcast::Receiver<NoticeNewsFor>,
    followed: FollowedToken,
    who: Authenticated,
    user: UserId,
    /// Number of unread notices that was sent last.
    last: Option<u64>,
}

impl NewsStream {
    /// Next news; `None`: the token has ended, or the server stops.
    async fn next(&mut self) -> Option<NoticeNews> {
        loop {
            let is_first = self.last.is_none();
            let notice = match is_first {
                true => None,
                false => self.heard().await?,
            };
            // On an error the next look tells.
            let Ok(news) = self.news_of(notice).await else {
                self.last.get_or_insert(0);
                continue;
            };
            if is_first || news.notice.is_some() || self.last != Some(news.unread) {
                self.last = Some(news.unread);
                return Some(news);
            }
        }
    }

    /// Waits for news of this person; the id of a new notice, if there is one.
    async fn heard(&mut self) -> Option<Option<String>> {
        let stopping = self.notices.notebooks.stopping.clone();
        let pause = tokio::time::sleep(LOOK_EVERY);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = stopping.cancelled() => return None,
                () = &mut pause => return Some(None),
                changed = self.followed.changed() => self.who = changed.ok()?,
                news = self.news.recv() => match news {
                    Ok(news) if news.user == self.user => return Some(news.notice),
                    Ok(_) => {}
                    Err(broadcast::error::RecvError::Lagged(_)) => return Some(None),
                    Err(broadcast::error::RecvError::Closed) => return None,
                },
            }
        }
    }

    async fn news_of(&self, id: Option<String>) -> Result<NoticeNews, StoreError> {
        let unread = self.notices.store.unread_notices(&self.user).await?;
        let Some(id) = id else { return Ok(NoticeNews { unread, notice: None, notify: false }) };
        let Some(stored) = self.notices.store.notice(&self.user, &id).await? else {
            return Ok(NoticeNews { unread, notice: None, notify: false });
        };
        let choices = self.notices.choices_of(&self.user).await?;
        let topic = kind_of(&stored).as_ref().map(NoticeKind::topic);
        let notify = topic.is_some_and(|topic| choices.wants(topic, NoticeChannel::Browser));
        let is_shown = stored.in_inbox || notify;
        let shown = self.notices.all_shown(&self.who, std::slice::from_ref(&stored)).await?.pop();
        Ok(NoticeNews { unread, notice: shown.filter(|_| is_shown), notify })
    }
}

/// Time and id of a cursor.
fn cursor(text: &str) -> Option<(u64, String)> {
    let (at, id) = text.split_once('-')?;
    Some((at.parse().ok()?, id.to_owned()))
}

/// Address on the page.
fn link(notebook: &NotebookId, about: &NoticeKind) -> String {
    match about {
        NoticeKind::CallWaits { .. } | NoticeKind::Mentioned { conversation: Some(_), .. } => {
            format!("/#/n/{notebook}?assistant")
        }
        NoticeKind::Mentioned { cell: Some(cell), .. } => format!("/#/n/{notebook}/{cell}"),
        NoticeKind::RunEnded { execution, cell: Some(cell), .. }
        | NoticeKind::RunFailed { execution, cell: Some(cell), .. } => {
            format!("/#/n/{notebook}/{cell}?run={execution}")
        }
        _ => format!("/#/n/{notebook}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_to_the_place() {
        let notebook: NotebookId = "nb".parse().unwrap();
        let run =
            NoticeKind::RunEnded { execution: "e".parse().unwrap(), cell: Some("c".parse().unwrap()), seconds: 1 };
        assert_eq!(link(&notebook, &run), "/#/n/nb/c?run=e");
        let call = NoticeKind::CallWaits {
            call: "call".parse().unwrap(),
            function: "delete_cell".to_owned(),
            for_user: None,
            expires_at: None,
        };
        assert_eq!(link(&notebook, &call), "/#/n/nb?assistant");
    }

    #[test]
    fn a_cursor_has_a_time_and_an_id() {
        assert_eq!(cursor("12-ab"), Some((12, "ab".to_owned())));
        assert_eq!(cursor("ab"), None);
        assert_eq!(cursor("x-ab"), None);
    }
}
