//! Exported records: verified and imported without their server, read by DuckDB and pandas, refused where they were changed.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::World;

/// A notebook with a run, exported to `work.jsonl.zst`; the key of its server.
async fn exported(world: &World) -> (String, String) {
    let (notebook, cell) = world.notebook("Work", "x = 1").await;
    world.run(&["edit", &notebook, &cell, "--source", "x = 'Grüße 😀'"]).await.ok();
    world.run(&["cell", "delete", &notebook, &cell]).await.ok();
    let told = world.run(&["export-record", &notebook, "-o", "work.jsonl.zst"]).await.ok();
    assert!(told.contains("1 notebook, 4 events"), "{told}");
    let listed = reqwest::get(format!("{}/.well-known/notarium-keys", world.url())).await.unwrap();
    let listed: Value = listed.json().await.unwrap();
    (notebook, listed["keys"][0]["key"].as_str().unwrap().to_owned())
}

fn path(world: &World, name: &str) -> PathBuf {
    world.folder.path().join(name)
}

fn manifest(world: &World) -> Value {
    serde_json::from_slice(&std::fs::read(path(world, "work.jsonl.zst.manifest.json")).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_is_checked_and_imported_without_its_server() {
    let world = World::start().await;
    let (notebook, key) = exported(&world).await;
    let head = world.run(&["head", &notebook]).await.ok();
    let manifest = manifest(&world);
    assert_eq!(manifest["notebooks"][0]["title"], "Work");
    assert!(manifest["signed_names"][0].as_str().unwrap().contains("user:"), "{manifest}");
    let note = manifest["notebooks"][0]["signed_head"].as_str().unwrap();
    world.file("head.txt", note);
    let proof = ["verify", "--file", "work.jsonl.zst", "--against", "head.txt", "--key", &key];
    let told = world.run(&proof).await.ok();
    assert!(told.contains(&head) && told.contains("it agrees with the head of version 4"), "{told}");

    let data = path(&world, "other");
    let import = ["import-record", "work.jsonl.zst", "--data", data.to_str().unwrap(), "--key", &key];
    let told = world.run(&import).await.ok();
    assert!(told.contains("imported 1 notebook with 4 events"), "{told}");
    let again = world.run(&import).await.fails(1);
    assert!(again.contains("all of it is there already"), "{again}");

    // The other server has the same record, which an administrator takes over.
    let other = World::start_with(&data).await;
    let owner = manifest["signed_names"][0].as_str().unwrap().lines().find_map(|line| line.strip_prefix("user:"));
    let (owner, _) = owner.unwrap().split_once(' ').unwrap();
    other.run(&["user", "take-over", &format!("user:{owner}"), "--notebook", &notebook]).await.ok();
    let told = other.run(&["verify", &notebook, "--expect", &head]).await.ok();
    assert!(told.contains("leads to what the server shows"), "{told}");
    assert!(told.contains("the record was imported up to version 4"), "{told}");
    let json = other.run(&["verify", &notebook, "--json"]).await.json();
    assert_eq!(json["commands"], json!({"agree": 1, "unproven": 0, "imported_to": 4}), "the takeover: {json}");
    let log = other.run(&["log", &notebook, "--since", "0", "--json"]).await.ok();
    assert_eq!(log.lines().count(), 6, "the takeover follows: {log}");
    let file = path(&world, "work.jsonl.zst");
    let import = ["import-record", file.to_str().unwrap(), "--data", data.to_str().unwrap()];
    let living = other.run(&import).await.fails(1);
    assert!(living.contains("nothing was imported"), "{living}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_compared_with_the_manifest_beside_it() {
    let world = World::start().await;
    let (notebook, key) = exported(&world).await;
    let verify = ["verify", "--file", "work.jsonl.zst", "--key", &key];
    let signed = world.run(&verify).await.ok();
    assert!(signed.contains("the record is whole: 4 events"), "{signed}");
    assert!(signed.contains("it agrees with the head of version 4 that notarium-"), "{signed}");
    let json = world.run(&[&verify[..], &["--json"]].concat()).await.json();
    assert_eq!(json["end_is_proven"], true, "{json}");
    assert!(json["manifest"]["signed_by"].as_str().unwrap().starts_with("notarium-"), "{json}");
    // Without a key nothing says who made the manifest.
    let unsigned = world.run(&verify[..3]).await.ok();
    assert!(unsigned.contains("the signature of its head was not checked"), "{unsigned}");
    let json = world.run(&[&verify[..3], &["--json"]].concat()).await.json();
    assert_eq!((&json["end_is_proven"], &json["manifest"]["signed_by"]), (&json!(false), &json!(null)), "{json}");

    let file = path(&world, "work.jsonl.zst");
    let whole = std::fs::read(&file).unwrap();
    let lines = String::from_utf8(zstd::decode_all(&whole[..]).unwrap()).unwrap();
    let begin: String = lines.lines().take(3).map(|line| format!("{line}\n")).collect();
    let cut = zstd::encode_all(begin.as_bytes(), 3).unwrap();
    let manifest = manifest(&world);
    let told = async |file_bytes: &[u8], change: &dyn Fn(&mut Value), arguments: &[&str]| {
        let mut changed = manifest.clone();
        changed["size_bytes"] = json!(file_bytes.len());
        changed["sha256"] = json!(hex::encode(<sha2::Sha256 as sha2::Digest>::digest(file_bytes)));
        change(&mut changed);
        world.file("work.jsonl.zst.manifest.json", &changed.to_string());
        std::fs::write(&file, file_bytes).unwrap();
        world.run(arguments).await.fails(1)
    };
    // The tail was cut, and the manifest is as it was.
    let as_it_was = |changed: &mut Value| *changed = manifest.clone();
    let said = told(&cut, &as_it_was, &verify[..3]).await;
    assert!(said.contains("it was cut or changed") && said.contains("proven up to version 3"), "{said}");
    let said = told(&whole[..whole.len() - 9], &as_it_was, &verify[..3]).await;
    assert!(said.contains("it was cut or changed"), "{said}");
    let said = told(b"", &as_it_was, &verify[..3]).await;
    assert!(said.contains("it has 0 bytes"), "{said}");
    // The manifest was changed with the file: the signed head names version 4.
    let said = told(&cut, &|_| {}, &verify[..3]).await;
    assert!(said.contains("the record ends at version 3 with the hash"), "{said}");
    let third: Value = serde_json::from_str(lines.lines().nth(2).unwrap()).unwrap();
    let of_three = |changed: &mut Value| {
        changed["events"] = json!(3);
        changed["notebooks"][0]["version"] = json!(3);
        changed["notebooks"][0]["hash"] = third["hash"].clone();
    };
    let said = told(&cut, &of_three, &verify[..3]).await;
    assert!(said.contains("the signed head of its manifest is of version 4"), "{said}");
    // Whoever also changes the head cannot sign it.
    let forged = |changed: &mut Value| {
        of_three(changed);
        let head = changed["notebooks"][0]["signed_head"].as_str().unwrap();
        let old = manifest["notebooks"][0]["hash"].as_str().unwrap();
        let head = head.replace("version 4", "version 3").replace(old, third["hash"].as_str().unwrap());
        changed["notebooks"][0]["signed_head"] = json!(head);
    };
    let said = told(&cut, &forged, &verify).await;
    assert!(said.contains("the head was changed after it was signed"), "{said}");
    std::fs::remove_file(path(&world, "work.jsonl.zst.manifest.json")).unwrap();
    let alone = world.run(&verify[..3]).await.ok();
    assert!(alone.contains("the file is whole up to version 3"), "{alone}");
    let useless = world.run(&verify).await.fails(2);
    assert!(useless.contains("nothing that the key could have signed"), "{useless}");
    world.run(&["verify", &notebook, "--key", &key]).await.fails(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_notebooks_of_a_workspace_are_verified_in_one_file() {
    let world = World::start().await;
    world.run(&["workspace", "new", "Lab"]).await.ok();
    for title in ["One", "Two"] {
        let (id, _) = world.notebook(title, "x").await;
        world.run(&["workspace", "place", &id, "Lab"]).await.ok();
    }
    world.run(&["export-record", "--workspace", "Lab", "-o", "work.jsonl.zst"]).await.ok();
    let listed = reqwest::get(format!("{}/.well-known/notarium-keys", world.url())).await.unwrap();
    let listed: Value = listed.json().await.unwrap();
    let key = listed["keys"][0]["key"].as_str().unwrap();
    let said = world.run(&["verify", "--file", "work.jsonl.zst", "--key", key]).await.ok();
    assert_eq!(said.matches("whole      ").count(), 2, "{said}");
    assert!(said.contains("each record ends as its signed head says"), "{said}");
    let said = world.run(&["verify", "--file", "work.jsonl.zst"]).await.ok();
    assert!(said.contains("a file alone does not prove where its records end"), "{said}");
    let several = world.run(&["replay", "--file", "work.jsonl.zst"]).await.fails(2);
    assert!(several.contains("the file has several notebooks"), "{several}");
    // One of them is left out: its manifest has it.
    let file = path(&world, "work.jsonl.zst");
    let lines = String::from_utf8(zstd::decode_all(&std::fs::read(&file).unwrap()[..]).unwrap()).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let id = first["notebook_id"].as_str().unwrap();
    let only: String = lines.lines().filter(|line| line.contains(id)).map(|line| format!("{line}\n")).collect();
    let only = zstd::encode_all(only.as_bytes(), 3).unwrap();
    let mut changed = manifest(&world);
    changed["size_bytes"] = json!(only.len());
    changed["sha256"] = json!(hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&only)));
    world.file("work.jsonl.zst.manifest.json", &changed.to_string());
    std::fs::write(&file, &only).unwrap();
    let said = world.run(&["verify", "--file", "work.jsonl.zst"]).await.fails(1);
    assert!(said.contains("of the manifest is not in the file"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_export_is_not_imported() {
    let world = World::start().await;
    let (_, key) = exported(&world).await;
    let file = path(&world, "work.jsonl.zst");
    let (whole, manifest) = (std::fs::read(&file).unwrap(), manifest(&world));
    let refused = async |reason: &str| {
        let data = path(&world, "refused");
        let arguments = ["import-record", "work.jsonl.zst", "--data", data.to_str().unwrap(), "--key", &key];
        let told = world.run(&arguments).await;
        assert_ne!(told.code, 0, "{told:?}");
        assert!(told.err.contains(reason), "{told:?}");
        assert!(!data.exists(), "nothing was made");
    };
    std::fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    refused("it was cut or changed").await;
    std::fs::write(&file, &whole).unwrap();
    let write = |change: &dyn Fn(&mut Value)| {
        let mut changed = manifest.clone();
        change(&mut changed);
        world.file("work.jsonl.zst.manifest.json", &changed.to_string());
    };
    write(&|manifest| manifest["schema"] = json!(2));
    refused("its schema is 2, this program knows 1").await;
    write(&|manifest| manifest["notebooks"][0]["version"] = json!(3));
    refused("of another record than the manifest says").await;
    write(&|manifest| {
        let note = manifest["signed_names"][0].as_str().unwrap().replace("user:", "user:x");
        manifest["signed_names"][0] = json!(note);
    });
    refused("is not right").await;
    // A whole file with its manifest, but another record inside: the chain says so.
    let lines = zstd::decode_all(&whole[..]).unwrap();
    let text = String::from_utf8(lines).unwrap().replacen("x = 1", "x = 2", 1);
    let forged = zstd::encode_all(text.as_bytes(), 3).unwrap();
    std::fs::write(&file, &forged).unwrap();
    write(&|manifest| {
        manifest["size_bytes"] = json!(forged.len());
        manifest["sha256"] = json!(hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&forged)));
    });
    refused("the record is not whole").await;
    std::fs::remove_file(path(&world, "work.jsonl.zst.manifest.json")).unwrap();
    refused("cannot be read").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_outputs_go_along_and_are_compared() {
    let world = World::start().await;
    let (notebook, cell) = world.notebook("Work", "x").await;
    let bytes = "large ".repeat(5_000);
    let sha256 = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&bytes));
    let client = reqwest::Client::new();
    let url = |path: &str| format!("{}/api/notebooks/{notebook}{path}", world.url());
    let put = client.put(url(&format!("/blobs/{sha256}"))).bearer_auth(world.token()).body(bytes.clone());
    put.send().await.unwrap().error_for_status().unwrap();
    let blobs = json!([{"pointer": "/text", "sha256": sha256, "size_bytes": bytes.len()}]);
    let output = json!({"content": {"output_type": "stream", "name": "stdout", "text": ""}, "blobs": blobs});
    let command = json!({"body": {"RecordExecution": {"cell_id": cell, "outputs": [output]}}});
    let post = client.post(url("/commands")).bearer_auth(world.token()).json(&command);
    post.send().await.unwrap().error_for_status().unwrap();
    world.run(&["export-record", &notebook, "-o", "work.jsonl.zst"]).await.ok();
    let blob = path(&world, "work.jsonl.zst.blobs").join(&sha256);
    assert_eq!(std::fs::read_to_string(&blob).unwrap(), bytes);

    // Nothing half-written stays.
    world.file("full.jsonl.zst.blobs", "a file where the folder belongs");
    world.run(&["export-record", &notebook, "-o", "full.jsonl.zst"]).await.fails(1);
    assert!(!path(&world, "full.jsonl.zst.part").exists() && !path(&world, "full.jsonl.zst").exists());

    let data = path(&world, "other");
    let import = ["import-record", "work.jsonl.zst", "--data", data.to_str().unwrap()];
    let verify = ["verify", "--file", "work.jsonl.zst", "--blobs"];
    assert!(world.run(&verify).await.ok().contains("its 1 blob are whole"));
    std::fs::write(&blob, "other").unwrap();
    let changed = world.run(&import).await.fails(1);
    assert!(changed.contains("was changed"), "{changed}");
    let changed = world.run(&verify).await.fails(1);
    assert!(changed.contains(&format!("{sha256} was changed")), "{changed}");
    std::fs::remove_file(&blob).unwrap();
    let missing = world.run(&verify).await.fails(1);
    assert!(missing.contains(&format!("{sha256} is missing")), "{missing}");
    std::fs::write(&blob, &bytes).unwrap();
    world.run(&import).await.ok();
    let other = World::start_with(&data).await;
    let owner = manifest(&world)["notebooks"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(owner, notebook);
    let stored = std::fs::read_dir(data.join("blobs").join(&notebook)).unwrap().count();
    assert_eq!(stored, 1);
    drop(other);
    world.run(&["export-record", &notebook, "--without-blobs", "-o", "work.jsonl.zst"]).await.ok();
    assert_eq!(manifest(&world)["missing_blobs"], json!([sha256]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_one_file() {
    let world = World::start().await;
    world.run(&["workspace", "new", "Lab"]).await.ok();
    for title in ["One", "Two"] {
        let (notebook, _) = world.notebook(title, "x").await;
        world.run(&["workspace", "place", &notebook, "Lab"]).await.ok();
    }
    world.run(&["export-record", "--workspace", "Lab", "-o", "lab.jsonl.zst"]).await.ok();
    let data = path(&world, "other");
    let told = world.run(&["import-record", "lab.jsonl.zst", "--data", data.to_str().unwrap()]).await;
    assert!(told.err.contains("no key is given"), "{told:?}");
    assert!(told.ok().contains("imported 2 notebooks with 4 events"));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_programs_read_the_parquet_file() {
    let world = World::start().await;
    let (notebook, _) = exported(&world).await;
    world.run(&["export-record", &notebook, "--format", "parquet", "-o", "work.parquet"]).await.ok();
    let script = "
import duckdb, json, pandas
rows = duckdb.sql(\"select * from 'work.parquet' order by version\").df()
lines = duckdb.sql(\"select * from read_json('work.jsonl.zst', union_by_name=true) order by version\").df()
assert list(rows.version) == [1, 2, 3, 4] == list(lines.version), rows.version
assert list(rows.type) == list(lines.type)
assert [bytes(h).hex() for h in rows.hash] == list(lines.hash)
assert json.loads(rows.payload[2])['cell_id'] == rows.cell_id[2]
assert set(rows.actor_kind) == {'user'} and rows.conversation_id.isna().all()
assert rows.recorded_at[0].timestamp() * 1000 == lines.recorded_at[0], (rows.recorded_at[0], lines.recorded_at[0])
frame = pandas.read_parquet('work.parquet')
assert len(frame) == 4 and 'Gr\u{fc}\u{df}e' in str(frame.payload[2])
print('agreed')
";
    let python = std::env::var("NOTARIUM_TEST_PYTHON").expect("NOTARIUM_TEST_PYTHON: see CONTRIBUTING.md");
    let done =
        std::process::Command::new(python).args(["-c", script]).current_dir(world.folder.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
