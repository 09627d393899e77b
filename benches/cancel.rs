//! Benchmark: time from dropping a model call until the provider's server sees the disconnect.

use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use futures_util::StreamExt;
use notarium_assistant::providers::{
    CallLimits, Event, Family, Message, ProviderSettings, Request, RetryPolicy, connect_with,
};
use notarium_scripted::{AnswerOutcome, Script, ScriptedReply, ScriptedServer};
use serde_json::{Value, json};

/// Needs no server: the client's own half, against a scripted model of each wire format.
#[derive(Args)]
pub struct Cancel {
    #[arg(long, default_value_t = 50)]
    times: usize,
}

impl Cancel {
    /// Returns the medians, in the middle of a reply and before its first byte; the slower of both formats.
    pub async fn run(&self) -> Result<Value> {
        let mid_stream =
            ScriptedReply { text: Some("word ".repeat(200)), hang_after_bytes: Some(700), ..ScriptedReply::default() };
        let mute = ScriptedReply { delay_ms: 3_600_000, ..mid_stream.clone() };
        Ok(json!({
            "streaming_ms": self.slower(&mid_stream, true).await?, "waiting_ms": self.slower(&mute, false).await?,
        }))
    }

    async fn slower(&self, reply: &ScriptedReply, is_streaming: bool) -> Result<f64> {
        let mut slower = 0.0;
        for family in [Family::OpenAi, Family::Anthropic] {
            let mut times = Vec::with_capacity(self.times);
            for _ in 0..self.times.max(1) {
                times.push(cancelled(family, reply.clone(), is_streaming).await?);
            }
            times.sort_by(f64::total_cmp);
            slower = f64::max(slower, times[times.len() / 2]);
        }
        Ok(slower)
    }
}

/// Returns the milliseconds until the server sees the disconnect.
async fn cancelled(family: Family, reply: ScriptedReply, is_streaming: bool) -> Result<f64> {
    let server = ScriptedServer::start(Script::of([reply])).await?;
    let settings = ProviderSettings { base_url: Some(server.base_url()), ..ProviderSettings::new(family) };
    let key = |_: &str| Some("bench-key".to_owned());
    let provider = connect_with(&settings, key, RetryPolicy::never(), CallLimits::default())?;
    let mut stream = provider.stream(Request {
        model: provider.default_model().to_owned(),
        system: String::new(),
        messages: vec![Message::user("hello")],
        tools: Vec::new(),
        cache_key: None,
        max_tokens: 1_000,
    });
    if is_streaming {
        let Some(Ok(Event::TextDelta { .. })) = stream.next().await else { bail!("the model does not stream") };
    } else {
        tokio::select! {
            item = stream.next() => bail!("the model answered: {item:?}"),
            _ = server.wait_for(|requests| !requests.is_empty()) => {}
        }
    }
    let start = Instant::now();
    drop(stream);
    server.wait_for(|requests| requests[0].outcome == AnswerOutcome::Cancelled).await;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}
