//! A planted key appears only in the header of the request.

use std::io::Write;
use std::sync::{Arc, Mutex};

use notarium_assistant::providers::{Family, ProviderSettings, SecretError, SetupError, connect_with};
use notarium_scripted::{Script, ScriptedReply, ScriptedServer};
use serde_json::json;

use crate::support::{Call, FAMILIES, FAST_RETRY, KEY, MESSAGES, ReplyParts, kind, request, rich, run, status, text};

#[tokio::test]
async fn the_key_is_sent_in_the_header_of_its_protocol_and_not_in_the_body() {
    for (family, header, value) in FAMILIES.map(|family| match family {
        MESSAGES => (family, "x-api-key", KEY.to_owned()),
        _ => (family, "authorization", format!("Bearer {KEY}")),
    }) {
        let script = Script { key: Some(KEY.into()), ..Script::of([text("hi")]) };
        let call = Call::of(family, script).await;
        call.ask().await.reply();
        let sent = &call.server.requests()[0];
        let keyed: Vec<_> = sent.headers.iter().filter(|(_, value)| value.contains(KEY)).collect();
        assert_eq!(keyed, [&(header.to_owned(), value)]);
        assert!(!sent.body.contains(KEY));
    }
}

#[tokio::test]
async fn a_wrong_key_is_told_without_repeating_it() {
    for family in FAMILIES {
        let script = Script { key: Some("another".into()), ..Script::of([text("hi")]) };
        let call = Call::of(family, script).await;
        let failure = call.ask().await.failure().clone();
        // The server repeats the key in its response.
        assert_eq!(kind(&failure.error).as_str(), "WrongKey");
        let shown = format!("{failure} {failure:?}");
        assert!(shown.contains("[key]") && !shown.contains(KEY), "{shown}");
        assert_eq!(call.server.requests().len(), 1);
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_log_line_and_no_event_shows_the_key() {
    let log = Log::default();
    let writer = log.clone();
    // Set for the whole process, so the logs of other tests are checked too.
    let filter = "notarium_assistant=trace,reqwest=trace,hyper_util=trace";
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(move || writer.clone());
    tracing::subscriber::set_global_default(lines.finish()).unwrap();
    for family in FAMILIES {
        let leaky = |code| ScriptedReply { body: Some(json!({ "error": { "message": KEY } })), ..status(code) };
        let cut = ScriptedReply { cut_after_bytes: Some(1_500), ..rich() };
        let call = Call::of(family, Script::of([leaky(500), leaky(429), text(""), cut, leaky(400)])).await;
        for _ in 0..2 {
            let shown = format!("{:?}", call.ask().await);
            assert!(!shown.contains(KEY), "{shown}");
        }
    }
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("model call failed"), "something was logged: {}", logged.len());
    let line = logged.lines().find(|line| line.contains(KEY));
    assert_eq!(line, None);
}

#[tokio::test]
async fn a_key_file_is_used_and_comes_before_the_environment() {
    use std::os::unix::fs::PermissionsExt;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "from-the-file\n").unwrap();
    let script = Script { key: Some("from-the-file".into()), ..Script::of([text("hi")]) };
    let server = ScriptedServer::start(script).await.unwrap();
    let settings = ProviderSettings {
        base_url: Some(server.base_url()),
        key_file: Some(file.path().to_owned()),
        ..ProviderSettings::new(Family::Anthropic)
    };
    let connect = || connect_with(&settings, |_| Some(KEY.into()), FAST_RETRY, Default::default());
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = connect().err().expect("others can read the file");
    assert!(matches!(refused, SetupError::Key(SecretError::OpenToOthers { mode: 0o644, .. })), "{refused}");
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(run(&*connect().unwrap(), request("hi")).await.reply().text(), "hi");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let call = Call::once(Family::Anthropic, status(307)).await;
    assert_eq!(kind(&call.ask().await.failure().error), "BadRequest");
}

#[test]
fn settings_hold_no_key() {
    let with_key = r#"{ "family": "openai", "key": "planted" }"#;
    assert!(serde_json::from_str::<ProviderSettings>(with_key).is_err());
}
