//! Code in a kernel tells the test that it runs, and goes on when the test lets it: no sleeping in the one, no guessing in the
//! other. Each execution of the code counts, whatever the log says of it.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::processes::PATIENCE;

pub struct Gate {
    address: SocketAddr,
    arrivals: watch::Receiver<usize>,
    is_open: watch::Sender<bool>,
}

impl Gate {
    /// Closed.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (arrived, arrivals) = watch::channel(0);
        let is_open = watch::Sender::new(false);
        let opens = is_open.subscribe();
        tokio::spawn(async move {
            while let Ok((visitor, _)) = listener.accept().await {
                tokio::spawn(let_in(visitor, arrived.clone(), opens.clone()));
            }
        });
        Self { address, arrivals, is_open }
    }

    /// Python that stands before the gate until it is opened. It only reads from the network: no assistant is asked to wait for
    /// a yes under the policy *trusted*.
    pub fn code(&self) -> String {
        format!("import urllib.request\nurllib.request.urlopen('http://{}/').read()", self.address)
    }

    /// For those who stand there, and all who come.
    pub fn open(&self) {
        self.is_open.send_replace(true);
    }

    /// How often the code was executed, so far.
    pub fn count(&self) -> usize {
        *self.arrivals.borrow()
    }

    /// Until it was executed that often.
    pub async fn until_arrived(&mut self, count: usize) {
        let arrived = self.arrivals.wait_for(|arrivals| *arrivals >= count);
        tokio::time::timeout(PATIENCE, arrived).await.expect("the code was not executed").expect("the gate is there");
    }
}

async fn let_in(mut visitor: TcpStream, arrived: watch::Sender<usize>, mut opens: watch::Receiver<bool>) {
    let mut request = [0; 1024];
    if visitor.read(&mut request).await.unwrap_or(0) == 0 {
        return;
    }
    arrived.send_modify(|count| *count += 1);
    if opens.wait_for(|is_open| *is_open).await.is_ok() {
        // Whoever was killed meanwhile does not hear it.
        let _ = visitor.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\ngo").await;
    }
}
