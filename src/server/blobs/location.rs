//! Opens the bucket that a server keeps its blobs in, and warns of properties that its operator should know.

use notarium_core::Millis;
use notarium_store::blobs::BucketProbe;
use notarium_store::{BlobLocation, BlobLocationError, Blobs};

/// Differences of clocks that are measured and not corrected: a bucket's times have whole seconds.
const MIN_CLOCK_LEAD_MS: u64 = 5_000;
/// Difference of clocks above which the operator is told.
const MAX_CLOCK_LEAD_MS: u64 = 60_000;

/// Opens and probes the location. `local` are the blobs in the data folder, which are not served then.
pub async fn open(
    location: &BlobLocation,
    max_blob_bytes: u64,
    now: Millis,
    local: &Blobs,
) -> Result<Blobs, BlobLocationError> {
    let mut blobs = Blobs::open(location, max_blob_bytes)?;
    if !local.notebooks().await?.is_empty() {
        tracing::warn!(
            "the data folder has blobs, which are not served: to move them, stop the server, and run `notarium backup` without --blobs and \
             `notarium restore` with it"
        );
    }
    let Some(found) = blobs.probe(&ulid::Ulid::generate().to_string()).await? else { return Ok(blobs) };
    warn(location, &found);
    let lead = lead_of(&found, now);
    tracing::info!(%location, "blobs are kept in a bucket");
    Ok(if lead.unsigned_abs() < MIN_CLOCK_LEAD_MS { blobs } else { blobs.by_clock(lead) })
}

fn warn(location: &BlobLocation, found: &BucketProbe) {
    if !found.has_conditions {
        tracing::warn!(
            %location,
            "the bucket ignores the condition If-None-Match: blobs are safe there, but old events stay in the database"
        );
    }
    if found.is_versioned {
        tracing::warn!(
            %location,
            "the bucket keeps old versions of objects: redacted, erased and retired bytes stay there. Turn versioning off, or let old \
             versions expire"
        );
    }
}

/// Milliseconds by which the bucket's clock is ahead.
fn lead_of(found: &BucketProbe, now: Millis) -> i64 {
    let difference = found.stored_at.abs_diff(now);
    if difference > MAX_CLOCK_LEAD_MS {
        tracing::warn!(
            seconds = difference / 1000,
            "the bucket's clock differs from this machine's: set it, for instance by NTP"
        );
    }
    let difference = i64::try_from(difference).unwrap_or(i64::MAX);
    if found.stored_at < now { -difference } else { difference }
}
