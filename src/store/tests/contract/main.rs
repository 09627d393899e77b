//! Contract test suite that every backend passes.

mod accounts;
mod author;
mod blobs;
mod catalog;
#[cfg(feature = "postgres")]
mod cold;
mod erasure;
mod events;
mod exactness;
#[cfg(feature = "postgres")]
mod faults;
#[cfg(feature = "postgres")]
#[path = "../support/faulty.rs"]
mod faulty;
mod history;
mod many;
#[path = "../support/memory.rs"]
mod memory;
mod notices;
mod past_lines;
#[cfg(feature = "postgres")]
#[path = "../support/postgres.rs"]
mod postgres;
#[cfg(feature = "postgres")]
mod refusals;
mod snapshots;
mod spending;
#[cfg(feature = "postgres")]
mod takeover;
#[cfg(feature = "postgres")]
mod transfers;
mod workspaces;

use std::sync::Arc;

use notarium_core::{
    Actor, Append, CellId, CommandId, CommandRecord, ContentRemoval, Envelope, EventId, ExecutionStatus, Hash, Head,
    HistoryQuery, InstanceId, NewEvent, NotebookId, Past, RawJson, Salt, Selection, StandIn, Stored, Version,
    verify_chain,
};
use notarium_store::{
    AppendError, BlobRecord, CatalogEntry, CatalogQuery, EventStore, LISTED_TYPES, MAX_HISTORY_EVENTS, NotebookSize,
    PastLine, PastLinesWritten, Snapshot, SnapshotError, Sqlite, StoreError,
};
#[cfg(feature = "postgres")]
use notarium_store::{Lease, Node, NodeStore, Postgres};

use accounts::*;
use author::{Author, notebook};
use blobs::*;
use catalog::*;
use erasure::*;
use events::*;
use exactness::*;
use history::*;
use many::*;
use memory::Memory;
use notices::*;
use past_lines::*;
use snapshots::*;
use spending::*;
use workspaces::*;

/// Store under test.
type Store = Arc<dyn EventStore>;

/// Defines one test for each case. `$open` is `async fn() -> Option<(Store, impl Sized)>`, or [`Accounts`] in place of the store; the second
/// value keeps the store's resources alive. `None`: the backend is not to be had here, which it has said.
macro_rules! contract_suite {
    ($open:path: $($case:ident),* $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            let Some((store, _guard)) = $open().await else { return };
            $crate::$case(store).await;
        }
    )*};
    ($open:path) => {
        contract_suite!($open:
            what_was_appended_is_read_in_order, pages_end_where_asked,
            a_stale_head_is_refused_and_nothing_written, another_hash_at_the_same_version_is_refused,
            a_gap_is_refused, a_strangers_event_is_refused, a_notebook_begins_once, an_unknown_notebook_is_empty,
            a_lease_is_taken_from_the_one_before, an_append_under_an_older_epoch_is_refused,
            a_command_is_found_again, a_repeated_command_is_refused_and_nothing_written,
            a_command_twice_in_one_append_is_refused, the_same_command_id_of_another_actor_or_notebook_is_another,
            a_command_that_changed_nothing_is_recorded, commands_are_found_together_and_counted, payloads_come_back_byte_for_byte,
            every_field_of_an_envelope_comes_back, every_kind_of_actor_comes_back, events_of_unknown_types_come_back,
            a_redacted_event_comes_back, removed_content_is_replaced_with_what_was_derived,
            blobs_and_digests_of_removed_content_go, one_append_of_many_events, history_of_cells, history_of_cells_and_the_notebook,
            history_names_the_executions_of_deletions, history_of_a_deleted_cell, history_of_an_execution,
            a_run_of_very_many_events_is_told_whole,
            history_of_a_conversation, history_is_what_the_core_says_that_it_is, edits_are_no_events_of_a_subject,
            events_of_a_type_are_listed, history_has_a_limit, the_latest_snapshot_at_most, a_snapshot_needs_its_notebook, snapshots_are_disposable,
            snapshots_are_thinned_out, a_damaged_snapshot_is_found_out, past_lines_come_back_as_they_were_written,
            past_lines_are_found_by_any_part, a_difference_comes_back_with_its_base, the_latest_blame_at_most, authors_are_told_by_version, a_search_in_the_past_says_what_it_leaves_out,
            notebooks_are_listed_in_order, of_concurrent_appenders_one_wins, many_notebooks_at_once,
            a_pipelined_append_follows_the_one_before, the_guilty_alone_fails, the_catalog_lists_the_latest_first,
            the_catalog_pages, the_catalog_filters, the_catalog_finds_words, the_catalog_never_goes_back,
            the_catalog_finds_templates_and_what_waits,
            the_catalog_finds_what_is_due,
            the_catalog_says_what_lags, blobs_are_recorded_once, blobs_are_listed_and_forgotten,
            what_each_notebook_takes_is_told, an_erased_notebook_is_one_event,
            what_was_derived_from_an_erased_notebook_goes,
            writes_that_were_under_way_do_not_bring_an_erased_notebook_back, a_long_record_is_erased_to_its_last_event,
            old_snapshots_go_but_for_the_newest_and_bases, a_retired_blob_is_told_until_it_is_back,
        );
    };
}

/// Defines the tests of a store of accounts.
macro_rules! account_contract_suite {
    ($open:path) => {
        contract_suite!($open:
            users_are_found_by_id_and_login, a_login_is_taken_once, changes_are_made_together_or_not_at_all, the_last_admin_stays, deactivating_revokes_what_the_person_holds_or_made, an_identity_is_one_person_s, an_identity_is_unlinked_with_the_sessions_that_came_by_it, a_one_time_token_is_spent_once, tokens_come_back_as_they_were_written, tokens_of_a_person_are_revoked_by_kind, ended_tokens_are_forgotten, a_one_time_value_is_changed_once, one_time_values_are_replaced_and_forgotten, a_workspace_keeps_an_owner, what_comes_from_groups_leaves_what_a_person_gave, an_administrator_by_a_group_is_one_until_it_is_left, changes_with_an_entry_each_are_made_together_or_not_at_all, notebooks_are_placed_in_one_workspace, share_links_live_until_revoked, the_audit_tells_every_change_newest_first, what_is_unknown_is_refused,
        );
    };
}

/// Defines the tests of a store of spending.
macro_rules! spending_contract_suite {
    ($open:path) => {
        contract_suite!($open:
            a_reserved_call_comes_back_and_is_counted_once, usage_is_summed_by_each_column_and_currency,
            a_cap_refuses_when_it_is_used_up, calls_under_way_take_up_a_cap_until_they_end, caps_in_money_count_their_currency,
            concurrent_reservations_never_share_the_rest_of_a_cap, concurrent_ends_of_a_call_count_it_once,
            caps_are_set_replaced_and_removed_with_an_audit,
        );
    };
}

/// Defines the tests of a store of notices.
macro_rules! notice_contract_suite {
    ($open:path) => {
        contract_suite!($open:
            notices_are_written_with_their_position_once, nobody_who_is_deactivated_gets_notices_and_what_there_was_goes,
            an_inbox_is_paged_read_and_counted, old_notices_go_read_ones_first, what_is_decided_is_settled_for_everybody,
            a_notebook_lags_until_its_position_is_its_head, webhooks_are_their_persons, a_delivery_is_claimed_by_one_and_ends_once,
            a_failing_webhook_is_tried_once_for_all_its_notices, a_digest_has_all_that_waits_and_keeps_its_content,
            an_address_is_proved_by_a_code, choices_are_kept_by_topic_and_channel,
        );
    };
}

#[cfg(feature = "postgres")]
use {account_contract_suite, contract_suite, notice_contract_suite};

mod in_memory {
    use super::*;

    async fn open() -> Option<(Store, ())> {
        Some((Arc::new(Memory::default()), ()))
    }

    contract_suite!(open);
}

mod in_sqlite {
    use super::*;

    async fn open() -> Option<(Store, tempfile::TempDir)> {
        let folder = tempfile::tempdir().unwrap();
        Some((Arc::new(Sqlite::open(folder.path()).await.unwrap()), folder))
    }

    contract_suite!(open);

    async fn open_accounts() -> Option<(Accounts, tempfile::TempDir)> {
        let folder = tempfile::tempdir().unwrap();
        Some((Arc::new(Sqlite::open(folder.path()).await.unwrap()), folder))
    }

    account_contract_suite!(open_accounts);

    async fn open_spending() -> Option<(Spending, tempfile::TempDir)> {
        let folder = tempfile::tempdir().unwrap();
        Some((Arc::new(Sqlite::open(folder.path()).await.unwrap()), folder))
    }

    spending_contract_suite!(open_spending);

    async fn open_notices() -> Option<(NoticesStore, tempfile::TempDir)> {
        let folder = tempfile::tempdir().unwrap();
        Some((Arc::new(Sqlite::open(folder.path()).await.unwrap()), folder))
    }

    notice_contract_suite!(open_notices);
}

#[cfg(feature = "postgres")]
mod in_postgres {
    use super::*;

    async fn open() -> Option<(Store, ())> {
        let url = postgres::migrated_database().await?;
        Some((Arc::new(Postgres::open(&url, None).await.unwrap()), ()))
    }

    contract_suite!(open);

    async fn open_accounts() -> Option<(Accounts, ())> {
        let url = postgres::migrated_database().await?;
        Some((Arc::new(Postgres::open(&url, None).await.unwrap()), ()))
    }

    account_contract_suite!(open_accounts);

    async fn open_spending() -> Option<(Spending, ())> {
        let url = postgres::migrated_database().await?;
        Some((Arc::new(Postgres::open(&url, None).await.unwrap()), ()))
    }

    spending_contract_suite!(open_spending);

    async fn open_notices() -> Option<(NoticesStore, ())> {
        let url = postgres::migrated_database().await?;
        Some((Arc::new(Postgres::open(&url, None).await.unwrap()), ()))
    }

    notice_contract_suite!(open_notices);
}

/// PostgreSQL, while all old events move to objects again and again.
#[cfg(feature = "postgres")]
mod old_events_in_objects {
    use super::*;

    async fn open() -> Option<(Store, cold::Freezer)> {
        let (store, freezer) = cold::Freezer::start().await?;
        Some((store, freezer))
    }

    contract_suite!(open);
}

async fn written(store: &Store, append: Append) -> Vec<Stored> {
    store.append(append.clone()).await.unwrap();
    append.events.into_iter().map(|event| event.stored).collect()
}

fn versions(events: &[Stored]) -> Vec<Version> {
    events.iter().map(|stored| stored.envelope.version).collect()
}

async fn all(store: &Store, id: &NotebookId) -> Vec<Stored> {
    store.read(id, 0, usize::MAX).await.unwrap()
}

async fn history(store: &Store, author: &Author, query: HistoryQuery) -> Vec<Version> {
    versions(&store.history(&author.notebook_id, &query).await.unwrap().events)
}
