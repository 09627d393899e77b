"""Bill of materials of a release, in CycloneDX's JSON: crates in the program, packages in its page, and what the wheels need.

    python scripts/dist/sbom.py [--check]

Prints it. `--check` compares it with the schema of CycloneDX instead, by the package cyclonedx-python-lib.
"""

import json
import re
import subprocess
import sys

import tomllib
from release import ROOT, version

SPEC = "1.6"
TARGET = "x86_64-unknown-linux-gnu"


def component(kind, name, number, licence=None, hashes=()):
    made = {"type": "library", "bom-ref": f"pkg:{kind}/{name}@{number}", "name": name, "version": number}
    made["purl"] = made["bom-ref"].replace("@", "%40", 1) if name.startswith("@") else made["bom-ref"]
    if licence:
        # Older crates separate alternatives by a slash.
        made["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", licence)}]
    if hashes:
        made["hashes"] = [{"alg": algorithm, "content": digest} for algorithm, digest in hashes]
    return made


def crates():
    """Returns the crates of the program, as components and their dependencies."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", TARGET]
    found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text("utf8"))["package"]
    checksums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in lock}
    needed = {
        node["id"]: [
            dependency["pkg"]
            for dependency in node["deps"]
            if any(kind["kind"] in (None, "build") for kind in dependency["dep_kinds"])
        ]
        for node in found["resolve"]["nodes"]
    }
    root = next(identity for identity, package in packages.items() if package["name"] == "notarium")
    reached, waiting = set(), [root]
    while waiting:
        if (identity := waiting.pop()) not in reached:
            reached.add(identity)
            waiting += needed[identity]

    def reference(identity):
        package = packages[identity]
        return f"pkg:cargo/{package['name']}@{package['version']}"

    components = []
    for identity in reached:
        package = packages[identity]
        checksum = checksums.get((package["name"], package["version"]))
        hashes = [("SHA-256", checksum)] if checksum else []
        components.append(component("cargo", package["name"], package["version"], package["license"], hashes))
    dependencies = [
        {"ref": reference(identity), "dependsOn": sorted({reference(each) for each in needed[identity]})}
        for identity in reached
    ]
    return components, dependencies, reference(root)


def page_packages():
    """Returns the npm packages in the page: those that are not for its development."""
    lock = json.loads((ROOT / "clients/web/package-lock.json").read_text("utf8"))
    found = []
    for path, entry in lock["packages"].items():
        if path and not entry.get("dev") and not entry.get("devOptional") and not entry.get("optional"):
            name = path.rpartition("node_modules/")[2]
            found.append(component("npm", name, entry["version"], entry.get("license")))
    return found


def python_requirements():
    """Returns what the wheels need from elsewhere: pip chooses the versions."""
    found = []
    for project in ("python", "jupyter"):
        read = tomllib.loads((ROOT / f"clients/{project}/pyproject.toml").read_text("utf8"))["project"]
        for requirement in read["dependencies"]:
            name, wanted = re.fullmatch(r"([\w.-]+)(.*)", requirement).groups()
            if name != "notarium":
                made = component("pypi", name, wanted)
                made |= {"bom-ref": f"pkg:pypi/{name}", "purl": f"pkg:pypi/{name}", "scope": "excluded"}
                del made["version"]
                found.append(made | {"description": f"required by the wheels: {requirement}"})
    return found


def text():
    components, dependencies, root = crates()
    own = next(each for each in components if each["bom-ref"] == root)
    others = [each for each in components if each is not own] + page_packages() + python_requirements()
    unique = {each["bom-ref"]: each for each in others}
    bom = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "version": 1,
        "metadata": {"component": own | {"type": "application", "version": version()}},
        "components": [unique[reference] for reference in sorted(unique)],
        "dependencies": sorted(dependencies, key=lambda each: each["ref"]),
    }
    return json.dumps(bom, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def check():
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text()):
        raise SystemExit(f"the bill of materials is not CycloneDX {SPEC}: {error}")
    print(f"the bill of materials is CycloneDX {SPEC}: {len(json.loads(text())['components'])} components")


if __name__ == "__main__":
    check() if "--check" in sys.argv[1:] else print(text(), end="")
