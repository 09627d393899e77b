//! Gate: code in a kernel reports its start to the test, and waits until the test opens the gate. Each execution of the code is counted,
//! independent of the log.

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
    /// Starts a closed gate.
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

    /// Returns Python code that waits at the gate. It only reads from the network, so the policy *trusted* asks for no confirmation.
    pub fn code(&self) -> String {
        format!("import urllib.request\nurllib.request.urlopen('http://{}/').read()", self.address)
    }

    /// Opens the gate for waiting and later executions.
    pub fn open(&self) {
        self.is_open.send_replace(true);
    }

    /// Returns the number of executions so far.
    pub fn count(&self) -> usize {
        *self.arrivals.borrow()
    }

    /// Waits until the code was executed that often.
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
        // A killed execution does not receive the answer.
        let _ = visitor.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\ngo").await;
    }
}
