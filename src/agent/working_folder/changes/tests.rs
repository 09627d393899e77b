use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use notarium_wire::FileRefusal as R;

use super::{TRASH, TrashLimits, rename_reserved};
use crate::working_folder::tests::Scene;
use crate::working_folder::*;

impl Scene {
    fn moved(&self, from: &str, to: &str) -> Result<String, R> {
        self.working.relocate(from, to).map(|moved| moved.path).map_err(|refused| refused.code)
    }

    fn removed(&self, path: &str) -> Result<String, R> {
        self.working.remove(path).map(|trashed| trashed.id).map_err(|refused| refused.code)
    }

    fn restored(&self, id: &str, to: Option<&str>) -> Result<String, R> {
        self.working.restore(id, to).map(|moved| moved.path).map_err(|refused| refused.code)
    }

    fn in_trash(&self) -> Vec<String> {
        self.working.trash(100).unwrap().files.into_iter().map(|file| file.path).collect()
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }
}

#[test]
fn files_folders_and_links_get_other_names_and_places() {
    let scene = Scene::new();
    assert_eq!(scene.moved("a.txt", "b.txt").unwrap(), "b.txt");
    assert_eq!(scene.moved("./b.txt", "new/place/c.txt").unwrap(), "new/place/c.txt");
    assert_eq!(scene.read("new/place/c.txt"), "hello");
    std::fs::write(scene.path("data/deep/x"), "x").unwrap();
    assert_eq!(scene.moved("data", "new/data").unwrap(), "new/data");
    assert_eq!(scene.read("new/data/deep/x"), "x");
    // The link itself is moved, not its target.
    symlink("../secret", scene.path("out")).unwrap();
    assert_eq!(scene.moved("out", "elsewhere").unwrap(), "elsewhere");
    assert!(scene.path("elsewhere").symlink_metadata().unwrap().is_symlink());
    // An odd name that code made can be corrected.
    std::fs::write(scene.path("line\nbreak \u{202e}x"), "odd").unwrap();
    assert_eq!(scene.moved("line\nbreak \u{202e}x", "even").unwrap(), "even");
    assert_eq!(scene.moved("even", "עברית 😀.csv").unwrap(), "עברית 😀.csv");
}

#[test]
fn what_exists_is_never_replaced_by_a_move() {
    let scene = Scene::new();
    std::fs::write(scene.path("b"), "b").unwrap();
    std::fs::create_dir(scene.path("empty")).unwrap();
    symlink("nowhere", scene.path("link")).unwrap();
    for to in ["b", "data", "empty", "link", "a.txt"] {
        assert_eq!(scene.moved("a.txt", to), Err(R::FileExists), "{to}");
    }
    for to in ["empty", "b", "link"] {
        assert_eq!(scene.moved("data", to), Err(R::FileExists), "{to}");
    }
    assert_eq!((scene.read("a.txt").as_str(), scene.read("b").as_str()), ("hello", "b"));
}

#[test]
fn nothing_is_moved_out_of_the_folder_or_where_kernels_do_not_write() {
    let scene = Scene::new();
    symlink("..", scene.path("up")).unwrap();
    std::fs::create_dir_all(scene.path("around")).unwrap();
    for (from, to, expected) in [
        ("a.txt", "../mine", R::InvalidPath),
        ("../secret", "mine", R::InvalidPath),
        ("a.txt", "/tmp/mine", R::InvalidPath),
        ("a.txt", "up/mine", R::OutOfReach),
        ("up/secret", "mine", R::OutOfReach),
        ("a.txt", "keys/mine", R::OutOfReach),
        ("keys/id", "mine", R::OutOfReach),
        ("keys", "mine", R::OutOfReach),
        (".bashrc", "mine", R::OutOfReach),
        ("a.txt", ".bashrc", R::OutOfReach),
        ("a.txt", ".notarium-trash/mine", R::OutOfReach),
        ("data", "data/deep/inside", R::InvalidPath),
        ("nothing", "mine", R::NotFound),
        ("", "mine", R::InvalidPath),
        ("a.txt", "", R::InvalidPath),
        ("a.txt", "data/", R::InvalidPath),
        ("a.txt", "a.txt/b", R::WrongKind),
        ("a.txt", "line\nbreak", R::InvalidPath),
        ("a.txt", "txt.\u{202e}exe", R::InvalidPath),
    ] {
        assert_eq!(scene.moved(from, to), Err(expected), "{from:?} to {to:?}");
        if !matches!(from, "a.txt" | "data") {
            assert_eq!(scene.removed(from), Err(expected), "{from:?}");
        }
    }
    assert_eq!(scene.read("a.txt"), "hello");
    assert!(scene.path("keys/id").exists() && scene.path(".bashrc").exists());
}

#[test]
fn a_folder_around_a_hidden_place_stays_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(work.join("config/keys")).unwrap();
    let working = WorkingFolder::new(&work, ReachablePaths::new(&[work.join("config/keys")], &[], &[]));
    assert_eq!(working.relocate("config", "other").unwrap_err().code, R::OutOfReach);
    assert_eq!(working.remove("config").unwrap_err().code, R::OutOfReach);
    // Code may rename a hidden path meanwhile: it is still recognised.
    std::fs::rename(work.join("config/keys"), work.join("harmless")).unwrap();
    assert_eq!(working.remove("harmless").unwrap_err().code, R::OutOfReach);
    assert!(work.join("harmless").exists());
}

#[test]
fn a_disk_that_cannot_rename_carefully_replaces_nothing_either() {
    let scene = Scene::new();
    std::fs::write(scene.path("b"), "b").unwrap();
    let root = scene.working.root().unwrap();
    let rename = |from: &str, to: &str| rename_reserved((root.as_fd(), from), (root.as_fd(), to));
    assert_eq!(rename("a.txt", "b"), Err(Errno::EXIST));
    assert_eq!(rename("data", "b"), Err(Errno::EXIST));
    rename("a.txt", "c").unwrap();
    rename("data", "moved").unwrap();
    assert_eq!(rename("moved", "moved/inside"), Err(Errno::INVAL));
    assert!(scene.path("moved/deep").exists() && !scene.path("moved/inside").exists());
    assert_eq!((scene.read("b").as_str(), scene.read("c").as_str()), ("b", "hello"));
}

#[test]
fn what_is_removed_comes_back_whole_also_to_another_process() {
    let scene = Scene::new();
    std::fs::write(scene.path("data/deep/x"), "deep").unwrap();
    std::fs::set_permissions(scene.path("a.txt"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let (file, folder) = (scene.removed("a.txt").unwrap(), scene.removed("data").unwrap());
    assert!(!scene.path("a.txt").exists() && !scene.path("data").exists());
    assert_eq!(scene.all(), [".bashrc", ".env"], "neither they nor the trash are listed");
    assert_eq!(scene.open(".notarium-trash/.gitignore"), Err(R::OutOfReach));
    let page = scene.working.trash(100).unwrap();
    assert_eq!((page.count, page.size_bytes, page.kept_days), (2, 9, 30));
    // The same folder after a restart of the agent.
    let again = WorkingFolder::new(&scene.path(""), ReachablePaths::default());
    assert_eq!(again.trash(1).unwrap().files.len(), 1);
    assert_eq!(again.restore(&folder, None).unwrap().path, "data");
    assert_eq!(again.restore(&file, None).unwrap().path, "a.txt");
    assert_eq!((scene.read("data/deep/x").as_str(), scene.read("a.txt").as_str()), ("deep", "hello"));
    assert_eq!(std::fs::metadata(scene.path("a.txt")).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(again.restore(&file, None).unwrap_err().code, R::NotFound);
    assert!(scene.in_trash().is_empty());
}

#[test]
fn what_comes_back_replaces_nothing_and_may_go_elsewhere() {
    let scene = Scene::new();
    let id = scene.removed("a.txt").unwrap();
    std::fs::write(scene.path("a.txt"), "newer").unwrap();
    assert_eq!(scene.restored(&id, None), Err(R::FileExists));
    assert_eq!(scene.restored(&id, Some("../out")), Err(R::InvalidPath));
    assert_eq!(scene.restored(&id, Some("keys/in")), Err(R::OutOfReach));
    assert_eq!(scene.restored(&id, Some("again/a.txt")).unwrap(), "again/a.txt");
    assert_eq!((scene.read("a.txt").as_str(), scene.read("again/a.txt").as_str()), ("newer", "hello"));
    // The original folder is created again.
    let id = scene.removed("again/a.txt").unwrap();
    std::fs::remove_dir(scene.path("again")).unwrap();
    assert_eq!(scene.restored(&id, None).unwrap(), "again/a.txt");
}

#[test]
fn a_program_that_writes_a_file_goes_on_in_the_trash() {
    let scene = Scene::new();
    let mut writer = std::fs::File::options().append(true).open(scene.path("a.txt")).unwrap();
    let id = scene.removed("a.txt").unwrap();
    std::io::Write::write_all(&mut writer, b", world").unwrap();
    scene.restored(&id, None).unwrap();
    assert_eq!(scene.read("a.txt"), "hello, world");
}

#[test]
fn the_trash_is_emptied_by_entry_or_as_a_whole_and_follows_no_link() {
    let scene = Scene::new();
    symlink(scene.folder.path().join("secret"), scene.path("data/link")).unwrap();
    symlink(scene.folder.path(), scene.path("data/up")).unwrap();
    std::fs::write(scene.path("data/deep/x"), "x").unwrap();
    let (file, folder) = (scene.removed("a.txt").unwrap(), scene.removed("data").unwrap());
    assert_eq!(scene.working.empty_trash(Some("../../secret"), 9).unwrap_err().code, R::NotFound);
    assert_eq!(scene.working.empty_trash(Some(&folder), 9).unwrap().count, 1);
    assert_eq!(scene.in_trash(), ["a.txt"]);
    assert_eq!(scene.working.empty_trash(None, 9).unwrap().count, 0);
    assert_eq!(scene.restored(&file, None), Err(R::NotFound));
    assert_eq!(std::fs::read_to_string(scene.folder.path().join("secret")).unwrap(), "s");
    assert!(scene.path("keys/id").exists());
}

#[test]
fn what_code_put_into_the_trash_is_not_believed() {
    let scene = Scene::new();
    let id = scene.removed("a.txt").unwrap();
    let about = scene.path(TRASH).join(&id).join("about.json");
    for path in ["../secret", "/etc/passwd", "keys/mine", ".bashrc", ""] {
        std::fs::write(&about, format!(r#"{{"path": "{path}", "size_bytes": 1}}"#)).unwrap();
        assert!(scene.restored(&id, None).is_err(), "{path}");
    }
    std::fs::write(&about, "{").unwrap();
    assert_eq!(scene.restored(&id, None), Err(R::NotFound));
    // A link in place of the trash is not followed.
    let trash = scene.path(TRASH);
    std::fs::remove_dir_all(&trash).unwrap();
    symlink(scene.folder.path(), &trash).unwrap();
    std::fs::write(scene.path("b"), "b").unwrap();
    assert_eq!(scene.removed("b"), Err(R::SystemRefused));
    assert_eq!(scene.read("b"), "b");
    assert_eq!(scene.working.trash(9).unwrap_err().code, R::SystemRefused);
    // A hidden path that code has moved into the trash is not deleted with it.
    std::fs::remove_file(&trash).unwrap();
    let id = scene.removed("b").unwrap();
    std::fs::rename(scene.path("keys"), trash.join(&id).join("keys")).unwrap();
    assert!(scene.working.empty_trash(None, 9).is_err());
    assert!(trash.join(&id).join("keys/id").exists());
}

#[test]
fn a_kept_folder_stays_and_all_beside_it_is_deleted() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.path("data/a")).unwrap();
    std::fs::create_dir_all(scene.path("data/z/deep")).unwrap();
    for name in ["data/a/one", "data/m", "data/z/deep/two", "data/z/three"] {
        std::fs::write(scene.path(name), "x").unwrap();
    }
    let (file, folder) = (scene.removed("a.txt").unwrap(), scene.removed("data").unwrap());
    let content = scene.path(TRASH).join(&folder).join("content");
    std::fs::rename(scene.path("keys"), content.join("z/deep/keys")).unwrap();
    let refused = scene.working.empty_trash(None, 9).unwrap_err();
    assert_eq!(refused.code, R::OutOfReach);
    assert_eq!(refused.message, "the rest is deleted. 'data/z/deep/keys' stays, because it is hidden from kernels");
    assert!(content.join("z/deep/keys/id").exists());
    let left = |folder: &str| -> Vec<_> {
        std::fs::read_dir(content.join(folder)).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    assert_eq!((left(""), left("z"), left("z/deep")), (vec!["z".into()], vec!["deep".into()], vec!["keys".into()]));
    // The other entry is gone; this one is still listed.
    assert_eq!(scene.restored(&file, None), Err(R::NotFound));
    assert_eq!(scene.in_trash(), ["data"]);
}

#[test]
fn the_trash_keeps_so_much_for_so_long_and_the_last_entry_always() {
    let mut scene = Scene::new();
    scene.working.keeps = TrashLimits { days: 30, bytes: 12, entries: 3 };
    for name in ["one", "two", "six"] {
        std::fs::write(scene.path(name), "sixsix").unwrap();
        let id: ulid::Ulid = scene.removed(name).unwrap().parse().unwrap();
        // Ids of the same millisecond have no defined order.
        while ulid::Ulid::generate().timestamp_ms() <= id.timestamp_ms() {
            std::thread::yield_now();
        }
    }
    assert_eq!(scene.in_trash(), ["six", "two"], "12 bytes");
    std::fs::write(scene.path("large"), [0; 100]).unwrap();
    let id = scene.removed("large").unwrap();
    assert_eq!(scene.in_trash(), ["large"], "larger than all that is kept");
    let long_ago = SystemTime::now() - Duration::from_secs(31 * 24 * 60 * 60);
    let old = ulid::Ulid::from_parts(long_ago.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64, 7);
    std::fs::rename(scene.path(TRASH).join(&id), scene.path(TRASH).join(old.to_string())).unwrap();
    scene.working.tidy_trash();
    assert!(!scene.path(TRASH).join(old.to_string()).exists());
}

#[test]
fn of_many_that_remove_restore_or_move_the_same_one_wins() {
    let scene = Scene::new();
    let race = |work: &(dyn Fn() -> bool + Sync)| {
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
            all.into_iter().map(|one| one.join().unwrap()).filter(|won| *won).count()
        })
    };
    assert_eq!(race(&|| scene.removed("a.txt").is_ok()), 1);
    assert_eq!(scene.in_trash(), ["a.txt"]);
    let id = scene.working.trash(1).unwrap().files[0].id.clone();
    assert_eq!(race(&|| scene.restored(&id, None).is_ok()), 1);
    assert_eq!(race(&|| scene.moved("a.txt", "b.txt").is_ok()), 1);
    assert_eq!(scene.read("b.txt"), "hello");
}
