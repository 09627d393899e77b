//! Keys in outputs: recorded unchanged for a person's run, masked for an assistant's.

use crate::support::*;
use notarium_core::mask::MASK;

const KEY: &str = "sk-proj-a1B2a1B2a1B2a1B2a1B2";

#[test]
fn a_tool_s_answer_is_recorded_without_keys() {
    for end in ["ok", "error"] {
        let answer = format!("{{\"content\":\"\\n{KEY}\\n\"}}");
        let answered = json!({"ReportToolCall": {"call_id": "vars", "end": end, "result": answer}});
        let mut world = calling();
        let (events, _) = world.try_do(&reactor_of("ann"), &answered).unwrap();
        assert_eq!(world.whole(&events)[0]["ToolCallExecuted"]["result"], format!("{{\"content\":\"\\n{MASK}\\n\"}}"));
    }
}

#[test]
fn an_assistant_s_run_is_recorded_without_keys_and_a_person_s_as_it_is() {
    let shows = |text: &str| json!({"content": {"output_type": "stream", "name": "stdout", "text": text}});
    let update = |text: &str| {
        let output = json!({"content": {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}});
        json!({"update_display": {"display_id": "d", "output": output}})
    };
    let recorded = |mut world: World, end: Option<serde_json::Value>| {
        let (run, execution) = world.notebook.executions.first_key_value().unwrap();
        let (run, mut seq) = (run.to_string(), execution.output_seq + 1);
        if let Some(end) = end {
            world.step(&agent("gpu"), report(&run, seq, end));
            seq += 1;
        }
        let output = json!({"output": {"outputs": [shows(KEY), shows("plain")]}});
        let (mut events, _) = world.try_do(&agent("gpu"), &report(&run, seq, output)).unwrap();
        events.extend(world.try_do(&agent("gpu"), &report(&run, seq + 1, update(KEY))).unwrap().0);
        world.whole(&events).to_string()
    };
    let person = recorded(running(), None);
    assert!(person.matches(KEY).count() == 2 && !person.contains(MASK), "{person}");
    for end in [None, Some(json!({"lost": {"cause": "agent_lost"}}))] {
        let assistant = recorded(calling(), end);
        assert!(assistant.matches(MASK).count() == 2 && !assistant.contains(KEY), "{assistant}");
        assert!(assistant.contains("plain"), "{assistant}");
    }
}
