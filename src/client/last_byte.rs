//! A stream that records the time of its last byte: a large message on a slow line may take longer than the allowed silence.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::AsyncRead;
use tokio::time::{Instant, sleep_until};
use tokio_util::io::InspectReader;

/// The time of the last byte. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LastByte(Arc<Mutex<Instant>>);

impl LastByte {
    fn note(&self) {
        *self.0.lock() = Instant::now();
    }

    fn get(&self) -> Instant {
        *self.0.lock()
    }

    /// Returns when no byte has come for `silence`. Cancel safe.
    pub async fn silence(&self, silence: Duration) {
        loop {
            let end = self.get() + silence;
            if Instant::now() >= end {
                return;
            }
            sleep_until(end).await;
        }
    }
}

/// A stream that calls a function for the bytes that are read.
pub type TimedStream<S> = InspectReader<S, Box<dyn FnMut(&[u8]) + Send>>;

/// Records the time of each byte that is read from the stream.
pub fn timed<S: AsyncRead>(stream: S) -> (TimedStream<S>, LastByte) {
    let last_byte = LastByte(Arc::new(Mutex::new(Instant::now())));
    let noted = last_byte.clone();
    let note = move |bytes: &[u8]| {
        if !bytes.is_empty() {
            noted.note();
        }
    };
    (InspectReader::new(stream, Box::new(note)), last_byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn each_byte_of_a_large_message_ends_the_silence() {
        let (mut server, client) = tokio::io::duplex(16);
        let (mut client, last_byte) = timed(client);
        for _ in 0..10 {
            let before = last_byte.get();
            server.write_all(b"x").await.unwrap();
            client.read_u8().await.unwrap();
            assert!(last_byte.get() > before);
        }
        let before = last_byte.get();
        drop(server);
        assert_eq!(client.read(&mut [0; 1]).await.unwrap(), 0);
        assert_eq!(last_byte.get(), before, "the end is no byte");
        last_byte.silence(Duration::from_millis(20)).await;
        assert!(before.elapsed() >= Duration::from_millis(20));
    }
}
