//! Contract tests of the notebook list.

use super::*;

pub fn entry(name: &str, version: Version, updated_at: u64) -> CatalogEntry {
    CatalogEntry {
        notebook_id: notebook(name),
        version,
        title: format!("Title of {name}"),
        archived: false,
        created_at: 1,
        updated_at,
        access: vec![("user:ann".to_owned(), "owner".to_owned())],
        cells: 3,
        has_work: false,
        has_waiting_calls: false,
        template: None,
        due_at: None,
        search_text: String::new(),
    }
}

async fn listed(store: &Store, entries: Vec<CatalogEntry>) {
    for entry in entries {
        store.append(Author::new(entry.notebook_id.as_str()).rename("x")).await.unwrap();
        store.put_catalog(entry).await.unwrap();
    }
}

async fn names(store: &Store, query: CatalogQuery) -> Vec<String> {
    let page = store.catalog(query).await.unwrap();
    page.entries.iter().map(|entry| entry.notebook_id.to_string()).collect()
}

pub async fn the_catalog_lists_the_latest_first(store: Store) {
    listed(&store, vec![entry("a", 1, 10), entry("b", 1, 30), entry("c", 1, 20), entry("d", 1, 20)]).await;
    assert_eq!(names(&store, CatalogQuery::default()).await, ["b", "c", "d", "a"]);
    let page = store.catalog(CatalogQuery { limit: 1, ..CatalogQuery::default() }).await.unwrap();
    assert_eq!(page.entries, [entry("b", 1, 30)]);
    let refused = store.put_catalog(entry("nobody", 1, 1)).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })));
}

pub async fn the_catalog_pages(store: Store) {
    listed(&store, ["e", "d", "c", "b", "a"].map(|name| entry(name, 1, 20)).to_vec()).await;
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = store.catalog(CatalogQuery { after, limit: 2, ..CatalogQuery::default() }).await.unwrap();
        found.push(page.entries.iter().map(|entry| entry.notebook_id.to_string()).collect::<String>());
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, ["ab", "cd", "e"]);
}

pub async fn the_catalog_filters(store: Store) {
    let shared = vec![("user:ann".to_owned(), "owner".to_owned()), ("user:bob".to_owned(), "viewer".to_owned())];
    listed(
        &store,
        vec![
            entry("a", 1, 3),
            CatalogEntry { archived: true, has_work: true, ..entry("b", 1, 2) },
            CatalogEntry { access: shared, ..entry("c", 1, 1) },
        ],
    )
    .await;
    let all = CatalogQuery::default();
    let of = |subjects: &[&str]| Some(subjects.iter().map(|subject| (*subject).to_owned()).collect());
    assert_eq!(names(&store, CatalogQuery { archived: Some(true), ..all.clone() }).await, ["b"]);
    assert_eq!(names(&store, CatalogQuery { archived: Some(false), ..all.clone() }).await, ["a", "c"]);
    assert_eq!(names(&store, CatalogQuery { has_work: Some(true), ..all.clone() }).await, ["b"]);
    assert_eq!(names(&store, CatalogQuery { has_work: Some(false), ..all.clone() }).await, ["a", "c"]);
    assert!(store.catalog(CatalogQuery { archived: Some(true), ..all.clone() }).await.unwrap().entries[0].has_work);
    assert_eq!(names(&store, CatalogQuery { subjects: of(&["user:bob"]), ..all.clone() }).await, ["c"]);
    let both = of(&["user:bob", "user:ann"]);
    assert_eq!(names(&store, CatalogQuery { subjects: both, ..all.clone() }).await, ["a", "b", "c"]);
    assert_eq!(names(&store, CatalogQuery { subjects: of(&[]), ..all.clone() }).await, [""; 0]);
    // A revoked subject no longer finds the notebook.
    store.put_catalog(entry("c", 2, 1)).await.unwrap();
    assert_eq!(names(&store, CatalogQuery { subjects: of(&["user:bob"]), ..all }).await, [""; 0]);
}

pub async fn the_catalog_finds_words(store: Store) {
    let with = |name: &str, text: &str| CatalogEntry { search_text: text.to_owned(), ..entry(name, 1, 1) };
    listed(&store, vec![with("a", "import pandas as pd"), with("b", "Élan vital; plot_2d(x)")]).await;
    let find = async |text: &str| {
        names(&store, CatalogQuery { text: Some(text.to_owned()), ..CatalogQuery::default() }).await.concat()
    };
    assert_eq!(find("PANDAS").await, "a");
    assert_eq!(find("pan imp").await, "a");
    assert_eq!(find("élan").await, "b");
    assert_eq!(find("plot").await, "b");
    assert_eq!(find("andas").await, "");
    assert_eq!(find("pandas plot").await, "");
    assert_eq!(find("\" OR * NEAR( -- '").await, "");
    assert_eq!(find(" -*\"' ").await, "ab");
    store.put_catalog(CatalogEntry { version: 2, ..with("a", "polars") }).await.unwrap();
    assert_eq!(find("pandas").await, "");
    assert_eq!(find("polars").await, "a");
}

pub async fn the_catalog_never_goes_back(store: Store) {
    listed(&store, vec![entry("a", 5, 50)]).await;
    store.put_catalog(CatalogEntry { title: "old".to_owned(), ..entry("a", 4, 99) }).await.unwrap();
    assert_eq!(store.catalog(CatalogQuery::default()).await.unwrap().entries, [entry("a", 5, 50)]);
    store.put_catalog(CatalogEntry { title: "same".to_owned(), ..entry("a", 5, 50) }).await.unwrap();
    assert_eq!(store.catalog(CatalogQuery::default()).await.unwrap().entries[0].title, "same");
}

pub async fn the_catalog_says_what_lags(store: Store) {
    let mut author = Author::new("a");
    store.append(author.rename("x")).await.unwrap();
    store.append(Author::new("b").rename("x")).await.unwrap();
    store.put_catalog(entry("a", 1, 1)).await.unwrap();
    assert_eq!(store.catalog_lag(None, 0).await.unwrap(), [notebook("b")]);
    store.append(author.rename("y")).await.unwrap();
    assert_eq!(store.catalog_lag(None, 0).await.unwrap(), [notebook("a"), notebook("b")]);
    assert_eq!(store.catalog_lag(None, 1).await.unwrap(), [notebook("a")]);
    assert_eq!(store.catalog_lag(Some(&notebook("a")), 1).await.unwrap(), [notebook("b")]);
}

pub async fn the_catalog_finds_templates_and_what_waits(store: Store) {
    let template = Some("For reports".to_owned());
    let waiting = CatalogEntry { has_waiting_calls: true, ..entry("b", 1, 1) };
    listed(&store, vec![CatalogEntry { template: template.clone(), ..entry("a", 1, 2) }, waiting]).await;
    let (all, yes, no) = (CatalogQuery::default(), Some(true), Some(false));
    assert_eq!(names(&store, CatalogQuery { is_template: yes, ..all.clone() }).await, ["a"]);
    assert_eq!(names(&store, CatalogQuery { is_template: no, ..all.clone() }).await, ["b"]);
    assert_eq!(names(&store, CatalogQuery { has_waiting_calls: yes, ..all.clone() }).await, ["b"]);
    assert_eq!(names(&store, CatalogQuery { has_waiting_calls: no, ..all.clone() }).await, ["a"]);
    assert_eq!(store.catalog(all).await.unwrap().entries[0].template, template);
}

pub async fn the_catalog_finds_what_is_due(store: Store) {
    let due = |name, at| CatalogEntry { due_at: Some(at), ..entry(name, 1, 1) };
    listed(&store, vec![entry("never", 1, 1), due("a", 60_000), due("b", 120_000), due("c", 1 << 41)]).await;
    let by = |at| CatalogQuery { due_by: Some(at), ..CatalogQuery::default() };
    assert_eq!(names(&store, by(59_999)).await, Vec::<String>::new());
    assert_eq!(names(&store, by(60_000)).await, ["a"]);
    assert_eq!(names(&store, by(1 << 40)).await, ["a", "b"]);
    assert_eq!(names(&store, CatalogQuery::default()).await.len(), 4);
    assert_eq!(store.catalog(by(60_000)).await.unwrap().entries[0].due_at, Some(60_000));
    store.put_catalog(entry("a", 1, 2)).await.unwrap();
    assert_eq!(names(&store, by(1 << 40)).await, ["b"], "nothing is due there any more");
}
