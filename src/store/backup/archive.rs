//! Backups in one file: the backup folder as a tar archive, compressed if the name says so.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{BackupError, create_privately, failed, remove, rename, sync_folder};

const COMPRESSED: &str = ".tar.zst";
/// Magic number of a zstd frame (RFC 8878).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Returns true if a backup with this name is one file.
pub(super) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with(".tar") || name.ends_with(COMPRESSED)
}

/// Returns the temporary folder for packing and unpacking. It is beside the file, on the same disk.
pub(super) fn folder_beside(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.part.d", path.display()))
}

/// Packs the folder into the file. The file is replaced as a whole or not at all.
pub(super) fn pack(folder: &Path, file: &Path) -> Result<(), BackupError> {
    let part = PathBuf::from(format!("{}.part", file.display()));
    remove(&part)?;
    create_privately(&part)?;
    let written = File::options().write(true).open(&part).and_then(|opened| match is_compressed(file) {
        true => archive(folder, zstd::Encoder::new(opened, 0)?)?.finish()?.sync_all(),
        false => archive(folder, opened)?.sync_all(),
    });
    written.map_err(|reason| failed(&part, reason))?;
    rename(&part, file)?;
    sync_folder(file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

fn is_compressed(file: &Path) -> bool {
    file.to_string_lossy().ends_with(COMPRESSED)
}

fn archive<W: io::Write>(folder: &Path, file: W) -> io::Result<W> {
    let mut archive = tar::Builder::new(file);
    archive.append_dir_all(".", folder)?;
    archive.into_inner()
}

/// Unpacks an archive, whatever its name, into an empty folder. No entry is written outside of it.
pub(super) fn unpack(file: &Path, folder: &Path) -> Result<(), BackupError> {
    let read = || {
        let mut opened = File::open(file)?;
        let mut magic = Vec::new();
        opened.by_ref().take(4).read_to_end(&mut magic)?;
        opened.seek(SeekFrom::Start(0))?;
        match magic == ZSTD_MAGIC {
            true => extract(zstd::Decoder::new(opened)?, folder),
            false => extract(BufReader::new(opened), folder),
        }
    };
    read().map_err(|reason| match reason.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::StorageFull => failed(file, reason),
        _ => BackupError::NoArchive { file: file.to_owned(), reason },
    })
}

fn extract(reader: impl Read, folder: &Path) -> io::Result<()> {
    let mut archive = tar::Archive::new(reader);
    archive.set_preserve_permissions(false);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if !(kind.is_file() || kind.is_dir()) || !entry.unpack_in(folder)? {
            let name = entry.path_bytes().escape_ascii().to_string();
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{name} has no place in a backup")));
        }
    }
    Ok(())
}
