//! `kernelspec` and `language_info` of an exported file: programs such as papermill run no file without them.
//!
//! A notebook that was made here has neither in its metadata: it runs on the default kernel, and the file says so. The language
//! is the running kernel's own account of itself. An imported file without a kernelspec stays without one until a kernel runs.

use notarium_core::{Document, KernelPhase, KernelSession};
use notarium_wire::ipynb::Object;
use serde::Deserialize;
use serde_json::json;

use crate::rooms::metadata;

const KERNELSPEC: &str = "kernelspec";
const LANGUAGE_INFO: &str = "language_info";
/// The kernelspec of a notebook that names none, as in `LaunchKernel`.
const DEFAULT_KERNELSPEC: &str = "python3";

#[derive(Default, Deserialize)]
#[serde(default)]
struct WithName {
    name: Option<String>,
}

/// Notes in the metadata of an imported file that it names no kernelspec.
pub fn mark_absence(metadata: &mut Object) {
    if !metadata.contains_key(KERNELSPEC) {
        metadata::put(metadata, metadata::NO_KERNELSPEC, &true);
    }
}

/// Adds kernelspec and language to the metadata of a file.
pub fn complete(metadata: &mut Object, notebook: &Document) {
    let is_left_out = metadata::take::<bool>(metadata, metadata::NO_KERNELSPEC) == Some(true);
    let own = metadata.get(KERNELSPEC).map(|own| serde_json::from_str::<WithName>(own.get()).unwrap_or_default());
    let running = started(notebook);
    match (own, running) {
        (Some(WithName { name }), Some(kernel)) if name.as_deref() == Some(&*kernel.kernelspec) => {
            add_language(metadata, kernel);
        }
        (Some(_), _) => {}
        (None, Some(kernel)) => {
            let language: WithName = serde_json::from_str(kernel.language_info.get()).unwrap_or_default();
            add_kernelspec(metadata, &kernel.kernelspec, language.name.as_deref());
            add_language(metadata, kernel);
        }
        (None, None) if is_left_out => {}
        (None, None) => {
            add_kernelspec(metadata, DEFAULT_KERNELSPEC, Some("python"));
            let has_language = metadata.contains_key(LANGUAGE_INFO);
            if !has_language {
                metadata.insert(LANGUAGE_INFO.to_owned(), metadata::to_raw(&python()));
            }
        }
    }
}

/// The default kernel, if it has started.
fn started(notebook: &Document) -> Option<&KernelSession> {
    let started = notebook.kernels.values().filter(|kernel| kernel.phase == KernelPhase::Started);
    started.min_by_key(|kernel| kernel.requested_version)
}

fn add_kernelspec(metadata: &mut Object, name: &str, language: Option<&str>) {
    let display_name = if name == DEFAULT_KERNELSPEC { "Python 3 (ipykernel)" } else { name };
    let kernelspec = match language {
        Some(language) => json!({ "display_name": display_name, "language": language, "name": name }),
        None => json!({ "display_name": display_name, "name": name }),
    };
    metadata.insert(KERNELSPEC.to_owned(), metadata::to_raw(&kernelspec));
}

fn add_language(metadata: &mut Object, kernel: &KernelSession) {
    let says_name =
        serde_json::from_str::<WithName>(kernel.language_info.get()).is_ok_and(|language| language.name.is_some());
    if says_name {
        let language = serde_json::value::RawValue::from_string(kernel.language_info.get().to_owned());
        metadata.extend(language.ok().map(|language| (LANGUAGE_INFO.to_owned(), language)));
    }
}

/// Facts of the language as Jupyter's Python kernel says them, without the version, which no kernel has said.
fn python() -> serde_json::Value {
    json!({
        "codemirror_mode": { "name": "ipython", "version": 3 },
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    })
}
