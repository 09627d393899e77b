//! Commands, decoded once, where they arrive; everything after that uses the typed form.

use notarium_core::{Command, CommandId, ExecutionId, ExecutionReport, NotebookId, RawJson, Rejection, RejectionCode};
use notarium_wire::CommandMessage;
use sha2::{Digest, Sha256};

/// A command message with its typed command.
#[derive(Debug)]
pub struct DecodedCommand {
    pub message: CommandMessage,
    pub command: Command,
    /// SHA-256 of the body's text, by which a repeat is recognised. Answers to input requests are blanked first, so that
    /// nobody can guess them from the stored digest.
    pub digest: [u8; 32],
}

impl DecodedCommand {
    /// Decodes the body. CPU time grows with its bytes: call it outside of a room's task.
    ///
    /// # Errors
    /// `InvalidValue` if the body is not a command.
    pub fn decode(message: CommandMessage) -> Result<Self, Box<UndecodedCommand>> {
        match parse(&message.body) {
            Ok(command) => Ok(Self::of(message, command)),
            Err(rejection) => {
                let CommandMessage { id, notebook, .. } = message;
                Err(Box::new(UndecodedCommand { id, notebook, rejection }))
            }
        }
    }

    /// Builds the pair from a command whose text is the message's body.
    pub fn of(message: CommandMessage, command: Command) -> Self {
        let digest = digest(&message.body, &command);
        Self { message, command, digest }
    }
}

/// A message that could not be decoded.
#[derive(Debug)]
pub struct UndecodedCommand {
    pub id: CommandId,
    pub notebook: NotebookId,
    pub rejection: Rejection,
}

/// Parses the command of a body.
pub(crate) fn parse(body: &RawJson) -> Result<Command, Rejection> {
    Command::decode(body.get()).map_err(|error| {
        let sentence = format!("the body is not a command: {error}; see protocol/schema for the commands");
        Rejection::new(RejectionCode::InvalidValue, sentence)
    })
}

fn digest(body: &RawJson, command: &Command) -> [u8; 32] {
    if secrets(command).is_empty() {
        return Sha256::digest(body.get()).into();
    }
    let mut command = command.clone();
    blank(&mut command);
    let text = serde_json::to_string(&command).unwrap_or_default();
    Sha256::digest(text).into()
}

fn blank(command: &mut Command) {
    match command {
        Command::AnswerInput { value, .. } => value.clear(),
        Command::Batch { commands } => commands.iter_mut().for_each(blank),
        _ => {}
    }
}

/// Returns the answers to input requests in a command, which reach the kernel beside the log.
pub(crate) fn secrets(command: &Command) -> Vec<(ExecutionId, String)> {
    match command {
        Command::AnswerInput { execution_id, value } => vec![(execution_id.clone(), value.clone())],
        Command::Batch { commands } => commands.iter().flat_map(secrets).collect(),
        _ => Vec::new(),
    }
}

/// Returns true for commands by which people stop work.
pub(crate) fn is_control(command: &Command) -> bool {
    use Command as C;
    matches!(
        command,
        C::InterruptKernel { .. }
            | C::RestartKernel { .. }
            | C::ShutDownKernel { .. }
            | C::StopAll {}
            | C::CancelExecution { .. }
            | C::GiveUpExecution { .. }
    )
}

/// Returns true for reports of output, which control commands overtake.
pub(crate) fn is_output(command: &Command) -> bool {
    use ExecutionReport as R;
    matches!(
        command,
        Command::ReportExecution { report: R::Output { .. } | R::UpdateDisplay { .. } | R::Clear { .. }, .. }
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Writes each character of each string as `\uXXXX`.
    fn escaped(json: &str) -> String {
        let (mut text, mut rest) = (String::new(), json);
        while let Some(start) = rest.find('"') {
            text.push_str(&rest[..=start]);
            let mut strings = serde_json::Deserializer::from_str(&rest[start..]).into_iter::<String>();
            let string = strings.next().expect("a string").expect("a JSON string");
            string.encode_utf16().for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
            text.push('"');
            rest = &rest[start + strings.byte_offset()..];
        }
        text + rest
    }

    fn decoded(body: &str) -> DecodedCommand {
        let body = RawJson::parse(body).unwrap();
        let message = CommandMessage::new("c".parse().unwrap(), "n".parse().unwrap(), body);
        DecodedCommand::decode(message).unwrap()
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "reads the golden commands")]
    fn a_command_with_every_string_escaped_is_the_same_command() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocol/golden/commands");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let (plain, other) = (decoded(text.trim()), decoded(escaped(text.trim()).as_str()));
            // Values: metadata stays in the writing of its sender.
            let value = |decoded: &DecodedCommand| serde_json::to_value(&decoded.command).unwrap();
            assert_eq!(value(&plain), value(&other), "{text}");
            assert_eq!(is_control(&plain.command), is_control(&other.command), "{text}");
            count += 1;
        }
        assert!(count > 60, "{count} golden commands");
    }

    #[test]
    fn a_control_command_is_one_in_any_writing() {
        for stop in [r#"{"StopAll":{}}"#, r#" { "\u0053topAll" : {} }"#] {
            assert!(is_control(&decoded(stop).command), "{stop}");
        }
        assert!(!is_control(&decoded(r#"{"RenameNotebook":{"title":"StopAll"}}"#).command));
    }

    #[test]
    fn what_is_no_command_comes_back_with_its_id_and_the_reason() {
        let body = RawJson::parse(r#"{"InsertCell":{"cell_id":"a","cell_type":"code","colour":1}}"#).unwrap();
        let message = CommandMessage::new("c7".parse().unwrap(), "n".parse().unwrap(), body);
        let undecoded = DecodedCommand::decode(message).unwrap_err();
        assert_eq!((undecoded.id.as_str(), undecoded.rejection.code), ("c7", RejectionCode::InvalidValue));
        assert!(undecoded.rejection.message.contains("colour"), "{}", undecoded.rejection.message);
    }
}
