"""Gate for CI: runs a notebook from top to bottom and stops at the first failed cell.

    python gate.py FILE.ipynb [NAME=VALUE …]

Each NAME=VALUE is set before the first cell. Exit code 1: a cell failed, and its traceback is printed.
"""

import sys

import notarium


def main() -> int:
    path, *settings = sys.argv[1:]
    with notarium.connect() as nt, nt.import_notebook(path) as nb:
        if settings:
            lines = [f"{name} = {value}" for name, value in (setting.split("=", 1) for setting in settings)]
            nb.insert("\n".join(lines), at="start")
        failed = 0
        for run in nb.run():
            run.wait()
            print(f"{run.status:9} {run.source.splitlines()[0][:70] if run.source else ''}")
            if run.status == "error":
                failed += 1
                print(
                    "\n".join(output.text for output in run.outputs if output.output_type == "error"), file=sys.stderr
                )
        for kernel in nb.kernels:
            kernel.shut_down()
        print(f"{nb.title}: {'failed' if failed else 'passed'}, {nb.id}")
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
