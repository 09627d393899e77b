//! Kernel sessions: launched, claimed, started, restarted, ended, reconciled.

use crate::support::*;
use notarium_core::{EndCause, ExecutionStatus as Status, KernelPhase, KernelSessionId, RejectionCode as Code};

fn on_kernel(command: &str) -> serde_json::Value {
    json!({command: {"kernel_session": "$kernel"}})
}

fn told(command: &str) -> serde_json::Value {
    json!({command: {"kernel_session": "$kernel", "cause": "died", "detail": "why"}})
}

fn answers() -> serde_json::Value {
    json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {"name": "python"}}})
}

fn alive(sessions: &[&str]) -> serde_json::Value {
    json!({"ReconcileKernels": {"alive": sessions}})
}

#[allow(clippy::too_many_lines, reason = "a table")]
pub fn cases() -> Vec<Case> {
    let (ann, gpu, tpu) = (|| user("ann"), || agent("gpu"), || agent("tpu"));
    let unknown = |command: &str| json!({command: {"kernel_session": "nowhere"}});
    let ending = || queued().with(&user("ann"), on_kernel("ShutDownKernel"));
    let big =
        json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {"x": "x".repeat(1 << 20)}}});
    let mut cases = vec![
        case(with_cells, ann(), json!({"LaunchKernel": {}}), events(["KernelLaunchRequested"])),
        case(with_cells, ann(), json!({"LaunchKernel": {"kernelspec": ""}}), rejected(Code::InvalidValue)),
        case(
            with_cells,
            ann(),
            json!({"LaunchKernel": {"kernelspec": "x".repeat(300)}}),
            rejected(Code::LimitExceeded),
        ),
        case(archived, ann(), json!({"LaunchKernel": {}}), rejected(Code::NotebookArchived)),
        case(with_cells, user("author"), json!({"LaunchKernel": {}}), rejected(Code::Forbidden)),
        case(started, user("runner"), on_kernel("InterruptKernel"), events(["KernelInterruptRequested"])),
        case(claimed, ann(), on_kernel("InterruptKernel"), rejected(Code::KernelState)),
        case(queued, ann(), on_kernel("RestartKernel"), events(["ExecutionCancelled", "KernelRestartRequested"])),
        case(claimed, ann(), on_kernel("RestartKernel"), rejected(Code::KernelState)),
        case(ending, ann(), on_kernel("RestartKernel"), rejected(Code::KernelState)),
        case(queued, ann(), on_kernel("ShutDownKernel"), events(["ExecutionCancelled", "KernelShutdownRequested"])),
        case(claimed, ann(), on_kernel("ShutDownKernel"), events(["KernelShutdownRequested"])),
        case(launched, ann(), on_kernel("ShutDownKernel"), events(["KernelShutdownRequested", "KernelSessionEnded"])),
        case(ending, ann(), on_kernel("ShutDownKernel"), nothing()),
        case(queued, ann(), json!({"StopAll": {}}), events(["ExecutionCancelRequested", "ExecutionCancelled"])),
        case(with_cells, ann(), json!({"StopAll": {}}), nothing()),
        case(queued, user("author"), json!({"StopAll": {}}), rejected(Code::Forbidden)),
        case(launched, gpu(), on_kernel("ClaimKernelLaunch"), events(["KernelLaunchClaimed"])),
        case(claimed, gpu(), on_kernel("ClaimKernelLaunch"), nothing()),
        case(claimed, tpu(), on_kernel("ClaimKernelLaunch"), rejected(Code::AlreadyClaimed)),
        case(launched, system(), on_kernel("ClaimKernelLaunch"), rejected(Code::Forbidden)),
        case(
            launched,
            user("runner").with_role(notarium_core::Role::Agent),
            on_kernel("ClaimKernelLaunch"),
            rejected(Code::Forbidden),
        ),
        case(claimed, gpu(), answers(), events(["KernelSessionStarted"])),
        case(started, gpu(), answers(), nothing()),
        case(claimed, tpu(), answers(), rejected(Code::StaleFence)),
        case(launched, tpu(), answers(), rejected(Code::StaleFence)),
        case(launched, system(), answers(), rejected(Code::KernelState)),
        case(ending, gpu(), answers(), rejected(Code::KernelState)),
        case(claimed, gpu(), big, rejected(Code::LimitExceeded)),
        case(claimed, gpu(), told("ReportKernelLaunchFailed"), events(["KernelLaunchFailed"])),
        case(launched, system(), told("ReportKernelLaunchFailed"), events(["KernelLaunchFailed"])),
        case(claimed, tpu(), told("ReportKernelLaunchFailed"), rejected(Code::StaleFence)),
        case(running, gpu(), told("ReportKernelLaunchFailed"), rejected(Code::KernelState)),
        case(
            queued,
            gpu(),
            told("ReportKernelEnded"),
            events(["ExecutionLost", "ExecutionCancelled", "KernelSessionEnded"]),
        ),
        case(ending, gpu(), told("ReportKernelEnded"), events(["ExecutionCancelled", "KernelSessionEnded"])),
        case(queued, tpu(), told("ReportKernelEnded"), rejected(Code::StaleFence)),
        case(
            queued,
            system(),
            told("ReportKernelEnded"),
            events(["ExecutionLost", "ExecutionCancelled", "KernelSessionEnded"]),
        ),
        case(
            with_cells,
            gpu(),
            json!({"ReportKernelEnded": {"kernel_session": "nowhere", "cause": "died", "detail": "why"}}),
            nothing(),
        ),
        case(queued, gpu(), alive(&["$kernel"]), nothing()),
        case(queued, gpu(), alive(&[]), events(["ExecutionLost", "ExecutionCancelled", "KernelSessionEnded"])),
        case(queued, tpu(), alive(&[]), nothing()),
        case(queued, system(), alive(&[]), nothing()),
        case(queued, user("ann"), alive(&[]), rejected(Code::Forbidden)),
    ];
    for command in ["InterruptKernel", "RestartKernel", "ShutDownKernel"] {
        cases.push(case(started, ann(), unknown(command), rejected(Code::UnknownKernelSession)));
        cases.push(case(started, user("author"), on_kernel(command), rejected(Code::Forbidden)));
    }
    cases.push(case(started, gpu(), unknown("ClaimKernelLaunch"), rejected(Code::UnknownKernelSession)));
    let nowhere = json!({"ReportKernelStarted": {"kernel_session": "nowhere", "language_info": {}}});
    cases.push(case(started, gpu(), nowhere, rejected(Code::UnknownKernelSession)));
    let nowhere = json!({"ReportKernelLaunchFailed": {"kernel_session": "nowhere", "cause": "died", "detail": "why"}});
    cases.push(case(started, gpu(), nowhere, rejected(Code::UnknownKernelSession)));
    for command in ["ReportKernelLaunchFailed", "ReportKernelEnded"] {
        cases.push(case(claimed, user("ann"), told(command), rejected(Code::Forbidden)));
    }
    cases.push(case(claimed, user("ann"), answers(), rejected(Code::Forbidden)));
    cases
}

#[test]
fn every_kernel_command_is_accepted_or_refused_as_written() {
    check_all("kernels", &cases());
}

fn session(world: &World, name: &str) -> Option<notarium_core::KernelSession> {
    let id = KernelSessionId::new(world.names[name].trim_matches('"')).unwrap();
    world.notebook.kernels.get(&id).cloned()
}

#[test]
fn a_notebook_has_a_bounded_number_of_kernels_of_its_own_kernelspec() {
    let mut world = with_cells();
    world.limits.max_kernels = 1;
    world.step(&user("ann"), json!({"SetNotebookMetadata": {"metadata": {"kernelspec": {"name": "ir"}}}}));
    world.step(&user("ann"), json!({"LaunchKernel": {}}));
    assert_eq!(world.notebook.kernels.values().next().unwrap().kernelspec, "ir");
    assert_eq!(world.try_do(&user("ann"), &json!({"LaunchKernel": {}})).unwrap_err().code, Code::LimitExceeded);
}

#[test]
fn the_start_gives_the_fence_and_the_first_of_the_queue() {
    let mut world = claimed().with(&user("ann"), request("a", "run-a")).with(&user("ann"), request("c", "run-c"));
    let before = world.version();
    let (events, _) = world.try_do(&agent("gpu"), &answers()).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"KernelSessionStarted": {"kernel_session": "$kernel", "agent": "gpu", "kernelspec": "python3", "language_info": {"name": "python"}}},
            {"ExecutionAssigned": {"execution_id": "run-a", "kernel_session": "$kernel", "agent": "gpu", "fence": 17}},
        ])
    );
    assert_eq!(session(&world, "kernel").unwrap().fence, Some(before + 1));
    assert_eq!(world.execution("run-a").unwrap().fence, Some(before + 1));
    assert_eq!(world.status("run-c"), Status::Queued);
}

#[test]
fn a_failed_launch_tells_everybody_its_cause_until_the_next_start() {
    let mut world = claimed().with(&user("ann"), request("a", "run-a"));
    let (events, _) = world.try_do(&agent("gpu"), &told("ReportKernelLaunchFailed")).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"ExecutionCancelled": {"execution_id": "run-a", "cause": "kernel_not_started", "detail": "the kernel did not start: why"}},
            {"KernelLaunchFailed": {"kernel_session": "$kernel", "cause": "died", "detail": "why"}},
        ])
    );
    assert_eq!(world.notebook.kernel_notice.as_ref().unwrap().sentence(), "why");
    assert!(world.execution("run-a").unwrap().notice.as_ref().unwrap().contains("why"));
    let next = world.step(&user("ann"), json!({"LaunchKernel": {}})).kernel_session.unwrap();
    world.name("kernel", format!("\"{next}\""));
    world.step(&agent("gpu"), on_kernel("ClaimKernelLaunch"));
    world.step(&agent("gpu"), answers());
    assert_eq!(world.notebook.kernel_notice, None);
}

#[test]
fn an_end_that_people_asked_for_is_no_news() {
    for (given, by_agent) in [(launched as fn() -> World, false), (running, true)] {
        let mut world = given().with(&user("ann"), on_kernel("ShutDownKernel"));
        if by_agent {
            world.step(&agent("gpu"), told("ReportKernelEnded"));
        }
        assert_eq!(world.notebook.kernel_notice, None);
        assert!(world.notebook.kernels.is_empty());
    }
}

#[test]
fn a_shutdown_while_the_kernel_is_being_started_ends_it_when_the_agent_says_so() {
    let mut world = claimed().with(&user("ann"), request("a", "run-a")).with(&user("ann"), on_kernel("ShutDownKernel"));
    assert_eq!(world.status("run-a"), Status::Cancelled);
    assert_eq!(world.try_do(&agent("gpu"), &answers()).unwrap_err().code, Code::KernelState);
    world.step(&agent("gpu"), told("ReportKernelEnded"));
    assert!(world.notebook.kernels.is_empty());
}

#[test]
fn a_restart_cancels_runs_takes_new_ones_and_stays_the_default_kernel() {
    let mut world = queued();
    let other = world.step(&user("ann"), json!({"LaunchKernel": {}})).kernel_session.unwrap();
    let next = world.step(&user("ann"), on_kernel("RestartKernel")).kernel_session.unwrap();
    assert_ne!(next, other);
    assert_eq!(world.status("run-c"), Status::Cancelled);
    let on = world.step(&user("ann"), request("c", "run-c2")).kernel_session.unwrap();
    assert_eq!(on, next, "not the second kernel");
    world.step(&agent("gpu"), told("ReportKernelEnded"));
    assert_eq!(world.status("run-a"), Status::Cancelled, "people wanted it");
    world.name("kernel", format!("\"{next}\""));
    assert_eq!(session(&world, "kernel").unwrap().phase, KernelPhase::Claimed);
    world.step(&agent("gpu"), answers());
    assert_eq!(world.status("run-c2"), Status::Assigned);
}

#[test]
fn the_next_session_may_start_before_the_old_one_is_said_to_have_ended() {
    let mut world = running();
    let next = world.step(&user("ann"), on_kernel("RestartKernel")).kernel_session.unwrap();
    world.step(&user("ann"), request("c", "run-c"));
    let old = world.names["kernel"].clone();
    world.name("kernel", format!("\"{next}\""));
    world.step(&agent("gpu"), answers());
    assert_eq!(world.status("run-c"), Status::Assigned);
    world.step(&agent("gpu"), report("run-a", 2, completed(false)));
    world.name("kernel", old);
    world.step(&agent("gpu"), told("ReportKernelEnded"));
    assert_eq!(world.status("run-c"), Status::Assigned);
    assert_eq!(world.notebook.kernels.len(), 1);
}

#[test]
fn a_dead_kernel_is_lost_with_its_cause_and_the_next_request_launches_anew() {
    let mut world = queued().with(&agent("gpu"), end_kernel());
    assert_eq!(world.status("run-a"), Status::Lost);
    assert_eq!(world.execution("run-a").unwrap().notice.as_deref(), Some("killed"));
    assert_eq!(world.status("run-c"), Status::Cancelled);
    assert_eq!(world.notebook.kernel_notice.as_ref().unwrap().sentence(), "killed");
    let (events, _) = world.try_do(&user("ann"), &request("a", "again")).unwrap();
    assert_eq!(
        world.whole(&events),
        json!([
            {"KernelLaunchRequested": {"kernel_session": "000000YGJM00000000000181R8", "kernelspec": "python3", "replaces": {"kernel_session": "$kernel", "cause": "died", "detail": "killed"}}},
            {"ExecutionRequested": {"execution_id": "again", "subject": {"kind": "cell", "cell_id": "a", "cell_version": 8, "source": "x = 1"}, "cause": "requested", "effects": "free", "kernel_session": "000000YGJM00000000000181R8"}},
        ])
    );
}

#[test]
fn an_agent_that_comes_back_without_a_kernel_that_it_was_starting_loses_that_too() {
    let mut world = claimed().with(&user("ann"), request("a", "run-a"));
    let old = world.notebook.kernels.keys().next().unwrap().clone();
    world.step(&agent("gpu"), alive(&[]));
    assert!(!world.notebook.kernels.contains_key(&old));
    assert_eq!(
        (world.notebook.kernels.len(), world.status("run-a")),
        (1, Status::Queued),
        "another is launched for it"
    );
}

#[test]
fn a_cause_is_cut_at_its_limit() {
    let mut world = claimed();
    world.limits.max_cause_characters = 3;
    world.step(
        &agent("gpu"),
        json!({"ReportKernelEnded": {"kernel_session": "$kernel", "cause": "died", "detail": "äöüß"}}),
    );
    assert_eq!(world.notebook.kernel_notice.as_ref().unwrap().sentence(), "äöü");
}

#[test]
fn an_archived_notebook_still_lets_its_runs_end() {
    let mut world = queued().with(&user("ann"), json!({"ArchiveNotebook": {}}));
    world.step(&agent("gpu"), report("run-a", 2, completed(true)));
    world.step(&user("ann"), json!({"StopAll": {}}));
    world.step(&user("ann"), on_kernel("ShutDownKernel"));
    world.step(&agent("gpu"), told("ReportKernelEnded"));
    assert!(world.notebook.kernels.is_empty());
}

/// The kernel's agent is unreachable.
fn cut_off(mut world: World) -> World {
    let id = world.names["kernel"].trim_matches('"').parse().unwrap();
    world.unreachable.insert(id);
    world
}

#[test]
fn a_restart_of_a_kernel_that_cannot_be_reached_is_a_launch_for_any_agent() {
    for given in [running as fn() -> World, queued, claimed] {
        let mut world = cut_off(given());
        let next = world.step(&user("ann"), on_kernel("RestartKernel")).kernel_session.unwrap();
        assert_eq!(world.notebook.kernels.len(), 1);
        let session = &world.notebook.kernels[&next];
        assert_eq!((session.phase, &session.agent), (KernelPhase::Requested, &None));
        assert!(world.notebook.executions.values().all(|run| run.status.is_finished()));
        world.name("kernel", format!("\"{next}\""));
        world.step(&agent("tpu"), on_kernel("ClaimKernelLaunch"));
    }
    let mut ending = cut_off(queued().with(&user("ann"), on_kernel("RestartKernel")));
    ending.step(&user("ann"), on_kernel("RestartKernel"));
}

#[test]
fn a_kernel_that_cannot_be_reached_is_shut_down_at_once() {
    let mut world = cut_off(queued());
    let (events, _) = world.try_do(&user("ann"), &on_kernel("ShutDownKernel")).unwrap();
    assert_eq!(
        types(&events),
        ["KernelShutdownRequested", "ExecutionLost", "ExecutionCancelled", "KernelSessionEnded"]
    );
    assert!(world.notebook.kernels.is_empty() && world.notebook.kernel_notice.is_none());
    let late = world.try_do(&agent("gpu"), &report("run-a", 2, output(&["late"]))).unwrap();
    assert_eq!(types(&late.0), ["ExecutionOutputRecovered"]);
}

#[test]
fn giving_up_a_run_that_cannot_be_reached_frees_the_queue() {
    let mut world = cut_off(queued());
    world.step(&user("ann"), json!({"GiveUpExecution": {"execution_id": "run-a"}}));
    assert_eq!((world.status("run-a"), world.status("run-c")), (Status::Lost, Status::Cancelled));
    let (events, _) = world.try_do(&user("ann"), &request("a", "again")).unwrap();
    assert_eq!(types(&events), ["KernelLaunchRequested", "ExecutionRequested"]);
}

#[test]
fn a_run_goes_elsewhere_by_itself_only_where_no_variables_are_lost() {
    for given in [claimed as fn() -> World, started] {
        let mut world = cut_off(given());
        let (events, _) = world.try_do(&user("ann"), &request("a", "run")).unwrap();
        assert_eq!(types(&events), ["KernelSessionEnded", "KernelLaunchRequested", "ExecutionRequested"]);
        assert_eq!(world.notebook.kernels.len(), 1);
    }
    let mut used = cut_off(running());
    let (events, _) = used.try_do(&user("ann"), &request("a", "run")).unwrap();
    assert_eq!(types(&events), ["ExecutionRequested"]);
}

#[test]
fn the_first_launch_after_a_loss_says_what_is_gone_and_the_next_does_not() {
    let lost = |world: &mut World| {
        let (events, outcome) = world.try_do(&user("ann"), &json!({"LaunchKernel": {}})).unwrap();
        world.name("kernel", format!("\"{}\"", outcome.kernel_session.unwrap()));
        world.whole(&events)[0]["KernelLaunchRequested"]["replaces"].clone()
    };
    let mut world = running().with(&agent("gpu"), told("ReportKernelEnded"));
    let said = lost(&mut world);
    assert_eq!((&said["cause"], &said["detail"]), (&json!("died"), &json!("why")));
    assert_eq!(lost(&mut world), json!(null), "once");
    // The kernel had run nothing; then people had requested the end.
    assert_eq!(lost(&mut started().with(&agent("gpu"), told("ReportKernelEnded"))), json!(null));
    let asked = running().with(&user("ann"), on_kernel("ShutDownKernel"));
    assert_eq!(lost(&mut asked.with(&agent("gpu"), told("ReportKernelEnded"))), json!(null));
}

#[test]
fn a_run_that_ends_with_its_kernel_says_what_was_asked_of_that() {
    let ended = json!({"ReportKernelEnded": {"kernel_session": "$kernel", "cause": "shut_down"}});
    for (asked, cause) in [("RestartKernel", EndCause::KernelRestarted), ("ShutDownKernel", EndCause::KernelShutDown)] {
        let world = running().with(&user("ann"), json!({"CancelExecution": {"execution_id": "run-a"}}));
        let world = world.with(&user("ann"), on_kernel(asked)).with(&agent("gpu"), ended.clone());
        let run = world.execution("run-a").unwrap();
        assert_eq!((run.status, run.end_cause.clone()), (Status::Cancelled, Some(cause.into())));
    }
}

/// A kernel that says which software it finds.
pub fn with_environment() -> World {
    let mut report = answers();
    report["ReportKernelStarted"]["environment"] = json!({"sha256": "ab".repeat(32), "size_bytes": 7});
    claimed().with(&agent("gpu"), report)
}

#[test]
fn the_environment_of_a_kernel_is_recorded() {
    let world = with_environment();
    let payload = world.log.last().unwrap().payload.get();
    assert!(
        payload.contains(&format!(r#""environment":{{"sha256":"{}","size_bytes":7}}"#, "ab".repeat(32))),
        "{payload}"
    );
}
