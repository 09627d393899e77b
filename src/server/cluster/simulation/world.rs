//! The world of the simulation: nodes with their rooms, and connections with the notebooks that they follow.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use notarium_core::NotebookId;
use secrecy::SecretString;
use tokio::sync::watch;

use super::store::{SimulatedStore, StoreOfNode};
use crate::cluster::{Cluster, ClusterNodes, ClusterSettings, LOOK_AGAIN, OwnerNode};
use crate::limits::clock::millis;

/// Notebooks that a connection follows.
const FOLLOWED: usize = 10;
/// One notebook in so many has work: nodes open it without being asked.
const WITH_WORK: usize = 50;
/// Pauses of edges between attempts to find nodes: the first, and the longest.
const EDGE_PAUSES_MS: (u64, u64) = (20, 500);
/// Pauses of clients whose connection broke.
const CLIENT_PAUSES_MS: (u64, u64) = (50, 150);
/// Rooms that a draining node gives up together, and the pause after them.
const DRAINED_TOGETHER: usize = 20;
const DRAIN_PAUSE_MS: u64 = 100;
/// Time for which a node does not reach the store.
const CUT_OFF_MS: u64 = 6_000;

#[derive(Debug, Clone, Copy)]
pub struct Scale {
    pub nodes: usize,
    pub notebooks: usize,
    pub connections: usize,
}

pub enum Happening {
    Kill(usize),
    CutOff,
    Drain,
    Join(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Beat(usize),
    /// An edge looks for the nodes of a connection's notebooks.
    Retry(usize),
    Reconnect(usize),
    DrainSlice(usize),
    StoreIsBack(usize),
}

struct SimulatedNode {
    cluster: Arc<ClusterNodes>,
    changes: watch::Receiver<u64>,
    is_alive: bool,
    takes_clients: bool,
    /// Time of the second look after a change of the nodes.
    looks_again_at: Option<u64>,
    rooms: BTreeSet<usize>,
    /// Rooms opened in each second.
    opened: BTreeMap<u64, u64>,
}

struct Connection {
    edge: usize,
    notebooks: Vec<usize>,
    /// Node that serves each of them.
    served_by: Vec<Option<usize>>,
    unserved_since: Vec<u64>,
    pause: u64,
    is_waiting: bool,
}

/// Consequences of a happening.
#[derive(Debug, Default, Clone)]
pub struct Outcome {
    name: String,
    since: u64,
    /// Rooms that ended, and those that opened.
    pub lost: u64,
    pub reopened: u64,
    /// Time without a node, for subscriptions that lost theirs.
    gaps: Vec<u64>,
    pub median_ms: u64,
    pub p99_ms: u64,
    most_opened: u64,
    most_queries: u64,
}

pub struct World {
    now: u64,
    base: Instant,
    random: u64,
    store: Arc<SimulatedStore>,
    ids: Vec<NotebookId>,
    followers: Vec<Vec<(usize, usize)>>,
    nodes: Vec<SimulatedNode>,
    connections: Vec<Connection>,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    outcomes: Vec<Outcome>,
}

/// Result of a future that waits for nothing.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("the store in memory answers at once")
}

impl World {
    pub fn start(scale: Scale, seed: u64) -> Self {
        let ids = (0..scale.notebooks).map(|number| format!("notebook{number}").parse().unwrap()).collect();
        let mut world = Self {
            now: 0,
            base: Instant::now(),
            random: seed,
            store: Arc::default(),
            ids,
            followers: vec![Vec::new(); scale.notebooks],
            nodes: Vec::new(),
            connections: Vec::new(),
            events: BinaryHeap::new(),
            outcomes: vec![Outcome { name: format!("{} nodes start", scale.nodes), ..Outcome::default() }],
        };
        (0..scale.nodes).for_each(|_| world.join());
        world.run_for(2_000);
        for connection in 0..scale.connections {
            let notebooks: Vec<usize> = (0..FOLLOWED).map(|_| world.below(scale.notebooks)).collect();
            for (slot, notebook) in notebooks.iter().enumerate() {
                world.followers[*notebook].push((connection, slot));
            }
            let (served_by, unserved_since) = (vec![None; FOLLOWED], vec![world.now; FOLLOWED]);
            let pause = EDGE_PAUSES_MS.0;
            let edge = 0;
            world.connections.push(Connection { edge, notebooks, served_by, unserved_since, pause, is_waiting: false });
            let in_ms = world.below(5_000) as u64;
            world.later(in_ms, Event::Reconnect(connection));
        }
        world
    }

    fn below(&mut self, bound: usize) -> usize {
        // splitmix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound.max(1) as u64).unwrap()
    }

    fn later(&mut self, in_ms: u64, event: Event) {
        self.events.push(Reverse((self.now + in_ms, event)));
    }

    pub fn run_for(&mut self, time_ms: u64) {
        let end = self.now + time_ms;
        while let Some(Reverse((at, event))) = self.events.peek().copied().filter(|Reverse((at, _))| *at <= end) {
            self.events.pop();
            self.set_time(at);
            self.take(event);
        }
        self.set_time(end);
    }

    fn set_time(&mut self, now: u64) {
        self.now = now;
        self.store.now.store(now, Ordering::Relaxed);
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Beat(node) => self.beat(node),
            Event::Retry(connection) => {
                self.connections[connection].is_waiting = false;
                self.serve(connection);
            }
            Event::Reconnect(connection) => self.connect(connection),
            Event::DrainSlice(node) => self.drain_slice(node),
            Event::StoreIsBack(node) => self.store.set_reachable(&self.instance(node), true),
        }
    }

    // --- nodes ---

    fn instance(&self, node: usize) -> notarium_core::InstanceId {
        self.nodes[node].cluster.instance().clone()
    }

    fn join(&mut self) {
        let index = self.nodes.len();
        let instance: notarium_core::InstanceId = format!("node{index}").parse().unwrap();
        let (url, secret) = (format!("http://node{index}"), SecretString::from("secret"));
        let settings = ClusterSettings { url, secret, certificates: None, listen: None };
        let store = StoreOfNode { store: self.store.clone(), instance: instance.clone() };
        let (base, now) = (self.base, self.store.now.clone());
        let clock = move || base + Duration::from_millis(now.load(Ordering::Relaxed));
        let joining =
            ClusterNodes::join_as((instance, Box::new(clock)), &settings, None, Arc::new(store.clone()), store);
        let (cluster, _) = at_once(joining).unwrap();
        let changes = cluster.changes().unwrap();
        let (rooms, opened) = (BTreeSet::new(), BTreeMap::new());
        let (is_alive, takes_clients, looks_again_at) = (true, true, None);
        self.nodes.push(SimulatedNode { cluster, changes, is_alive, takes_clients, looks_again_at, rooms, opened });
        let phase = self.below(1_000) as u64;
        self.later(phase, Event::Beat(index));
    }

    fn beat(&mut self, node: usize) {
        if !self.nodes[node].is_alive {
            return;
        }
        self.later(1_000, Event::Beat(node));
        let cluster = self.nodes[node].cluster.clone();
        let is_written = at_once(cluster.beat()).is_ok();
        let SimulatedNode { changes, looks_again_at, .. } = &mut self.nodes[node];
        let has_changed = changes.has_changed().unwrap() || (!is_written && cluster.is_cut_off());
        changes.mark_unchanged();
        if has_changed {
            *looks_again_at = Some(self.now + millis(LOOK_AGAIN));
            self.follow_changes(node);
        } else if looks_again_at.take_if(|at| *at <= self.now).is_some() {
            self.follow_changes(node);
        }
    }

    /// Does what `server/cluster.rs` does: gives up rooms of others, looks for its clients' notebooks, opens notebooks with work.
    fn follow_changes(&mut self, node: usize) {
        let cluster = self.nodes[node].cluster.clone();
        let rooms: Vec<usize> = self.nodes[node].rooms.iter().copied().collect();
        if !cluster.is_draining() {
            let owned = self.owned(&cluster, &rooms);
            for notebook in rooms.into_iter().filter(|notebook| !owned.contains(notebook)) {
                self.close(node, notebook);
            }
        }
        if !cluster.is_cut_off() && !cluster.is_draining() {
            let with_work: Vec<usize> = (0..self.ids.len()).step_by(WITH_WORK).collect();
            for notebook in self.owned(&cluster, &with_work) {
                self.open(node, notebook);
            }
        }
        let living: Vec<usize> = (0..self.nodes.len())
            .filter(|other| *other == node || cluster.others().iter().any(|it| it.instance == self.instance(*other)))
            .collect();
        for connection in 0..self.connections.len() {
            if self.connections[connection].edge == node {
                self.leave_dead_nodes(connection, &living);
                self.serve(connection);
            }
        }
    }

    /// Does what an edge does when the list of nodes has changed.
    fn leave_dead_nodes(&mut self, connection: usize, living: &[usize]) {
        for slot in 0..FOLLOWED {
            if let Some(by) = self.connections[connection].served_by[slot].filter(|by| !living.contains(by)) {
                self.unserve(connection, slot, by);
            }
        }
    }

    fn owned(&self, cluster: &ClusterNodes, notebooks: &[usize]) -> BTreeSet<usize> {
        let ids = notebooks.iter().map(|notebook| self.ids[*notebook].clone()).collect();
        let owned: BTreeSet<NotebookId> = at_once(cluster.owned(ids)).unwrap_or_default().into_iter().collect();
        notebooks.iter().copied().filter(|notebook| owned.contains(&self.ids[*notebook])).collect()
    }

    // --- rooms ---

    /// Returns true if the room is open afterwards.
    fn open(&mut self, node: usize, notebook: usize) -> bool {
        if self.nodes[node].rooms.contains(&notebook) {
            return true;
        }
        if at_once(self.nodes[node].cluster.claim(&self.ids[notebook])).is_err() {
            return false;
        }
        let second = self.now / 1_000;
        let SimulatedNode { rooms, opened, .. } = &mut self.nodes[node];
        rooms.insert(notebook);
        *opened.entry(second).or_default() += 1;
        self.outcomes.last_mut().unwrap().reopened += 1;
        true
    }

    fn close(&mut self, node: usize, notebook: usize) {
        self.nodes[node].rooms.remove(&notebook);
        let outcome = self.outcomes.last_mut().unwrap();
        outcome.lost += 1;
        // A node without the store cannot give the lease back.
        let _ = at_once(self.nodes[node].cluster.release(&self.ids[notebook]));
        for (connection, slot) in self.followers[notebook].clone() {
            self.unserve(connection, slot, node);
        }
    }

    // --- connections ---

    fn connect(&mut self, connection: usize) {
        let open: Vec<usize> = (0..self.nodes.len()).filter(|node| self.nodes[*node].takes_clients).collect();
        let edge = open[self.below(open.len())];
        self.connections[connection].edge = edge;
        self.connections[connection].pause = EDGE_PAUSES_MS.0;
        self.serve(connection);
    }

    /// Looks for the nodes of all notebooks of a connection that have none.
    fn serve(&mut self, connection: usize) {
        let edge = self.connections[connection].edge;
        if !self.nodes[edge].is_alive {
            return;
        }
        for slot in 0..FOLLOWED {
            if self.connections[connection].served_by[slot].is_none()
                && let Some(node) = self.find(edge, self.connections[connection].notebooks[slot])
            {
                let Connection { served_by, unserved_since, .. } = &mut self.connections[connection];
                served_by[slot] = Some(node);
                self.outcomes.last_mut().unwrap().gaps.push(self.now - unserved_since[slot]);
            }
        }
        self.schedule(connection);
    }

    /// Finds the node, which opens the room.
    fn find(&mut self, edge: usize, notebook: usize) -> Option<usize> {
        let cluster = self.nodes[edge].cluster.clone();
        let node = match at_once(cluster.place(&self.ids[notebook])) {
            Ok(OwnerNode::Here) => edge,
            Ok(OwnerNode::Elsewhere(owner)) => {
                self.nodes.iter().position(|node| *node.cluster.instance() == owner.instance)?
            }
            Err(_) => return None,
        };
        let is_open = self.nodes[node].is_alive && self.open(node, notebook);
        if !is_open {
            cluster.forget(&self.ids[notebook]);
        }
        is_open.then_some(node)
    }

    fn unserve(&mut self, connection: usize, slot: usize, node: usize) {
        let Connection { served_by, unserved_since, .. } = &mut self.connections[connection];
        if served_by[slot] == Some(node) {
            served_by[slot] = None;
            unserved_since[slot] = self.now;
            self.schedule(connection);
        }
    }

    /// Plans the next attempt for notebooks without a node.
    fn schedule(&mut self, connection: usize) {
        let found = &mut self.connections[connection];
        if found.served_by.iter().all(Option::is_some) {
            found.pause = EDGE_PAUSES_MS.0;
        } else if !found.is_waiting {
            let pause = found.pause;
            (found.is_waiting, found.pause) = (true, (pause * 2).min(EDGE_PAUSES_MS.1));
            self.later(pause, Event::Retry(connection));
        }
    }

    // --- happenings ---

    pub fn happens(&mut self, name: &str, happening: &Happening) {
        self.outcomes.push(Outcome { name: name.to_owned(), since: self.now, ..Outcome::default() });
        match happening {
            Happening::Kill(count) => (0..*count).for_each(|_| self.kill()),
            Happening::Join(count) => (0..*count).for_each(|_| self.join()),
            Happening::CutOff => {
                let node = self.any_node();
                self.store.set_reachable(&self.instance(node), false);
                self.later(CUT_OFF_MS, Event::StoreIsBack(node));
            }
            Happening::Drain => {
                let node = self.any_node();
                at_once(self.nodes[node].cluster.drain());
                self.nodes[node].takes_clients = false;
                self.later(0, Event::DrainSlice(node));
            }
        }
    }

    fn any_node(&mut self) -> usize {
        let living: Vec<usize> = (0..self.nodes.len()).filter(|node| self.nodes[*node].takes_clients).collect();
        living[self.below(living.len())]
    }

    fn kill(&mut self) {
        let node = self.any_node();
        self.end(node);
        for notebook in std::mem::take(&mut self.nodes[node].rooms) {
            self.outcomes.last_mut().unwrap().lost += 1;
            for (connection, slot) in self.followers[notebook].clone() {
                self.unserve(connection, slot, node);
            }
        }
    }

    /// Ends a process: its clients connect elsewhere.
    fn end(&mut self, node: usize) {
        (self.nodes[node].is_alive, self.nodes[node].takes_clients) = (false, false);
        for connection in 0..self.connections.len() {
            if self.connections[connection].edge != node {
                continue;
            }
            for slot in 0..FOLLOWED {
                if let Some(by) = self.connections[connection].served_by[slot] {
                    self.unserve(connection, slot, by);
                }
            }
            let (least, most) = CLIENT_PAUSES_MS;
            let pause = least + self.below((most - least) as usize) as u64;
            self.later(pause, Event::Reconnect(connection));
        }
    }

    fn drain_slice(&mut self, node: usize) {
        let cluster = self.nodes[node].cluster.clone();
        let open: Vec<usize> = self.nodes[node].rooms.iter().copied().collect();
        let ids: Vec<NotebookId> = open.iter().map(|notebook| self.ids[*notebook].clone()).collect();
        let taken: BTreeSet<NotebookId> = at_once(cluster.taken(&ids)).unwrap_or_default().into_iter().collect();
        let (mut slice, kept): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|notebook| taken.contains(&self.ids[**notebook]));
        slice.extend(kept.into_iter().take(DRAINED_TOGETHER));
        if slice.is_empty() {
            at_once(self.nodes[node].cluster.leave());
            return self.end(node);
        }
        for notebook in slice {
            self.close(node, notebook);
        }
        self.later(DRAIN_PAUSE_MS, Event::DrainSlice(node));
    }

    // --- results ---

    /// Rooms of the fullest node, and of the mean.
    pub fn balance(&self) -> (f64, f64) {
        let counts: Vec<usize> = self.nodes.iter().filter(|node| node.is_alive).map(|node| node.rooms.len()).collect();
        let sum: usize = counts.iter().sum();
        (counts.iter().copied().max().unwrap_or(0) as f64, sum as f64 / counts.len() as f64)
    }

    /// Checks that each room is open at one node, which has the lease, and that all connections are served.
    pub fn check(&self) {
        let open = self.check_rooms();
        for (number, connection) in self.connections.iter().enumerate() {
            for (notebook, node) in connection.notebooks.iter().zip(&connection.served_by) {
                assert!(
                    node.is_some() && open.get(notebook) == node.as_ref(),
                    "connection {number}, {notebook}: {node:?}"
                );
            }
        }
    }

    /// Checks that each room is open at one node, which has the lease. Returns the nodes of the rooms.
    pub fn check_rooms(&self) -> BTreeMap<usize, usize> {
        let mut open = BTreeMap::new();
        for (index, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.is_alive) {
            for notebook in &node.rooms {
                assert_eq!(open.insert(*notebook, index), None, "notebook {notebook} is open at two nodes");
                let (holder, name) = (self.store.holder(&self.ids[*notebook]), &self.outcomes.last().unwrap().name);
                assert_eq!(holder, Some(self.instance(index)), "{notebook}, after: {name}");
            }
        }
        open
    }

    /// Outcome of the last happening, until now.
    pub fn outcome(&mut self) -> Outcome {
        let most_queries = self.store.most_queries(self.outcomes.last().unwrap().since);
        let outcome = self.outcomes.last_mut().unwrap();
        outcome.gaps.sort_unstable();
        let gap = |part: f64| outcome.gaps.get((outcome.gaps.len() as f64 * part) as usize).copied().unwrap_or(0);
        (outcome.median_ms, outcome.p99_ms) = (gap(0.5), gap(0.99));
        let opened = self.nodes.iter().flat_map(|node| node.opened.range(outcome.since / 1_000..));
        outcome.most_opened = opened.map(|(_, count)| *count).max().unwrap_or(0);
        outcome.most_queries = most_queries;
        outcome.clone()
    }

    /// A table of all outcomes in Markdown.
    pub fn lines(&self) -> Vec<String> {
        let row = |it: &Outcome| {
            format!(
                "| {} | {} | {} | {} and {} ms | {} | {} |",
                it.name, it.lost, it.reopened, it.median_ms, it.p99_ms, it.most_opened, it.most_queries
            )
        };
        let head = "| what happens | rooms that end | rooms that open | time without a node, median and p99 | most rooms \
                    opened by a node in a second | most queries of all nodes in a second |";
        [head.to_owned(), "| --- | --- | --- | --- | --- | --- |".to_owned()]
            .into_iter()
            .chain(self.outcomes.iter().map(row))
            .collect()
    }
}
