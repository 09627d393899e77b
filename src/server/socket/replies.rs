//! Automatic replies of the WebSocket (pongs, the close), sent through the outbox.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

use crate::rooms::{Frame, Outbox};

/// Empty ping and close of a server, with their headers (RFC 6455, 5.5).
pub const PING: [u8; 2] = [0x89, 0];
pub const CLOSE: [u8; 2] = [CLOSE_BYTE, 0];
const CLOSE_BYTE: u8 = 0x88;

pub fn is_close(frame: &Frame) -> bool {
    frame.is_control() && frame.parts()[0].first() == Some(&CLOSE_BYTE)
}

/// Writer for the reading side. Each write is one whole control frame.
pub struct Replies(pub Outbox);

impl AsyncWrite for Replies {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let frame = Frame::control(bytes);
        if is_close(&frame) {
            // No frame may follow a close (RFC 6455, 5.5.1).
            self.0.send(frame);
            self.0.close();
        } else {
            // If the outbox is full, drop the pong.
            let _ = self.0.offer(frame);
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[tokio::test]
    async fn pongs_to_who_reads_none_are_dropped_and_a_close_never() {
        let (outbox, mut receiver) = Outbox::new(2, 1_000);
        let mut replies = Replies(outbox);
        for _ in 0..1_000 {
            replies.write_all(&[0x8A, 0]).await.unwrap();
        }
        replies.write_all(&CLOSE).await.unwrap();
        assert!(!replies.0.send("late".into()), "nothing follows a close");
        let mut frames = Vec::new();
        receiver.recv_many(&mut frames).await;
        assert_eq!(frames.iter().map(is_close).collect::<Vec<_>>(), [false, false, true]);
    }
}
