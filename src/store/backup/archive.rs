//! Backups in one file: what a backup's folder holds as a tar archive, compressed where its name says so.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{BackupError, create_privately, failed, remove, rename, sync_folder};

const COMPRESSED: &str = ".tar.zst";
/// How a zstd frame begins (RFC 8878).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether a backup of that name is one file.
pub(super) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with(".tar") || name.ends_with(COMPRESSED)
}

/// Beside the file, where there is as much room: a folder for what goes in or comes out.
pub(super) fn folder_beside(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.part.d", path.display()))
}

/// Writes all that the folder holds. The file is there whole, or as it was before.
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

/// Reads an archive, whatever its name, into an empty folder. Nothing of it lands elsewhere.
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
