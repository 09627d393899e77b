//! Functions that a kernel registers as tools for assistants: parsed and reported. A refusal is shown in the run
//! that caused it. An invalid message fails only its own registration.

use notarium_core::{CellId, Command, ExecutionId, FunctionPlace, RawObject, Risk, UserFunction};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::KernelSessionMachine;
use super::reports::{PendingCommand, notice};

/// Largest registration message; the core's own limits are lower.
const MAX_REGISTRATION_BYTES: usize = 2 << 20;

#[derive(Deserialize)]
struct Registration {
    functions: Vec<DeclaredFunction>,
}

/// A function as the kernel's module describes it. A missing risk counts as the highest.
#[derive(Deserialize)]
struct DeclaredFunction {
    name: String,
    version: Option<String>,
    description: Option<String>,
    schema: RawObject,
    risk: Option<Box<RawValue>>,
    place: Option<DefinitionPlace>,
}

/// Location of the definition, for people. Unreadable fields are left out.
#[derive(Default, Deserialize)]
#[serde(default)]
struct DefinitionPlace {
    cell_id: Option<String>,
    module: Option<String>,
    line: Option<u64>,
}

impl KernelSessionMachine {
    pub(super) fn functions(&mut self, now_ms: u64, id: Option<&String>, data: &RawValue) {
        let known = id.and_then(|id| ExecutionId::new(id).ok()).filter(|id| self.runs.contains_key(id));
        let Some(id) = known.or_else(|| self.latest.clone()) else { return };
        let Some(fence) = self.runs.get(&id).map(|run| run.fence) else { return };
        match read(data) {
            Ok((functions, places)) => {
                let command = Command::RegisterFunctions { kernel_session: self.id.clone(), fence, functions, places };
                self.push_alone(PendingCommand { registered_by: Some(id), ..PendingCommand::plain(command) });
            }
            Err(problem) => self.say_not_registered(now_ms, &id, &problem),
        }
    }

    pub(super) fn say_not_registered(&mut self, now_ms: u64, id: &ExecutionId, problem: &str) {
        let text = format!("\n[notarium: the functions were not registered: {problem}]\n");
        self.push_report(now_ms, id, notice(&text));
    }
}

fn read(data: &RawValue) -> Result<(Vec<UserFunction>, Vec<FunctionPlace>), String> {
    if data.get().len() > MAX_REGISTRATION_BYTES {
        return Err(format!("they are described in more than {} MiB", MAX_REGISTRATION_BYTES >> 20));
    }
    let registration: Registration = serde_json::from_str(data.get()).map_err(|error| error.to_string())?;
    let places = registration.functions.iter().filter_map(DeclaredFunction::place).collect();
    Ok((registration.functions.into_iter().map(UserFunction::from).collect(), places))
}

impl DeclaredFunction {
    fn place(&self) -> Option<FunctionPlace> {
        let DefinitionPlace { cell_id, module, line } = self.place.as_ref()?;
        let cell_id = cell_id.as_deref().and_then(|id| CellId::new(id).ok());
        Some(FunctionPlace { name: self.name.clone(), cell_id, module: module.clone(), line: *line })
    }
}

impl From<DeclaredFunction> for UserFunction {
    fn from(declared: DeclaredFunction) -> Self {
        let risk =
            declared.risk.and_then(|risk| serde_json::from_str(risk.get()).ok()).unwrap_or(Risk::Destructive).into();
        Self {
            name: declared.name,
            version: declared.version.unwrap_or_default(),
            description: declared.description.unwrap_or_default(),
            schema: declared.schema,
            risk,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::raw_json;

    #[test]
    fn a_risk_that_is_not_known_is_the_worst() {
        let risk = |text: &str| {
            let sent = format!(r#"{{"functions":[{{"name":"f","schema":{{}},"extra":1{text}}}]}}"#);
            read(&raw_json(sent)).map(|(functions, _)| functions[0].risk.clone())
        };
        assert_eq!(risk(r#","risk":"read""#), Ok(Risk::Read.into()));
        for text in ["", r#","risk":"harmless""#, r#","risk":7"#, r#","risk":null"#] {
            assert_eq!(risk(text), Ok(Risk::Destructive.into()), "{text}");
        }
    }

    #[test]
    fn what_is_no_registration_is_told() {
        for sent in [
            "null",
            "[]",
            "{}",
            r#"{"functions":{}}"#,
            r#"{"functions":[{"name":"f"}]}"#,
            r#"{"functions":[{"name":"f","schema":[]}]}"#,
        ] {
            assert!(read(&raw_json(sent.to_owned())).is_err(), "{sent}");
        }
    }
}
