//! Tables of the connections of one kernel. For a server, a broker per question answers; for files and the in-memory database the
//! kernel answers, which holds them. Both answer while a cell runs.
//!
//! Answers are cached for a short time, and dropped when a run of the kernel ends, because it may have changed them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use notarium_wire::{ConnectionSchema, KernelAnswer, QuestionRefusal};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, mpsc};

use super::{Connections, DatabaseConnection, WriteRight, run_broker};

/// Lifetime of a cached answer: a run of the kernel, or another program, may change the database.
const KEPT_FOR: Duration = Duration::from_secs(10);
const MAX_KEPT: usize = 16;
/// Most concurrent questions to one kernel.
const MAX_ASKED: usize = 4;
/// The database times out this much before the caller, so its own error is returned.
const EARLIER: Duration = Duration::from_millis(500);
/// Longest answer; a schema within its limits is always shorter.
const MAX_ANSWER_BYTES: usize = 8 << 20;

/// The schemas of one kernel's connections.
#[derive(Debug)]
pub(crate) struct Schemas {
    connections: Arc<Connections>,
    /// Python of the brokers.
    python: PathBuf,
    /// The socket on which the kernel takes questions.
    kernel: tokio::sync::Mutex<KernelLine>,
    kept: Mutex<SchemaCache>,
    places: Semaphore,
}

/// The socket to the kernel. The kernel connects to us: a path in its folder could be replaced by its code.
#[derive(Debug)]
struct KernelLine {
    coming: mpsc::Receiver<UnixStream>,
    open: Option<UnixStream>,
    number: u64,
}

#[derive(Debug, Default)]
struct SchemaCache {
    /// Count of invalidations of the cache.
    generation: u64,
    answers: BTreeMap<(String, String), (Instant, ConnectionSchema)>,
}

/// A reply of a broker or the kernel.
#[derive(Debug, Deserialize)]
struct BrokerReply {
    of: u64,
    described: Option<ConnectionSchema>,
    error: Option<BrokerFailure>,
}

#[derive(Debug, Deserialize)]
struct BrokerFailure {
    kind: String,
    message: String,
}

impl Schemas {
    /// `coming`: sockets over which the kernel takes questions; the newest replaces the others.
    pub fn new(connections: Arc<Connections>, python: PathBuf, coming: mpsc::Receiver<UnixStream>) -> Self {
        let line = KernelLine { coming, open: None, number: 0 };
        Self {
            connections,
            python,
            kernel: tokio::sync::Mutex::new(line),
            kept: Mutex::default(),
            places: Semaphore::new(MAX_ASKED),
        }
    }

    /// Empties the cache: a run has ended, and may have changed any table.
    pub fn forget(&self) {
        let mut kept = self.kept.lock();
        kept.generation += 1;
        kept.answers.clear();
    }

    /// Describes the tables of a connection with `matching` in their names.
    pub async fn describe(&self, connection: String, matching: String, within: Duration) -> KernelAnswer {
        let Ok(_place) = self.places.try_acquire() else {
            return QuestionRefusal::KernelBusy.because("the kernel has too many questions: ask again in a moment");
        };
        let key = (connection, matching);
        let generation = match self.kept.lock().find(&key) {
            Ok(schema) => return KernelAnswer::Described(schema),
            Err(generation) => generation,
        };
        let seconds = within.saturating_sub(EARLIER).as_secs_f64();
        let asked = tokio::time::timeout(within, self.ask(&key.0, &key.1, seconds)).await;
        let answer = asked.unwrap_or_else(|_| Err(late(&key.0))).unwrap_or_else(|refused| refused).bounded();
        if let KernelAnswer::Described(schema) = &answer {
            self.kept.lock().keep(generation, key, schema.clone());
        }
        answer
    }

    async fn ask(&self, connection: &str, matching: &str, seconds: f64) -> Result<KernelAnswer, KernelAnswer> {
        let named = self.connections.list.iter().find(|named| named.name == connection);
        let question = json!({"matching": matching, "seconds": seconds});
        let reply = match named.filter(|named| named.is_brokered()) {
            Some(named) => self.ask_broker(named, question).await,
            None => self.ask_kernel(connection, question).await,
        };
        let reply = reply.map_err(|_| gone(connection))?;
        match (reply.described, reply.error) {
            (Some(schema), _) => Ok(KernelAnswer::Described(schema)),
            (None, Some(failure)) => Err(failure.refusal()),
            (None, None) => Err(gone(connection)),
        }
    }

    async fn ask_broker(&self, connection: &DatabaseConnection, question: Value) -> std::io::Result<BrokerReply> {
        let (mut ours, theirs) = UnixStream::pair()?;
        // The broker ends when `ours` is dropped with the question.
        let broker = run_broker(theirs, connection, self.python.clone(), WriteRight::default());
        tokio::select! {
            reply = exchange(&mut ours, 1, question) => reply,
            ended = broker => Err(ended.err().unwrap_or_else(|| std::io::ErrorKind::BrokenPipe.into())),
        }
    }

    async fn ask_kernel(&self, connection: &str, mut question: Value) -> std::io::Result<BrokerReply> {
        let mut line = self.kernel.lock().await;
        while let Ok(newer) = line.coming.try_recv() {
            line.open = Some(newer);
        }
        let mut open = match line.open.take() {
            Some(open) => open,
            None => line.coming.recv().await.ok_or(std::io::ErrorKind::BrokenPipe)?,
        };
        line.number += 1;
        question["connection"] = json!(connection);
        let reply = exchange(&mut open, line.number, question).await?;
        // After an abandoned exchange the socket is not reused: the kernel connects again.
        line.open = Some(open);
        Ok(reply)
    }
}

impl SchemaCache {
    /// The cached answer, or the current generation for a new one.
    fn find(&self, key: &(String, String)) -> Result<ConnectionSchema, u64> {
        let fresh = self.answers.get(key).filter(|(since, _)| since.elapsed() < KEPT_FOR);
        fresh.map(|(_, schema)| schema.clone()).ok_or(self.generation)
    }

    fn keep(&mut self, generation: u64, key: (String, String), schema: ConnectionSchema) {
        self.answers.retain(|_, (since, _)| since.elapsed() < KEPT_FOR);
        if generation == self.generation && self.answers.len() < MAX_KEPT {
            self.answers.insert(key, (Instant::now(), schema));
        }
    }
}

impl BrokerFailure {
    fn refusal(self) -> KernelAnswer {
        let code = match &*self.kind {
            "unknown" => QuestionRefusal::UnknownConnection,
            "cancelled" => QuestionRefusal::Timeout,
            _ => QuestionRefusal::ConnectionFailed,
        };
        code.because(self.message)
    }
}

fn late(connection: &str) -> KernelAnswer {
    let message = format!(
        "the connection {connection} did not tell its tables in time: it is slow, or the kernel computes something that lets nothing \
         else run; ask again"
    );
    QuestionRefusal::Timeout.because(message)
}

fn gone(connection: &str) -> KernelAnswer {
    let message = format!(
        "nobody tells the tables of {connection}: its broker or the kernel has ended; ask again, and if that does not help restart the \
         kernel and look at the runtime agent's log"
    );
    QuestionRefusal::KernelFailed.because(message)
}

/// Sends the question and reads until its own answer comes. The frames are those of `wire.py`.
async fn exchange(channel: &mut UnixStream, number: u64, mut question: Value) -> std::io::Result<BrokerReply> {
    question["describe"] = json!(number);
    let head = question.to_string();
    let mut frame = u32::try_from(head.len()).unwrap_or(u32::MAX).to_be_bytes().to_vec();
    frame.extend([0; 4]);
    frame.extend(head.as_bytes());
    channel.write_all(&frame).await?;
    loop {
        let reply: BrokerReply = serde_json::from_slice(&read_frame(channel).await?)?;
        if reply.of == number {
            return Ok(reply);
        }
    }
}

async fn read_frame(channel: &mut UnixStream) -> std::io::Result<Vec<u8>> {
    let (head, body) = (channel.read_u32().await? as usize, channel.read_u32().await? as usize);
    if head.saturating_add(body) > MAX_ANSWER_BYTES {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    let mut read = vec![0; head + body];
    channel.read_exact(&mut read).await?;
    read.truncate(head);
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn schemas() -> (Arc<Schemas>, mpsc::Sender<UnixStream>) {
        let (sender, coming) = mpsc::channel(4);
        (Arc::new(Schemas::new(Arc::default(), PathBuf::new(), coming)), sender)
    }

    async fn asked(kernel: &mut UnixStream) -> Value {
        serde_json::from_slice(&read_frame(kernel).await.unwrap()).unwrap()
    }

    async fn reply(kernel: &mut UnixStream, reply: Value) {
        let head = reply.to_string();
        kernel.write_u32(u32::try_from(head.len()).unwrap()).await.unwrap();
        kernel.write_u32(0).await.unwrap();
        kernel.write_all(head.as_bytes()).await.unwrap();
    }

    fn ask(schemas: &Arc<Schemas>, connection: &str, within: Duration) -> tokio::task::JoinHandle<KernelAnswer> {
        let (schemas, connection) = (schemas.clone(), connection.to_owned());
        tokio::spawn(async move { schemas.describe(connection, String::new(), within).await })
    }

    async fn refused(asking: tokio::task::JoinHandle<KernelAnswer>) -> (QuestionRefusal, String) {
        match asking.await.unwrap() {
            KernelAnswer::Refused { code, message, .. } => (code, message),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn an_answer_is_kept_until_a_run_is_over() {
        let (schemas, sender) = schemas();
        let (ours, mut kernel) = UnixStream::pair().unwrap();
        sender.send(ours).await.unwrap();
        let described = json!({"kind": "duckdb", "tables": []});
        let first = ask(&schemas, "duckdb", LONG);
        let question = asked(&mut kernel).await;
        assert_eq!((&question["connection"], &question["describe"]), (&json!("duckdb"), &json!(1)));
        assert!(question["seconds"].as_f64().is_some_and(|seconds| seconds < LONG.as_secs_f64()));
        reply(&mut kernel, json!({"of": 1, "described": described})).await;
        assert!(matches!(first.await.unwrap(), KernelAnswer::Described(_)));
        // Answered from the cache: the kernel gets no question.
        assert!(matches!(ask(&schemas, "duckdb", LONG).await.unwrap(), KernelAnswer::Described(_)));
        schemas.forget();
        let second = ask(&schemas, "duckdb", LONG);
        assert_eq!(asked(&mut kernel).await["describe"], json!(2));
        // A run may change the schema while the answer is on its way.
        schemas.forget();
        reply(&mut kernel, json!({"of": 2, "described": described})).await;
        second.await.unwrap();
        let third = ask(&schemas, "duckdb", LONG);
        assert_eq!(asked(&mut kernel).await["describe"], json!(3));
        drop(kernel);
        assert_eq!(refused(third).await.0, QuestionRefusal::KernelFailed);
    }

    #[tokio::test]
    async fn a_question_that_was_given_up_does_not_answer_the_next() {
        let (schemas, sender) = schemas();
        let (ours, mut kernel) = UnixStream::pair().unwrap();
        sender.send(ours).await.unwrap();
        let late = ask(&schemas, "duckdb", Duration::from_millis(600));
        asked(&mut kernel).await;
        let (code, message) = refused(late).await;
        assert!(code == QuestionRefusal::Timeout && message.contains("duckdb"), "{message}");
        // The kernel sees the closed socket, and connects again.
        assert_eq!(kernel.read(&mut [0]).await.unwrap(), 0);
        let (ours, mut kernel) = UnixStream::pair().unwrap();
        sender.send(ours).await.unwrap();
        let next = ask(&schemas, "x.sqlite", LONG);
        asked(&mut kernel).await;
        reply(&mut kernel, json!({"of": 2, "error": {"kind": "unknown", "message": "there is no file"}})).await;
        assert_eq!(refused(next).await, (QuestionRefusal::UnknownConnection, "there is no file".to_owned()));
    }

    #[tokio::test]
    async fn a_kernel_says_nothing_beyond_measure() {
        let (schemas, sender) = schemas();
        let (ours, mut kernel) = UnixStream::pair().unwrap();
        sender.send(ours).await.unwrap();
        let asking = ask(&schemas, "duckdb", LONG);
        asked(&mut kernel).await;
        kernel.write_all(&u32::MAX.to_be_bytes()).await.unwrap();
        kernel.write_all(&[0; 4]).await.unwrap();
        assert_eq!(refused(asking).await.0, QuestionRefusal::KernelFailed);
        drop(sender);
        assert_eq!(refused(ask(&schemas, "duckdb", LONG)).await.0, QuestionRefusal::KernelFailed);
    }

    #[tokio::test]
    async fn a_kernel_is_asked_a_few_things_at_a_time() {
        let (schemas, _sender) = schemas();
        let waiting: Vec<_> = (0..MAX_ASKED).map(|number| ask(&schemas, &format!("{number}.db"), LONG)).collect();
        while schemas.places.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(refused(ask(&schemas, "duckdb", LONG)).await.0, QuestionRefusal::KernelBusy);
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
    }
}
