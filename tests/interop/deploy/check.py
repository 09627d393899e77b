"""Checks the files in deploy/, and runs the processes of compose.yaml without Docker.

    scripts/with-postgresql python tests/interop/deploy/check.py NOTARIUM_BINARY

The Python that runs this has the packages of requirements.txt beside this file. A step that cannot run here says SKIPPED and why. Exit code 1
if a file is wrong, or if the processes do not do what they should.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import compose_spec
import yaml
from processes import run_compose

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
DRAIN_SECONDS = 30


def skipped(step, reason):
    print(f"SKIPPED: {step}: {reason}", flush=True)


def words_of(binary, command):
    """Returns the options and variables of a command of notarium."""
    said = subprocess.run([binary, command, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*|NOTARIUM_[A-Z_]+", said))


def named(text):
    """Returns the options and variables of notarium in a text."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*|NOTARIUM_[A-Z_]+", text))


def load_compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf8"))


def check_compose(compose, wrong):
    try:
        # Anchors and merges are YAML's: the schema is for what they lead to.
        compose_spec.PyCompose.from_yaml(yaml.safe_dump(compose))
    except ValueError as error:
        wrong.append(f"compose.yaml: {error}")
    for name, service in compose["services"].items():
        tag = service["image"].partition(":")[2]
        if not re.match(r"v?\d+\.\d+", tag):
            wrong.append(f"compose.yaml: the image of {name} has no version: {service['image']}")
        wrong += [f"compose.yaml: {name} has no {key}" for key in ("healthcheck", "restart") if key not in service]
        for variable in service.get("environment", {}):
            if re.search(r"PASSWORD|SECRET|ACCESS_KEY|TOKEN", variable) and not variable.endswith("_FILE"):
                wrong.append(f"compose.yaml: {variable} of {name} must come from a file")
    check_secrets(compose, wrong)


def check_secrets(compose, wrong):
    """Runs make-secrets: it makes every file that compose.yaml names, and keeps those that exist."""
    needed = {secret["file"] for secret in compose["secrets"].values()}
    needed |= {service["env_file"] for service in compose["services"].values() if "env_file" in service}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "secrets"
        make_secrets(folder)
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        make_secrets(folder)
        if before != {path.name: path.read_bytes() for path in folder.iterdir()}:
            wrong.append("make-secrets: a second run changes files")
        wrong += [f"make-secrets makes no {file}" for file in sorted(needed) if Path(file).name not in before]
    ignored = subprocess.run(["git", "-C", ROOT, "check-ignore", "-q", "deploy/secrets/node.env"])
    if ignored.returncode == 1:
        wrong.append(".gitignore does not name deploy/secrets/")


def make_secrets(folder):
    subprocess.run([DEPLOY / "make-secrets", folder], check=True, capture_output=True)


def check_manifests(wrong):
    program = Path(sys.executable).parent / "kubernetes-validate"
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml")):
        checked = subprocess.run([program, "--strict", path], capture_output=True, text=True)
        if checked.returncode:
            wrong.append(f"{path.relative_to(ROOT)}: {checked.stdout}{checked.stderr}")
        for manifest in yaml.safe_load_all(path.read_text("utf8")):
            if manifest["kind"] == "StatefulSet":
                check_pods(path, manifest["spec"]["template"]["spec"], wrong)


def check_pods(path, pods, wrong):
    if pods["terminationGracePeriodSeconds"] < DRAIN_SECONDS + 5:
        wrong.append(f"{path.name}: a node is killed before it has drained")
    for container in pods["initContainers"] + pods["containers"]:
        if not re.search(r":v?\d+\.\d+", container["image"]):
            wrong.append(f"{path.name}: an image has no version: {container['image']}")


def check_units(binary, wrong):
    if not shutil.which("systemd-analyze"):
        skipped("systemd units", "systemd-analyze is not here")
        return
    with tempfile.TemporaryDirectory() as folder:
        for unit in sorted((DEPLOY / "systemd").glob("*.service")):
            # The program must exist.
            copy = Path(folder) / unit.name
            copy.write_text(unit.read_text("utf8").replace("/usr/bin/notarium", binary), "utf8")
            done = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True)
            about = [line for line in done.stderr.splitlines() if unit.name in line]
            if done.returncode or about:
                wrong.append(f"{unit.name}: {done.stderr}")
            score = subprocess.run(
                ["systemd-analyze", "security", "--offline=yes", "--no-pager", unit], capture_output=True, text=True
            )
            print(
                f"  {score.stdout.strip().splitlines()[-1]}" if score.stdout.strip() else "  no score of this systemd"
            )


def check_options(binary, compose):
    """Compares the options and variables in the files with those that the program has; returns the ones that it lacks."""
    serve, agent = words_of(binary, "serve"), words_of(binary, "agent")
    texts = {"notarium-agent.service": agent}
    lacking = set()
    nodes = [service for service in compose["services"].values() if service["image"].startswith("notarium:")]
    own = {"NOTARIUM_STORE"} | {word for node in nodes for word in [*node["command"], *node["environment"]]}
    lacking |= {word for word in own if re.match("--|NOTARIUM_", word)} - serve
    for path in [*(DEPLOY / "kubernetes").glob("*.yaml"), *(DEPLOY / "systemd").glob("*.service")]:
        text = path.read_text("utf8")
        if path.suffix == ".yaml":
            text = " ".join(
                f"{container.get('args')} {container.get('env')}"
                for manifest in yaml.safe_load_all(text)
                if manifest["kind"] == "StatefulSet"
                for container in manifest["spec"]["template"]["spec"]["containers"]
            )
        else:
            # Comments also name options of other programs: only their settings count.
            lines = (line for line in text.splitlines() if re.match(r"#\s+NOTARIUM_|ExecStart", line))
            text = "\n".join(lines)
        lacking |= named(text) - texts.get(path.name, serve)
    return lacking


def check_documents(wrong):
    page = (ROOT / "docs/operations.md").read_text("utf8")
    for path in sorted(DEPLOY.rglob("*")):
        name = str(path.relative_to(ROOT))
        if (
            path.is_file()
            and "secrets/" not in name
            and name not in page
            and f"{path.parent.relative_to(ROOT)}/)" not in page
        ):
            wrong.append(f"docs/operations.md does not mention {name}")


def main():
    binary = str(Path(sys.argv[1]).resolve())
    wrong, compose = [], load_compose()
    check_compose(compose, wrong)
    check_manifests(wrong)
    check_units(binary, wrong)
    check_documents(wrong)
    lacking = check_options(binary, compose)
    wrong += [f"deploy/: `notarium` knows no {word}" for word in sorted(lacking)]
    if lacking:
        skipped("nodes 2 and 3", f"`notarium` lacks {', '.join(sorted(lacking))}: one node runs without them")
    print("\n".join(wrong) or "deploy/: every file is as its linter wants it", flush=True)
    if wrong:
        return 1
    run_compose(binary, compose, lacking, skipped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
