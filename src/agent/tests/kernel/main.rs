//! The kernel driver against a real ipykernel. `NOTARIUM_TEST_PYTHON` names a Python that has it; `make test` makes one
//! in `target/test-venv`.

mod functions;
mod questions;
mod scene;

use std::path::Path;
use std::time::{Duration, Instant};

use notarium_agent::kernel::{
    EndCause, ExecuteRequest, ExitStatus, Kernel, KernelEvent, LaunchError, LaunchOptions, LossReason, TransportChoice,
};
use notarium_agent::outputs::KernelOutput;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use scene::*;

#[tokio::test]
async fn every_kind_of_output_comes_in_order() {
    let mut test = Test::start().await;
    let source =
        "import sys\nprint('out', flush=True)\nprint('err', file=sys.stderr, flush=True)\ndisplay('shown')\n6 * 7";
    let expected = [
        "started:",
        "stdout:out\n",
        "stderr:err\n",
        "display_data:\"'shown'\"",
        "execute_result:\"42\"",
        "finished:Ok 1",
    ];
    assert_eq!(test.shown(source).await, expected);
    let failed = test.shown("1 / 0").await;
    assert_eq!(failed, ["started:", "error:\"ZeroDivisionError\"", "finished:Error 2"]);
}

#[tokio::test]
async fn displays_are_updated_and_cleared() {
    let mut test = Test::start().await;
    let source = "h = display('a', display_id='d')\nh.update('b')\nfrom IPython.display import clear_output\nclear_output(wait=True)\nprint('c')";
    let expected =
        ["started:", "display_data:\"'a'\" as d", "update:d \"'b'\"", "clear:true", "stdout:c\n", "finished:Ok 1"];
    assert_eq!(test.shown(source).await, expected);
}

#[tokio::test]
async fn input_is_asked_and_answered() {
    let mut test = Test::start().await;
    let id = test.execute("import getpass\nprint(input('name? ') + getpass.getpass('secret? '))").await;
    test.until(
        |event| matches!(event, KernelEvent::InputRequest { prompt, password: false, .. } if prompt == "name? "),
    )
    .await;
    test.kernel.answer_input("Ada ✓ ").unwrap();
    test.until(
        |event| matches!(event, KernelEvent::InputRequest { prompt, password: true, .. } if prompt == "secret? "),
    )
    .await;
    test.kernel.answer_input("pw").unwrap();
    let events = test.until(|event| is_finished(event, &id)).await;
    assert_eq!(shown(&events), ["stdout:Ada ✓ pw\n", "finished:Ok 1"]);
}

#[tokio::test]
async fn an_input_request_can_be_interrupted() {
    let mut test = Test::start().await;
    let id = test.execute("input()").await;
    test.until(|event| matches!(event, KernelEvent::InputRequest { .. })).await;
    test.kernel.interrupt().unwrap();
    let events = test.until(|event| is_finished(event, &id)).await;
    assert_eq!(shown(&events).last().unwrap(), "finished:Error 1");
}

#[tokio::test]
async fn an_error_leaves_what_waits_alone() {
    let mut test = Test::start().await;
    test.execute("import time; time.sleep(0.3); 1 / 0").await;
    let events = test.run("print('ran')").await;
    assert!(shown(&events).contains(&"stdout:ran\n".to_owned()), "{events:?}");
}

#[tokio::test]
async fn a_flood_is_interrupted_at_once() {
    let mut test = Test::start().await;
    let source = "import time\ni = 0\ntry:\n    while True:\n        print('line', i, flush=True)\n        i += 1\nexcept KeyboardInterrupt:\n    print('stopped', time.time())";
    let id = test.execute(source).await;
    test.until_text("line 2000\n").await;
    let interrupted = seconds_since_epoch();
    test.kernel.interrupt().unwrap();
    let events = test.until(|event| is_finished(event, &id)).await;
    let text = shown(&events).concat();
    let stopped = text.split("stopped ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    let took = stopped.parse::<f64>().unwrap() - interrupted;
    // The limit is 0.2 s, but the machine that runs the tests may be busy.
    assert!(took < 3.0, "{took} s");
}

fn seconds_since_epoch() -> f64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64()
}

#[tokio::test]
async fn an_interrupt_that_comes_early_is_not_lost() {
    let mut test = Test::start().await;
    let id = test.execute("import time\ntime.sleep(100)").await;
    test.kernel.interrupt().unwrap();
    let events = test.until(|event| is_finished(event, &id)).await;
    assert_eq!(shown(&events), ["started:", "error:\"KeyboardInterrupt\"", "finished:Error 1"]);
}

#[tokio::test]
async fn an_interrupt_does_not_wait_for_a_slow_reader() {
    let mut test = Test::start_with(|options| options.max_waiting_bytes = 100_000).await;
    let marker = test.folder.path().join("interrupted");
    let source = "try:\n    while True: print('x' * 1000, flush=True)\nexcept KeyboardInterrupt:\n    open('interrupted', 'w').close()";
    let id = test.execute(source).await;
    test.until_text("x").await;
    // No events are read now: the kernel is blocked by its own output, or will be soon.
    test.kernel.interrupt().unwrap();
    wait_for_file(&marker).await;
    test.until(|event| is_finished(event, &id)).await;
}

#[tokio::test]
async fn nothing_is_lost_at_a_slow_reader() {
    let mut test = Test::start_with(|options| options.max_waiting_bytes = 1 << 20).await;
    let id = test.execute("for i in range(20_000): print(i, 'x' * 200, flush=True)").await;
    test.until(|event| matches!(event, KernelEvent::Output { .. })).await;
    // Longer than ipykernel's own queue of 1,000 messages would last.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let events = test.until(|event| is_finished(event, &id)).await;
    // One output was taken above; each flush is a separate message.
    let lines = shown(&events).concat().lines().filter(|line| line.ends_with("xxx")).count();
    assert!(lines >= 19_999, "{lines}");
    assert!(!events.iter().any(|event| matches!(event, KernelEvent::OutputsLost { .. })));
}

/// Limit of memory growth, in kibibytes.
const MAX_KERNEL_GROWTH: u64 = 160 << 10;

#[tokio::test]
async fn what_is_written_faster_than_it_is_read_does_not_pile_up_in_the_kernel() {
    let mut test = Test::start_with(|options| options.max_waiting_bytes = 1 << 20).await;
    let flood = "import resource\n\
                 peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n\
                 before = peak()\n\
                 for i in range(150): print('x' * 1_000_000)\n\
                 for i in range(150): display({'text/plain': 'x' * 1_000_000}, raw=True)\n\
                 open('grown', 'w').write(str(peak() - before))";
    let id = test.execute(flood).await;
    let events = test.until(|event| is_finished(event, &id)).await;
    let bytes: usize = events.iter().map(|event| brief(event).1.len()).sum();
    assert!(bytes > 300_000_000, "{bytes} bytes came");
    let grown = std::fs::read_to_string(test.folder.path().join("grown")).unwrap();
    println!("the kernel grew by {grown} KiB");
    assert!(grown.parse::<u64>().unwrap() < MAX_KERNEL_GROWTH, "the kernel grew by {grown} KiB");
}

#[tokio::test]
async fn lost_output_of_another_kernel_is_told() {
    let folder = tempfile::tempdir().unwrap();
    // Written as one word, the module is not replaced by the launcher: such a kernel drops output that is not read in time.
    let kernelspec = kernelspec(&folder, &[&python(), "-mipykernel_launcher", "-f", "{connection_file}"]);
    let working_dir = folder.path().to_owned();
    let options = LaunchOptions {
        working_dir,
        max_waiting_bytes: 1 << 20,
        idle_timeout: Duration::from_secs(1),
        ..LaunchOptions::default()
    };
    let mut test = Test::launch(folder, kernelspec, options).await;
    let id = test.execute("for i in range(10_000): print(i, 'x' * 2000, flush=True)\nopen('done', 'w').close()").await;
    // Events are not read until the kernel has written everything.
    wait_for_file(&test.folder.path().join("done")).await;
    let events = test.until(|event| is_finished(event, &id)).await;
    let lost = KernelEvent::OutputsLost { execution_id: Some(id), reason: LossReason::EndMissing };
    assert!(events.iter().any(|event| format!("{event:?}") == format!("{lost:?}")), "{:?}", events.last());
}

async fn wait_for_file(path: &Path) {
    let since = Instant::now();
    while !path.exists() {
        assert!(since.elapsed() < PATIENCE, "{} is not written", path.display());
        // No event reports a file that another process writes.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn two_hundred_thousand_lines_arrive_in_order() {
    let mut test = Test::start().await;
    let events = test.run("for i in range(200_000): print('line', i)").await;
    let shown = shown(&events);
    assert_eq!(shown.len(), 3, "started, one stream, finished");
    let mut lines = shown[1].trim_start_matches("stdout:").lines();
    for number in 0..200_000 {
        assert_eq!(lines.next(), Some(format!("line {number}").as_str()));
    }
    assert_eq!(lines.next(), None);
}

#[tokio::test]
async fn a_hundred_megabytes_are_displayed() {
    let mut test = Test::start().await;
    let events = test.run("display({'text/plain': 'x' * 100_000_000}, raw=True)").await;
    let bytes = events.iter().find_map(|event| match event {
        KernelEvent::Output { output: KernelOutput::Object { output, .. }, .. } => Some(output.get().len()),
        _ => None,
    });
    assert!(bytes.unwrap() > 100_000_000);
}

#[tokio::test]
async fn bytes_that_are_no_text_become_replacement_characters() {
    let mut test = Test::start().await;
    let source = "import os, sys, time\nos.write(1, b'\\xff\\xfe\\n')\nos.system(\"printf 'sub\\\\377\\\\n'\")\ntime.sleep(1)\nsys.stdout.flush()\nprint('\\udcff lone')";
    let text = test.shown(source).await.concat();
    for expected in ["\u{fffd}\u{fffd}\n", "sub\u{fffd}\n", "lone\n", "finished:Ok"] {
        assert!(text.contains(expected), "{expected:?} in {text:?}");
    }
}

#[tokio::test]
async fn threads_may_write_after_the_end() {
    let mut test = Test::start().await;
    let source = "import threading, sys\ngo = threading.Event()\ndef work():\n    go.wait()\n    print('late')\n    sys.stdout.flush()\nthreading.Thread(target=work).start()";
    test.run(source).await;
    test.execute("go.set()").await;
    test.until_text("late").await;
}

#[tokio::test]
async fn a_shutdown_ends_what_ran_and_the_next_kernel_knows_no_variables() {
    let mut test = Test::start().await;
    test.run("x = 1").await;
    test.execute("print('on')\nimport time\ntime.sleep(100)").await;
    test.until_text("on").await;
    let Test { kernel, mut events, folder, next } = test;
    kernel.shutdown(LaunchOptions::default().shutdown_timeout).await;
    let mut ended = None;
    while let Some(event) = events.recv().await {
        ended = Some(event);
    }
    let Some(KernelEvent::Ended { cause, unfinished }) = ended else { panic!("{ended:?}") };
    assert_eq!((cause, next, unfinished), (EndCause::Shutdown, 2, vec!["run 2".to_owned()]));
    let mut test = Test::launch_in(folder).await;
    assert_eq!(test.shown("'x' in globals()").await[1], "execute_result:\"False\"");
}

#[tokio::test]
async fn shutdown_ends_a_busy_kernel_and_its_programs() {
    let mut test = Test::start_with(|options| options.shutdown_timeout = Duration::from_millis(500)).await;
    let source = "import subprocess, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\np = subprocess.Popen(['sleep', '1000'])\nprint('pid', p.pid, flush=True)\np.wait()";
    test.execute(source).await;
    let events =
        test.until(|event| matches!(brief(event), (kind, text) if kind == "stdout" && text.starts_with("pid"))).await;
    let child: i32 = brief(&events[events.len() - 1]).1.trim_start_matches("pid").trim().parse().unwrap();
    test.kernel.shutdown(LaunchOptions::default().shutdown_timeout).await;
    let mut ended = None;
    while let Some(event) = test.events.recv().await {
        ended = Some(event);
    }
    assert!(matches!(ended, Some(KernelEvent::Ended { cause: EndCause::Shutdown, .. })), "{ended:?}");
    assert!(!is_running(child), "the program outlived its kernel");
    assert!(
        !std::fs::read_dir(test.folder.path()).unwrap().any(|entry| entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with("nk-"))
    );
}

fn is_running(process_id: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process_id}/stat")).unwrap_or_default();
    !(stat.is_empty() || stat.contains(") Z "))
}

#[tokio::test]
async fn an_idle_kernel_shuts_down_when_asked() {
    let mut test = Test::start().await;
    test.run("1").await;
    let asked = Instant::now();
    test.kernel.shutdown(LaunchOptions::default().shutdown_timeout).await;
    assert!(asked.elapsed() < LaunchOptions::default().shutdown_timeout, "it had to be killed");
}

#[tokio::test]
async fn dropping_a_kernel_kills_it() {
    let mut test = Test::start().await;
    drop(test.kernel);
    let mut last = None;
    while let Some(event) = test.events.recv().await {
        last = Some(event);
    }
    assert!(matches!(last, Some(KernelEvent::Ended { .. })));
}

#[tokio::test]
async fn a_killed_kernel_is_noticed_at_once_with_the_cause() {
    let mut test = Test::start().await;
    test.execute("print('before', flush=True)\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)").await;
    let since = Instant::now();
    let events = test.until(|event| matches!(event, KernelEvent::Ended { .. })).await;
    assert!(since.elapsed() < Duration::from_secs(5));
    let Some(KernelEvent::Ended { cause, unfinished }) = events.last() else { panic!("{events:?}") };
    assert!(matches!(cause, EndCause::Died { status: ExitStatus::Signal(9), .. }), "{cause}");
    assert_eq!(unfinished, &["run 1"]);
    assert!(test.kernel.execute(ExecuteRequest::new("after", "1")).await.is_err());
    assert!(test.kernel.interrupt().is_err());
    let mut test = Test::launch_in(test.folder).await;
    assert_eq!(test.shown("1 + 1").await[1], "execute_result:\"2\"");
}

#[tokio::test]
async fn a_kernel_that_exits_says_why() {
    let mut test = Test::start().await;
    test.execute("import os\nos.write(2, b'last words\\n')\nos._exit(3)").await;
    let events = test.until(|event| matches!(event, KernelEvent::Ended { .. })).await;
    let Some(KernelEvent::Ended { cause, .. }) = events.last() else { panic!("{events:?}") };
    assert!(matches!(cause, EndCause::Died { status: ExitStatus::Code(3), .. }), "{cause}");
}

async fn launch_error(kernel_json: &Value, options: LaunchOptions) -> LaunchError {
    let folder = tempfile::tempdir().unwrap();
    let (sender, _events) = mpsc::channel(1);
    Kernel::launch(kernelspec_from(&folder, kernel_json), options, sender).await.unwrap_err()
}

#[tokio::test]
async fn a_kernel_that_fails_to_start_shows_what_it_wrote() {
    let script = "echo 'no such module' >&2; exit 7";
    let error = launch_error(&json!({"argv": ["/bin/sh", "-c", script]}), LaunchOptions::default()).await;
    assert!(matches!(error, LaunchError::Exited { status: ExitStatus::Code(7), .. }));
    assert_eq!(
        error.to_string(),
        "the kernel process exited with code 7 before it answered; it wrote:\nno such module"
    );
}

#[tokio::test]
async fn a_missing_program_is_named() {
    for program in ["no-such-program-here", "/no/such/python"] {
        let error = launch_error(&json!({"argv": [program]}), LaunchOptions::default()).await;
        assert!(matches!(&error, LaunchError::MissingExecutable { program: named, .. } if named == program), "{error}");
    }
}

#[tokio::test]
async fn a_missing_working_folder_is_named() {
    let options = LaunchOptions { working_dir: "/no/such/folder".into(), ..LaunchOptions::default() };
    assert!(matches!(launch_error(&json!({"argv": ["sh"]}), options).await, LaunchError::MissingWorkingDir(_)));
}

#[tokio::test]
async fn a_kernel_that_never_answers_is_given_up() {
    let options = LaunchOptions { launch_timeout: Duration::from_secs(1), ..LaunchOptions::default() };
    let error = launch_error(&json!({"argv": ["/bin/sh", "-c", "echo hm; sleep 1000"]}), options).await;
    assert!(matches!(&error, LaunchError::Timeout { output_tail, .. } if output_tail == "hm"), "{error}");
}

#[tokio::test]
async fn tcp_is_there_for_kernels_that_need_it() {
    let mut test = Test::start_with(|options| options.transport = TransportChoice::Tcp).await;
    assert_eq!(test.shown("1 + 1").await[1], "execute_result:\"2\"");
    let long = tempfile::tempdir().unwrap();
    let runtime_dir = long.path().join("x".repeat(100));
    std::fs::create_dir(&runtime_dir).unwrap();
    let mut test = Test::start_with(|options| options.runtime_dir = runtime_dir).await;
    assert_eq!(test.shown("1 + 1").await[1], "execute_result:\"2\"");
}

#[tokio::test]
async fn interrupt_by_message() {
    let folder = tempfile::tempdir().unwrap();
    let kernel_json =
        json!({"argv": [python(), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "interrupt_mode": "message"});
    let kernelspec = kernelspec_from(&folder, &kernel_json);
    let mut test = Test::launch(folder, kernelspec, LaunchOptions::default()).await;
    let id = test.execute("print('on', flush=True)\nimport time\ntime.sleep(100)").await;
    test.until_text("on").await;
    test.kernel.interrupt().unwrap();
    let events = test.until(|event| is_finished(event, &id)).await;
    assert_eq!(shown(&events), ["error:\"KeyboardInterrupt\"", "finished:Error 1"]);
}

#[tokio::test]
async fn the_environment_is_scrubbed() {
    let folder = tempfile::tempdir().unwrap();
    let kernel_json = json!({"argv": [python(), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "env": {"OWN": "mine ${CARGO_PKG_NAME}"}});
    let kernelspec = kernelspec_from(&folder, &kernel_json);
    let options = LaunchOptions { pass_environment: vec!["CARGO_PKG_VERSION".into()], ..LaunchOptions::default() };
    let mut test = Test::launch(folder, kernelspec, options).await;
    let source = "import os\n[os.environ.get(n) for n in ('OWN', 'CARGO_PKG_NAME')] + ['CARGO_PKG_VERSION' in os.environ, os.environ['JPY_PARENT_PID'] == str(os.getppid())]";
    assert_eq!(test.shown(source).await[1], "execute_result:\"['mine notarium-agent', None, True, True]\"");
}

#[tokio::test]
async fn the_launcher_is_like_ipykernels_own() {
    // The package for cells comes last in `sys.path`, and is the only addition.
    let source = "import sys, os, beside\nbeside.here, [path for path in sys.path if not path.endswith('/packages')], sys.argv[0], os.getcwd(), sys.flags, __name__, sys.modules['__main__'].__dict__.get('__file__')";
    let mut results = Vec::new();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("beside.py"), "here = True").unwrap();
    // Written as one word, the module is not replaced by the launcher.
    for module in [&["-m", "ipykernel_launcher"][..], &["-mipykernel_launcher"]] {
        let python = python();
        let argv = [&[python.as_str()], module, &["-f", "{connection_file}"]].concat();
        let specs = tempfile::tempdir().unwrap();
        let kernelspec = kernelspec(&specs, &argv);
        let options = LaunchOptions { working_dir: folder.path().to_owned(), ..LaunchOptions::default() };
        let mut test = Test::launch(specs, kernelspec, options).await;
        results.push(test.shown(source).await);
    }
    assert!(results[0][1].starts_with("execute_result:\"(True,"), "{:?}", results[0]);
    assert_eq!(results[0], results[1]);
}

#[tokio::test]
async fn memory_can_be_limited() {
    let mut test = Test::start_with(|options| options.max_memory_bytes = Some(3 << 30)).await;
    assert_eq!(test.shown("x = bytearray(4 << 30)").await[1], "error:\"MemoryError\"");
}

#[tokio::test]
async fn the_language_of_the_kernel_is_kept_as_sent() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, mut events) = mpsc::channel(8);
    let _kernel = Kernel::launch(ipykernel(&folder), LaunchOptions::default(), sender).await.unwrap();
    let Some(KernelEvent::Ready { language_info: Some(language), .. }) = events.recv().await else { panic!() };
    let language: Value = serde_json::from_str(language.get()).unwrap();
    assert_eq!((&language["name"], &language["codemirror_mode"]["name"]), (&json!("python"), &json!("ipython")));
}
