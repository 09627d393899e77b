//! The environment of a kernel, which its launcher has listed.

use std::io::Read;
use std::path::Path;

use notarium_wire::{EnvironmentText, MAX_ENVIRONMENT_BYTES};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

/// File in the kernel's private folder.
const FILE: &str = "environment.txt";

/// Reads the list of a kernel that answers. `None`: there is none, or it is something else. Code that runs while Python starts could
/// have put a link there, so none is followed, and only a text of the known form is returned.
pub(super) fn read(folder: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(CWD, folder.join(FILE), flags, Mode::empty()).ok()?;
    let found = fstat(&file).ok()?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile || found.st_nlink != 1 {
        return None;
    }
    let mut text = String::new();
    std::fs::File::from(file).take(MAX_ENVIRONMENT_BYTES as u64 + 1).read_to_string(&mut text).ok()?;
    EnvironmentText::parse(&text).map(|_| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join(FILE), folder.path().join("other"));
        assert_eq!(read(folder.path()), None);
        let text = "# Python 3.11.2\n# Linux\nnumpy==2.1\n";
        std::fs::write(&file, text).unwrap();
        assert_eq!(read(folder.path()).as_deref(), Some(text));
        std::fs::hard_link(&file, &other).unwrap();
        assert_eq!(read(folder.path()), None, "a file with a second name");
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&other, &file).unwrap();
        assert_eq!(read(folder.path()), None, "a link");
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, "a key\n").unwrap();
        assert_eq!(read(folder.path()), None, "another text");
    }
}
