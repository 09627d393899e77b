//! Choice of the node for a notebook that no living node has: rendezvous hashing. When a node comes or goes, only its own
//! share of the notebooks moves.

use notarium_core::NotebookId;
use notarium_store::Node;
use sha2::{Digest, Sha256};

/// Returns the node with the highest SHA-256(notebook ‖ instance). `None`: there are no nodes.
pub fn choice<'a>(notebook: &NotebookId, nodes: impl IntoIterator<Item = &'a Node>) -> Option<&'a Node> {
    nodes.into_iter().max_by_key(|node| weight(notebook, node))
}

fn weight(notebook: &NotebookId, node: &Node) -> [u8; 32] {
    Sha256::new()
        .chain_update(notebook.as_str())
        .chain_update([0])
        .chain_update(node.instance.as_str())
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn node(name: usize) -> Node {
        let instance = format!("node{name}").parse().unwrap();
        Node { instance, url: String::new(), is_draining: false, level: 1, version: String::new() }
    }

    fn owners(nodes: &[Node]) -> Vec<&str> {
        let notebooks = (0..10_000).map(|number| format!("notebook{number}").parse::<NotebookId>().unwrap());
        notebooks.map(|notebook| choice(&notebook, nodes).unwrap().instance.as_str()).collect()
    }

    #[test]
    fn notebooks_are_spread_evenly_and_a_lost_node_moves_its_own_alone() {
        let nodes: Vec<Node> = (0..8).map(node).collect();
        let before = owners(&nodes);
        let mut counts = BTreeMap::<_, usize>::new();
        before.iter().for_each(|owner| *counts.entry(*owner).or_default() += 1);
        assert!(counts.len() == 8 && counts.values().all(|count| (1_100..1_400).contains(count)), "{counts:?}");
        let after = owners(&nodes[1..]);
        let moved = before.iter().zip(&after).filter(|(before, after)| before != after);
        assert!(moved.clone().all(|(before, _)| *before == "node0"));
        assert_eq!(moved.count(), counts["node0"]);
    }

    #[test]
    fn without_nodes_there_is_no_choice() {
        assert_eq!(choice(&"n".parse().unwrap(), []), None);
    }
}
