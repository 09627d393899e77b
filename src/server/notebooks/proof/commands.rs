//! Answers to commands, which the store keeps for retries, compared with the events of these commands.

use std::collections::HashMap;

use notarium_core::{Actor, CommandId, NotebookId, TracedCommand, Version, import_id};
use notarium_store::{EventStore, StoreError};
use notarium_wire::rest::ComparedCommands;

/// Progress of the comparison.
pub struct CommandComparison {
    compared: ComparedCommands,
    contradiction: Option<String>,
}

impl CommandComparison {
    /// Begins; finds out if the record was imported.
    pub async fn begin(store: &dyn EventStore, notebook: &NotebookId) -> Result<Self, StoreError> {
        let imported = store.command(notebook, &Actor::System.key(), &import_id()).await?;
        let imported_to = imported.map(|row| row.version);
        Ok(Self { compared: ComparedCommands { imported_to, ..ComparedCommands::default() }, contradiction: None })
    }

    /// Compares commands with their answers.
    pub async fn compare(
        &mut self,
        store: &dyn EventStore,
        notebook: &NotebookId,
        traced: &[TracedCommand],
    ) -> Result<(), StoreError> {
        if traced.is_empty() || self.contradiction.is_some() {
            return Ok(());
        }
        let wanted: Vec<(String, CommandId)> =
            traced.iter().map(|command| (command.sender.clone(), command.command_id.clone())).collect();
        let kept = store.commands(notebook, &wanted).await?;
        let kept: HashMap<_, _> = kept.iter().map(|row| ((row.actor.as_str(), &row.command_id), row)).collect();
        for command in traced {
            let found = kept.get(&(command.sender.as_str(), &command.command_id));
            let wrong = match found {
                // An imported command that was sent again later has the row of the later one.
                _ if self.is_imported(command) => continue,
                None => Some("its row in the table of commands is missing, or has another sender".to_owned()),
                Some(row) => command.contradiction(row),
            };
            let Some(wrong) = wrong else {
                self.compared.agree += 1;
                continue;
            };
            let TracedCommand { command_id, sender, version, .. } = command;
            self.contradiction = Some(format!("command {command_id} of {sender}, version {version}: {wrong}"));
            break;
        }
        Ok(())
    }

    fn is_imported(&self, command: &TracedCommand) -> bool {
        self.compared.imported_to.is_some_and(|to| command.version <= to)
    }

    /// Counts the answers to commands that led to no event. Call it when all events up to `to` were compared.
    pub async fn unproven(
        &self,
        store: &dyn EventStore,
        notebook: &NotebookId,
        to: Version,
    ) -> Result<u64, StoreError> {
        let kept = store.count_commands(notebook, to).await?;
        let marks = u64::from(self.compared.imported_to.is_some_and(|imported| imported <= to));
        Ok(kept.saturating_sub(self.compared.agree + marks))
    }

    /// Ends the comparison; returns it and the first contradiction.
    pub fn finish(self, unproven: Option<u64>) -> (ComparedCommands, Option<String>) {
        let unproven = unproven.filter(|_| self.contradiction.is_none());
        (ComparedCommands { unproven, ..self.compared }, self.contradiction)
    }
}
