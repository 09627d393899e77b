//! Space of the disks that the server writes to. A disk of a network may be away: a look at it then lasts for as long as it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use parking_lot::Mutex;

/// Time that a look at a disk may take.
const LOOK_WITHIN: Duration = Duration::from_secs(2);

/// Space of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    pub bytes: u64,
    pub free_bytes: u64,
}

impl DiskSpace {
    fn of(folder: &Path) -> Option<Self> {
        let found = rustix::fs::statvfs(folder).ok()?;
        Some(Self { bytes: found.f_blocks * found.f_frsize, free_bytes: found.f_bavail * found.f_frsize })
    }
}

/// A look at a disk, shared by all who ask while it lasts.
type DiskLook = Shared<BoxFuture<'static, Option<DiskSpace>>>;

/// Disk of a folder. At most one thread looks at it at a time.
pub struct Disk {
    /// Name of the folder in sentences.
    pub name: &'static str,
    folder: PathBuf,
    read: fn(&Path) -> Option<DiskSpace>,
    look: Arc<Mutex<Option<DiskLook>>>,
}

impl Disk {
    pub fn new(name: &'static str, folder: PathBuf) -> Self {
        Self { name, folder, read: DiskSpace::of, look: Arc::default() }
    }

    /// Reads the space; `None`: the disk does not tell in time.
    pub async fn space(&self) -> Option<DiskSpace> {
        self.space_within(LOOK_WITHIN).await
    }

    async fn space_within(&self, limit: Duration) -> Option<DiskSpace> {
        let look = self.look.lock().get_or_insert_with(|| self.begin()).clone();
        tokio::time::timeout(limit, look).await.ok()?
    }

    fn begin(&self) -> DiskLook {
        let (folder, read, look) = (self.folder.clone(), self.read, self.look.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let found = read(&folder);
            *look.lock() = None;
            found
        });
        reading.map(|found| found.ok().flatten()).boxed().shared()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use parking_lot::Condvar;

    use super::*;

    static LOOKS: AtomicUsize = AtomicUsize::new(0);
    static IS_MOUNTED: Mutex<bool> = Mutex::new(false);
    static MOUNTED: Condvar = Condvar::new();

    fn when_mounted(_: &Path) -> Option<DiskSpace> {
        LOOKS.fetch_add(1, Ordering::SeqCst);
        MOUNTED.wait_while(&mut IS_MOUNTED.lock(), |is_mounted| !*is_mounted);
        Some(DiskSpace { bytes: 2, free_bytes: 1 })
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_disk_that_is_away_holds_one_thread_however_often_it_is_asked() {
        let disk = Disk { read: when_mounted, ..Disk::new("the data folder", PathBuf::new()) };
        for _ in 0..50 {
            assert_eq!(disk.space_within(Duration::from_millis(1)).await, None);
        }
        assert_eq!(LOOKS.load(Ordering::SeqCst), 1);
        *IS_MOUNTED.lock() = true;
        MOUNTED.notify_all();
        assert_eq!(disk.space().await, Some(DiskSpace { bytes: 2, free_bytes: 1 }));
        assert!(disk.space().await.is_some() && LOOKS.load(Ordering::SeqCst) <= 3, "it is looked at anew");
    }
}
