//! Text of a kernel's environment: the blob that KernelSessionStarted names.
//!
//! Two comments, `# Python VERSION` and `# PLATFORM`, then `name==version` for each installed distribution, sorted, each with a line
//! break. `pip install -r` reads it.

use std::collections::BTreeMap;

/// Feature of a server that takes `environment` in the report of a kernel's start.
pub const KERNEL_ENVIRONMENTS: &str = "kernel_environments";

/// Longest text, in bytes.
pub const MAX_ENVIRONMENT_BYTES: usize = 1 << 20;

/// Most characters of a version, a name or the platform.
const MAX_WORD_CHARACTERS: usize = 200;

/// The software that a kernel finds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvironmentText {
    /// Version of Python.
    pub python: String,
    /// Operating system, its release and the processor, as in `Linux-6.1.0-x86_64`.
    pub platform: String,
    /// Versions of the distributions by their normalised names.
    pub distributions: BTreeMap<String, String>,
}

impl EnvironmentText {
    /// Reads the text. `None` unless it has exactly this form: nothing else gets into the record.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_ENVIRONMENT_BYTES {
            return None;
        }
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let python = lines.next()?.strip_prefix("# Python ").filter(|word| is_word(word))?.to_owned();
        let platform = lines.next()?.strip_prefix("# ").filter(|word| is_word(word))?.to_owned();
        let mut distributions = BTreeMap::new();
        for line in lines {
            let (name, version) = line.split_once("==")?;
            let follows = distributions.last_key_value().is_none_or(|(last, _): (&String, _)| &**last < name);
            if !follows || !is_name(name) || !is_word(version) {
                return None;
            }
            distributions.insert(name.to_owned(), version.to_owned());
        }
        Some(Self { python, platform, distributions })
    }
}

fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.len() <= MAX_WORD_CHARACTERS && text.bytes().all(is_part)
}

/// Returns true for printable ASCII without blanks.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_WORD_CHARACTERS && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_read() {
        let text = "# Python 3.11.2\n# Linux-6.1-x86_64\nnumpy==2.1.0\npandas==2.2.3+local.1\n";
        let read = EnvironmentText::parse(text).unwrap();
        assert_eq!((&*read.python, &*read.platform), ("3.11.2", "Linux-6.1-x86_64"));
        assert_eq!(read.distributions["pandas"], "2.2.3+local.1");
        assert!(EnvironmentText::parse("# Python 3.11.2\n# Linux\n").unwrap().distributions.is_empty());
    }

    #[test]
    fn other_texts_are_refused() {
        let head = "# Python 3.11.2\n# Linux\n";
        let wrong = [
            "",
            "secret\n",
            "# Python 3.11.2\n",
            "# Python 3.11.2\n# Linux",
            &format!("{head}numpy 2.1\n"),
            &format!("{head}numpy==\n"),
            &format!("{head}Numpy==1\n"),
            &format!("{head}numpy==1 2\n"),
            &format!("{head}numpy==1\nnumpy==1\n"),
            &format!("{head}pandas==1\nnumpy==1\n"),
            &format!("{head}\n"),
            &format!("{head}a=={}\n", "1".repeat(201)),
            &format!("{head}{}", (0..200_000).map(|number| format!("n{number:06}==1\n")).collect::<String>()),
        ];
        for text in wrong {
            assert_eq!(EnvironmentText::parse(text), None, "{}", &text[..text.len().min(60)]);
        }
    }
}
