//! Benchmark of memory: idle connections and open notebooks.

use std::io::Read;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use crate::socket::{Socket, Target};

#[derive(Args)]
pub struct Idle {
    #[arg(long, default_value_t = 1000)]
    connections: usize,
    /// Notebooks to make and keep open, all over the first connection.
    #[arg(long, default_value_t = 0)]
    notebooks: usize,
    /// Cells of each of those notebooks.
    #[arg(long, default_value_t = 10)]
    cells: usize,
    /// Every connection follows one more notebook of 64 cells.
    #[arg(long)]
    follow: bool,
    /// The length of each of those cells.
    #[arg(long, default_value_t = 0)]
    cell_bytes: usize,
}

impl Idle {
    pub async fn run(&self, target: &Target) -> Result<Value> {
        let mut sockets = Vec::with_capacity(self.connections);
        for _ in 0..self.connections {
            sockets.push(Socket::open(target).await?);
        }
        if self.follow {
            follow_all(&mut sockets, self.cell_bytes).await?;
        }
        for index in 0..self.notebooks {
            self.open_notebook(&mut sockets[0], index).await?;
        }
        println!("ready");
        tokio::task::spawn_blocking(|| std::io::stdin().read(&mut [0])).await??;
        Ok(json!({"connections": sockets.len(), "notebooks": self.notebooks}))
    }

    async fn open_notebook(&self, socket: &mut Socket, index: usize) -> Result<()> {
        let notebook = format!("idle-{}-{index}", std::process::id());
        let source = "x = 1\n".repeat(20);
        let cells = (0..self.cells)
            .map(|cell| json!({"InsertCell": {"cell_id": format!("c{cell}"), "cell_type": "code", "source": source}}));
        let commands: Vec<Value> = [json!({"CreateNotebook": {"title": "idle"}})].into_iter().chain(cells).collect();
        socket.command("make", &notebook, json!({"Batch": {"commands": commands}})).await?;
        socket.subscribe(&notebook).await?;
        Ok(())
    }
}

async fn follow_all(sockets: &mut [Socket], cell_bytes: usize) -> Result<()> {
    let notebook = format!("followed-{}", std::process::id());
    let source = "x".repeat(cell_bytes);
    let cells = (0..64)
        .map(|cell| json!({"InsertCell": {"cell_id": format!("c{cell}"), "cell_type": "code", "source": source}}));
    let commands: Vec<Value> = [json!({"CreateNotebook": {"title": "followed"}})].into_iter().chain(cells).collect();
    sockets[0].command("follow", &notebook, json!({"Batch": {"commands": commands}})).await?;
    for socket in sockets {
        socket.subscribe(&notebook).await?;
    }
    Ok(())
}
