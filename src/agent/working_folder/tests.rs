use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, symlink};

use notarium_wire::FileRefusal as R;

use super::*;

/// A folder `work` with a secret file beside it, and a hidden one in it.
pub(super) struct Scene {
    pub(super) folder: tempfile::TempDir,
    pub(super) working: WorkingFolder,
}

impl Scene {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let work = base.join("work");
        std::fs::create_dir_all(work.join("data/deep")).unwrap();
        std::fs::create_dir(work.join("keys")).unwrap();
        for (name, text) in [("secret", "s"), ("work/a.txt", "hello"), ("work/keys/id", "k"), ("work/.env", "e")] {
            std::fs::write(base.join(name), text).unwrap();
        }
        std::fs::write(work.join(".bashrc"), "old").unwrap();
        let places = ReachablePaths::new(&[work.join("keys")], &[work.join(".bashrc")], std::slice::from_ref(&work));
        Self { working: WorkingFolder::new(&work, places), folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("work").join(name)
    }

    fn names(&self, path: &str) -> Vec<String> {
        let page = self.working.list(path, None, 100, false).unwrap();
        page.files.into_iter().map(|entry| entry.name).collect()
    }

    pub(super) fn open(&self, path: &str) -> Result<String, R> {
        let (file, _) = self.working.open(path).map_err(|refused| refused.code)?;
        Ok(std::io::read_to_string(file).unwrap())
    }

    fn store(&self, path: &str, overwrite: bool) -> Result<bool, R> {
        let mut incoming = self.working.create(path, overwrite, Some(3)).map_err(|refused| refused.code)?;
        incoming.file.write_all(b"new").unwrap();
        incoming.commit().map_err(|refused| refused.code)
    }

    /// All names in the scene's folder, including incomplete files.
    pub(super) fn all(&self) -> Vec<String> {
        let page = self.working.list("", None, 1_000, true).unwrap();
        page.files.into_iter().map(|entry| entry.name).collect()
    }
}

#[test]
fn a_folder_is_listed_by_name_in_pages_and_without_what_is_hidden() {
    let scene = Scene::new();
    assert_eq!(scene.names(""), ["a.txt", "data"]);
    assert_eq!(scene.all(), [".bashrc", ".env", "a.txt", "data"], "without the hidden place");
    assert_eq!(scene.names("./data//"), ["deep"]);
    let first = scene.working.list("", None, 1, false).unwrap();
    assert_eq!((first.files.len(), first.next.as_deref()), (1, Some("a.txt")));
    let entry = &first.files[0];
    assert_eq!((entry.kind, entry.size_bytes, entry.modified_at.is_some()), (FileKind::File, Some(5), true));
    let second = scene.working.list("", Some("a.txt"), 1, false).unwrap();
    assert_eq!((second.files[0].name.as_str(), second.files[0].kind, second.next), ("data", FileKind::Folder, None));
    assert_eq!(scene.working.list("a.txt", None, 1, false).unwrap_err().code, R::WrongKind);
    assert_eq!(scene.working.list("no", None, 1, false).unwrap_err().code, R::NotFound);
}

#[test]
fn nothing_leads_out_of_the_folder() {
    let scene = Scene::new();
    symlink("../secret", scene.path("out")).unwrap();
    symlink(scene.folder.path().join("secret"), scene.path("absolute")).unwrap();
    symlink("..", scene.path("up")).unwrap();
    symlink("/proc/self/root", scene.path("magic")).unwrap();
    symlink("a.txt", scene.path("inside")).unwrap();
    symlink("loop", scene.path("loop")).unwrap();
    assert_eq!(scene.open("a.txt").unwrap(), "hello");
    assert_eq!(scene.open("inside").unwrap(), "hello", "a link that stays inside");
    for (path, expected) in [
        ("../secret", R::InvalidPath),
        ("data/../../secret", R::InvalidPath),
        ("/etc/passwd", R::InvalidPath),
        ("a\0b", R::InvalidPath),
        ("out", R::OutOfReach),
        ("absolute", R::OutOfReach),
        ("up/secret", R::OutOfReach),
        ("magic/etc/passwd", R::OutOfReach),
        ("loop", R::OutOfReach),
        ("keys/id", R::OutOfReach),
        ("keys", R::OutOfReach),
        ("data", R::WrongKind),
        ("", R::WrongKind),
        ("a.txt/b", R::WrongKind),
    ] {
        assert_eq!(scene.open(path), Err(expected), "{path:?}");
    }
    let page = scene.working.list("", None, 100, false).unwrap();
    let other = page.files.iter().filter(|entry| entry.kind == FileKind::Other).map(|entry| entry.name.as_str());
    assert_eq!(other.collect::<Vec<_>>(), ["absolute", "loop", "magic", "out", "up"]);
    assert!(page.files.iter().all(|entry| entry.name != "secret" && entry.name != "keys"));
}

#[test]
fn a_hidden_place_stays_hidden_when_the_folder_around_it_is_renamed() {
    let scene = Scene::new();
    std::fs::rename(scene.path("keys"), scene.path("data/harmless")).unwrap();
    assert_eq!(scene.open("data/harmless/id"), Err(R::OutOfReach));
}

#[test]
fn a_folder_that_became_a_link_is_not_followed() {
    let scene = Scene::new();
    let (work, base) = (scene.path(""), scene.folder.path().to_owned());
    std::fs::rename(&work, base.join("moved")).unwrap();
    symlink("/", base.join("work")).unwrap();
    assert_eq!(scene.open("etc/passwd"), Err(R::NotFound));
}

#[test]
fn what_is_no_file_is_refused_and_nobody_waits_for_it() {
    let scene = Scene::new();
    let pipe = scene.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(scene.open("pipe"), Err(R::WrongKind));
    assert_eq!(scene.store("pipe", true), Err(R::WrongKind));
}

#[test]
fn without_the_system_s_help_no_link_is_followed_at_all() {
    let scene = Scene::new();
    symlink("data", scene.path("link")).unwrap();
    std::fs::write(scene.path("data/x"), "x").unwrap();
    let root = scene.working.root().unwrap();
    let open = |path| beneath::walked(root.as_fd(), path, OFlags::RDONLY | OFlags::CLOEXEC);
    assert!(open("data/x").is_ok());
    assert!(open("link/x").is_err() && open("link").is_err());
}

#[test]
fn a_file_comes_whole_or_not_at_all() {
    let scene = Scene::new();
    assert_eq!(scene.store("new/folder/it.csv", false), Ok(false));
    assert_eq!(scene.open("new/folder/it.csv").unwrap(), "new");
    let before = scene.all();
    drop(scene.working.create("given-up", false, None).unwrap());
    assert_eq!(scene.all(), before, "an upload that was given up has left something");
    assert_eq!(scene.store("a.txt", false), Err(R::FileExists));
    assert_eq!(scene.open("a.txt").unwrap(), "hello");
    std::fs::set_permissions(scene.path("a.txt"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let (mut reader, _) = scene.working.open("a.txt").unwrap();
    assert_eq!(scene.store("a.txt", true), Ok(true));
    assert_eq!(scene.open("a.txt").unwrap(), "new");
    let mut old = String::new();
    std::io::Read::read_to_string(&mut reader, &mut old).unwrap();
    assert_eq!(old, "hello", "who reads goes on reading the old one");
    assert_eq!(std::fs::metadata(scene.path("a.txt")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(scene.all(), before);
}

#[test]
fn a_file_that_came_meanwhile_is_not_replaced_unasked() {
    let scene = Scene::new();
    let mut incoming = scene.working.create("late", false, None).unwrap();
    incoming.file.write_all(b"new").unwrap();
    std::fs::write(scene.path("late"), "theirs").unwrap();
    assert_eq!(incoming.commit().unwrap_err().code, R::FileExists);
    assert_eq!(scene.open("late").unwrap(), "theirs");
}

#[test]
fn nothing_is_stored_where_kernels_do_not_write_or_under_an_odd_name() {
    let scene = Scene::new();
    symlink("a.txt", scene.path("link")).unwrap();
    symlink("..", scene.path("up")).unwrap();
    let long = "x".repeat(256);
    for (path, expected) in [
        (".bashrc", R::OutOfReach),
        ("keys/mine", R::OutOfReach),
        ("up/mine", R::OutOfReach),
        ("up/new/mine", R::OutOfReach),
        ("../mine", R::InvalidPath),
        ("/tmp/mine", R::InvalidPath),
        ("data/", R::InvalidPath),
        ("", R::InvalidPath),
        ("line\nbreak", R::InvalidPath),
        (long.as_str(), R::InvalidPath),
        ("data", R::WrongKind),
        ("a.txt/mine", R::WrongKind),
        ("link", R::WrongKind),
    ] {
        assert_eq!(scene.store(path, true), Err(expected), "{path:?}");
    }
    assert_eq!(std::fs::read_to_string(scene.path(".bashrc")).unwrap(), "old");
    assert_eq!(scene.store("txt.\u{202e}exe", true), Err(R::InvalidPath), "a name that looks like another");
    assert_eq!(scene.store("été 😀 'quoted' שם", false), Ok(false));
    assert!(scene.names("").contains(&"été 😀 'quoted' שם".to_owned()));
}

#[test]
fn a_file_for_which_there_is_no_room_is_refused_before_it_comes() {
    let scene = Scene::new();
    let refused = scene.working.create("huge", false, Some(u64::MAX)).unwrap_err();
    assert_eq!(refused.code, R::DiskFull);
    assert!(refused.message.contains("make room"), "{}", refused.message);
    assert_eq!(RequestRefusal::system("x", Errno::NOSPC).code, R::DiskFull);
}

#[test]
fn a_working_folder_that_is_the_whole_machine_is_nobody_s() {
    let working = WorkingFolder::new(Path::new("/"), ReachablePaths::default());
    assert_eq!(working.look("etc/passwd").unwrap_err().code, R::OutOfReach);
}
