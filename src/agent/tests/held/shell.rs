//! A kernel that runs code in a child process, as bash_kernel does.

use notarium_core::{Effect, Effects};
use serde_json::json;

use crate::scene::{Held, kernelspec, python};

const SHELL: &str = "import subprocess
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

class Shell(Kernel):
    implementation, implementation_version, banner = 'shell', '1', ''
    language_info = {'name': 'bash', 'mimetype': 'text/x-sh', 'file_extension': '.sh'}

    def __init__(self, **keywords):
        super().__init__(**keywords)
        self.child = subprocess.Popen(['sh'], stdin=-1, stdout=-1, stderr=subprocess.STDOUT, text=True)

    def do_execute(self, code, *arguments, **keywords):
        self.child.stdin.write(code + '\\necho END\\n')
        self.child.stdin.flush()
        for line in self.child.stdout:
            if line == 'END\\n':
                break
            self.send_response(self.iopub_socket, 'stream', {'name': 'stdout', 'text': line})
        return {'status': 'ok', 'execution_count': self.execution_count, 'payload': [], 'user_expressions': {}}

IPKernelApp.launch_instance(kernel_class=Shell)
";

#[tokio::test]
async fn the_shell_has_the_mode_of_the_message() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("shell.py");
    std::fs::write(&script, SHELL).unwrap();
    let argv = [python(), script.to_string_lossy().into_owned(), "-f".into(), "{connection_file}".into()];
    let spec = kernelspec(folder.path(), &json!({"argv": argv, "display_name": "Shell", "language": "bash"}));
    let mut held = Held::launch(folder, spec, |_| {}).await;
    held.free("echo x > OUT/a; ls OUT; rm OUT/a").await.is_ok();
    let ran = held.held("echo x > OUT/b; rm -f OUT/kept.txt; ls -d /").await;
    assert_eq!(ran.kinds(), [Effect::Write, Effect::Remove], "{} {:?}", ran.text(), ran.refusals());
    assert!(ran.text().ends_with("/\n"), "{}", ran.text());
    held.nothing_outside_changed();
    let ran = held.run("echo x > OUT/b", Effects::held([Effect::Write])).await;
    assert_eq!(ran.is_ok(), "");
    held.free("cat OUT/b && rm OUT/b").await.is_ok();
    held.nothing_outside_changed();
}

#[tokio::test]
async fn bash_kernel_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let argv = [&*python(), "-m", "bash_kernel", "-f", "{connection_file}"];
    let spec = kernelspec(folder.path(), &json!({"argv": argv, "display_name": "Bash", "language": "bash"}));
    let mut held = Held::launch(folder, spec, |_| {}).await;
    assert_eq!(held.free("x=7; echo $x; echo y > OUT/a; cat OUT/a; rm OUT/a").await.is_ok(), "7\ny\n");
    let ran = held.held("echo $x; (echo x > OUT/b) 2>&1; rm -f OUT/kept.txt; kill $PPID; ls -d /").await;
    assert_eq!(ran.kinds(), [Effect::Write, Effect::Remove, Effect::Signal], "{} {:?}", ran.text(), ran.refusals());
    assert!(ran.text().starts_with("7\n") && ran.text().contains("/\n"), "{}", ran.text());
    held.nothing_outside_changed();
    held.run("echo x > OUT/b", Effects::held([Effect::Write])).await.is_ok();
    assert_eq!(held.free("cat OUT/b && rm OUT/b; sleep 0.1 && echo $x").await.is_ok(), "x\n7\n");
    held.nothing_outside_changed();
}
