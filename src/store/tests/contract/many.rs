//! Contract tests with many notebooks and concurrent writers.

use super::*;

pub async fn notebooks_are_listed_in_order(store: Store) {
    let mut heads = Vec::new();
    for name in ["b", "c", "a"] {
        let mut author = Author::new(name);
        store.append(author.rename("x")).await.unwrap();
        heads.push((author.notebook_id, author.head));
    }
    heads.sort_by(|left, right| left.0.cmp(&right.0));
    assert_eq!(store.notebooks(None, 0).await.unwrap(), heads);
    assert_eq!(store.notebooks(Some(&notebook("a")), 1).await.unwrap(), heads[1..2]);
    assert_eq!(store.notebooks(Some(&notebook("c")), 1).await.unwrap(), []);
}

pub async fn of_concurrent_appenders_one_wins(store: Store) {
    let mut author = Author::new("nb");
    store.append(author.rename("before")).await.unwrap();
    for _ in 0..10 {
        let before = author.head;
        let mut racers = Vec::new();
        for racer in 0..8 {
            let mut append = Author { head: before, context: author.context.clone(), ..Author::new("nb") }.rename("x");
            append.commands[0].command_id = CommandId::new(format!("{}-{racer}", before.version)).unwrap();
            let (store, head) = (store.clone(), append.head());
            racers.push(tokio::spawn(async move { (head, store.append(append).await) }));
        }
        let mut winners = Vec::new();
        for racer in racers {
            match racer.await.unwrap() {
                (head, Ok(())) => winners.push(head),
                (_, Err(error)) => assert!(matches!(error, AppendError::VersionConflict { actual: Some(_) })),
            }
        }
        assert_eq!(winners.len(), 1);
        author.head = winners[0];
        assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
    }
    let expected: Vec<Version> = (1..=11).collect();
    assert_eq!(versions(&all(&store, &author.notebook_id).await), expected);
}

pub async fn many_notebooks_at_once(store: Store) {
    let mut writers = Vec::new();
    for writer in 0..40 {
        let store = store.clone();
        writers.push(tokio::spawn(async move {
            let mut author = Author::new(&format!("nb{writer}"));
            let mut expected = Vec::new();
            for _ in 0..25 {
                expected.extend(written(&store, author.edit("a")).await);
            }
            (author, expected)
        }));
    }
    for writer in writers {
        let (author, expected) = writer.await.unwrap();
        assert_eq!(all(&store, &author.notebook_id).await, expected);
        assert_eq!(verify_chain(Head::START, &expected), Ok(author.head));
    }
}

pub async fn a_pipelined_append_follows_the_one_before(store: Store) {
    let mut author = Author::new("nb");
    let appends: Vec<Append> = (0..50).map(|_| author.edit("a")).collect();
    // Polled in this order, so that all are queued in it before the first answer.
    let results = futures_util::future::join_all(appends.into_iter().map(|append| store.append(append))).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(store.head(&author.notebook_id).await.unwrap(), Some(author.head));
}

pub async fn the_guilty_alone_fails(store: Store) {
    let mut authors: Vec<Author> = (0..20).map(|index| Author::new(&format!("nb{index}"))).collect();
    for author in &mut authors {
        store.append(author.rename("before")).await.unwrap();
    }
    let mut appends: Vec<Append> = authors.iter_mut().map(|author| author.rename("after")).collect();
    appends[3].commands[0].command_id = CommandId::new("c1").unwrap();
    appends[7].expected.hash = Hash::ZERO;
    let follower = authors[3].rename("follows the duplicate");
    appends.push(follower);
    let results = futures_util::future::join_all(appends.into_iter().map(|append| store.append(append))).await;
    for (index, result) in results.into_iter().enumerate() {
        match index {
            3 => assert!(matches!(result, Err(AppendError::DuplicateCommand { .. })), "{result:?}"),
            7 | 20 => assert!(matches!(result, Err(AppendError::VersionConflict { .. })), "{index} {result:?}"),
            _ => assert_eq!(result, Ok(()), "{index}"),
        }
    }
    for (index, author) in authors.iter().enumerate() {
        let expected: &[Version] = if [3, 7].contains(&index) { &[1] } else { &[1, 2] };
        assert_eq!(versions(&all(&store, &author.notebook_id).await), expected, "{index}");
    }
}
