//! `head --all --publish`: the newest checkpoint of the server's tree of heads goes to a file or to an address of somebody else. A tree
//! that does not continue the one published before is refused.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use notarium_wire::rest::AppendedHeads;
use notarium_wire::signed_note::VerifierKey;
use notarium_wire::tree_log::checkpoint::{Checkpoint, notes_of};
use notarium_wire::tree_log::merkle::{consistency, is_consistent};
use notarium_wire::tree_log::tiles::{Tile, Tiles, WIDTH, needed};
use reqwest::{Method, Url};

use crate::cli::connection::client::RestClient;
use crate::cli::terminal::print;
use crate::cli::{Ended, Failure};

/// Place of the log on a server.
const LOG: &str = "/.well-known/notarium-log";

/// Time for a request to somebody else.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Largest answer that is read from somebody else, for its sentence.
const MAX_ANSWER_BYTES: usize = 4 << 10;

/// Publishes the newest checkpoint; `keys`: the server's, whose signature counts.
pub async fn publish(client: &RestClient, target: &str, keys: &[VerifierKey], allows_private: bool) -> Ended {
    let added = client.send(client.request(Method::POST, "/api/tree-log")).await;
    match added {
        Ok(answer) => {
            let added: AppendedHeads = answer.json().await.map_err(|error| Failure::connection(error.to_string()))?;
            print::note(format!(
                "{} were added to the tree",
                print::count(usize::try_from(added.added).unwrap_or(usize::MAX), "head")
            ));
        }
        // Others publish what the server has appended by itself.
        Err(failure) if failure.has_code("forbidden") => {}
        Err(failure) => return Err(failure),
    }
    let note = text(client, &format!("{LOG}/checkpoint")).await?;
    let keys: Vec<VerifierKey> = keys.iter().map(VerifierKey::for_log).collect();
    let newest = verified(&note, &keys, "the server's checkpoint")?;
    match Url::parse(target) {
        Ok(url) if url.has_host() => send(url, note, allows_private).await,
        _ => append(client, Path::new(target), &note, &newest, &keys).await,
    }
}

fn verified(note: &str, keys: &[VerifierKey], what: &str) -> Result<Checkpoint, Failure> {
    Checkpoint::verified(note, keys).map_err(|error| Failure::failed(format!("{what}: {error}")))
}

// --- file ---

/// Appends the checkpoint to a file, after a comparison with the last one there.
async fn append(client: &RestClient, file: &Path, note: &str, newest: &Checkpoint, keys: &[VerifierKey]) -> Ended {
    let before = match tokio::fs::read_to_string(file).await {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| Failure::unreadable(file, &error))?,
    };
    let name = file.display();
    let last = notes_of(&before).last().map(|last| verified(last, keys, &format!("the last checkpoint of {name}")));
    match last.transpose()? {
        None if !before.trim().is_empty() => {
            return Err(Failure::failed(format!("{name} holds no checkpoint: name another file")));
        }
        None => {}
        Some(last) if last == *newest => {
            return print::noted(format!("{name} has the newest checkpoint already (size {})", last.size));
        }
        Some(last) => check(client, &last, newest, &name.to_string()).await?,
    }
    let gap = if before.is_empty() { "" } else { "\n" };
    let whole = format!("{before}{gap}{note}");
    tokio::fs::write(file, whole).await.map_err(|error| Failure::unwritable(file, &error))?;
    print::noted(format!("wrote the checkpoint of size {} to {name}", newest.size))
}

/// Refuses a tree that does not begin with the one published before.
async fn check(client: &RestClient, last: &Checkpoint, newest: &Checkpoint, name: &str) -> Ended {
    let refusal = || {
        Failure::failed(format!(
            "nothing was written: the server's tree of size {} does not continue the one of size {} in {name}. Its past was changed, or its data \
             is from an older backup: keep the file, and ask the server's operator",
            newest.size, last.size
        ))
    };
    let ranges = consistency(last.size, newest.size);
    let proof = match ranges {
        None if last.size == 0 => Vec::new(),
        None => return Err(refusal()),
        Some(ranges) => {
            let mut tiles = Tiles::default();
            for tile in needed(&ranges, newest.size) {
                let bytes = tile_bytes(client, tile).await?;
                if !tiles.put(tile, &bytes) {
                    return Err(Failure::failed(format!("the server's {} has another size", tile.path())));
                }
            }
            tiles.proof(&ranges).ok_or_else(refusal)?
        }
    };
    let is_continued = is_consistent((last.size, &last.root), (newest.size, &newest.root), &proof);
    if is_continued { Ok(()) } else { Err(refusal()) }
}

/// Bytes of a tile. A partial one may have been replaced by the full one meanwhile.
async fn tile_bytes(client: &RestClient, tile: Tile) -> Result<Vec<u8>, Failure> {
    let bytes = async |tile: Tile| {
        let answer = client.send(client.request(Method::GET, &format!("{LOG}/{}", tile.path()))).await?;
        answer.bytes().await.map_err(|error| Failure::connection(error.to_string()))
    };
    match bytes(tile).await {
        Err(failure) if failure.is_not_found() && tile.width < WIDTH => {
            let full = bytes(Tile { width: WIDTH, ..tile }).await?;
            let length = usize::try_from(tile.width * 32).unwrap_or(full.len()).min(full.len());
            Ok(full[..length].to_vec())
        }
        bytes => bytes.map(|bytes| bytes.to_vec()),
    }
}

async fn text(client: &RestClient, path: &str) -> Result<String, Failure> {
    let answer = client.send(client.request(Method::GET, path)).await?;
    answer.text().await.map_err(|error| Failure::connection(format!("the answer was cut off ({error}): try again")))
}

// --- address ---

/// Sends the checkpoint to an address, which must be a public one, unless others are allowed.
async fn send(url: Url, note: String, allows_private: bool) -> Ended {
    if url.scheme() != "https" && !(allows_private && url.scheme() == "http") {
        return Err(Failure::usage("a checkpoint is sent by https: name such an address, or a file"));
    }
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = url.port_or_known_default().unwrap_or(443);
    let unknown =
        |error: std::io::Error| Failure::connection(format!("{host} was not found ({error}): check the address"));
    let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), port)).await.map_err(unknown)?.collect();
    if !allows_private && found.iter().any(|address| !is_public(address.ip())) {
        return Err(Failure::usage(format!(
            "{host} is an address of a private network: allow it with --allow-private"
        )));
    }
    let failed = |error: reqwest::Error| Failure::connection(format!("the checkpoint was not sent to {host}: {error}"));
    // The address that was checked is the one that is used.
    let other = reqwest::Client::builder()
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .resolve_to_addrs(&host, &found);
    let other = other.build().map_err(failed)?;
    let request = other.post(url.clone()).header("content-type", "text/plain; charset=utf-8").body(note);
    let mut answer = request.send().await.map_err(failed)?;
    let status = answer.status();
    if status.is_success() {
        return print::noted(format!("sent the checkpoint to {url}"));
    }
    let mut said = Vec::new();
    while said.len() < MAX_ANSWER_BYTES
        && let Ok(Some(piece)) = answer.chunk().await
    {
        said.extend(piece);
    }
    said.truncate(MAX_ANSWER_BYTES);
    let said = print::clean(&String::from_utf8_lossy(&said));
    Err(Failure::failed(format!("{host} did not take the checkpoint ({status}): {said}")))
}

fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            let is_shared = first == 100 && (64..128).contains(&second);
            !(address.is_private() || address.is_loopback() || address.is_link_local() || address.is_unspecified())
                && !(address.is_broadcast() || address.is_multicast() || is_shared || first == 0)
        }
        IpAddr::V6(address) => {
            let is_of_a_link = address.is_unique_local() || address.is_unicast_link_local();
            !(address.is_loopback() || address.is_unspecified() || address.is_multicast() || is_of_a_link)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_private_networks_are_told_apart() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in ["1.1.1.1", "100.128.0.1", "2606:4700::1111"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }
}
