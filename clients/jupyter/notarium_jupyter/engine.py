"""Engine of papermill: `papermill --engine notarium in.ipynb out.ipynb` runs a notebook on a Notarium server.

The notebook stays there with the record of its runs, and everybody with access can watch it run.
"""

import json
from pathlib import Path
from typing import Any

import nbformat
import notarium
from papermill.engines import Engine, NotebookExecutionManager
from papermill.log import logger

# Entries of the metadata by which papermill takes the error of a cell as expected.
EXPECTED = "raises-exception"


class NotariumEngine(Engine):  # type: ignore[misc]
    """Runs the notebook cell by cell. Server and token: `server` and `token`, else as in `notarium.connect()`."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: NotebookExecutionManager, kernel_name: str, **options: Any) -> None:
        title = options.get("title") or Path(options.get("input_path") or "papermill").stem
        content = json.loads(nbformat.writes(nb_man.nb))  # type: ignore[no-untyped-call]
        with (
            notarium.connect(options.get("server"), options.get("token")) as client,
            client.import_notebook(content, title=title) as notebook,
        ):
            logger.info(f"Notebook in Notarium: {client.url}/#/n/{notebook.id}")
            kernel = notebook.start_kernel(kernel_name)
            try:
                run_cells(nb_man, notebook, kernel, options)
            finally:
                kernel.shut_down()


def run_cells(
    nb_man: NotebookExecutionManager, notebook: notarium.Notebook, kernel: notarium.Kernel, options: dict[str, Any]
) -> None:
    """Runs the cells until one fails."""
    for index, (cell, recorded) in enumerate(zip(nb_man.nb.cells, list(notebook.cells), strict=True)):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        nb_man.cell_start(cell, index)
        run = recorded.run(timeout=options.get("execution_timeout"), kernel=kernel.id)
        for output in run.stream():
            show(output, options)
            nb_man.autosave_cell()
        cell.execution_count, cell.outputs = run.execution_count, outputs_of(run.wait().fetch())
        is_failed = run.status != "ok" and EXPECTED not in cell.metadata.get("tags", [])
        if is_failed:
            nb_man.cell_exception(cell, cell_index=index)
        nb_man.cell_complete(cell, cell_index=index)
        if is_failed:
            return


def outputs_of(run: notarium.Run) -> list[nbformat.NotebookNode]:
    """Outputs as nbformat has them. A run that ended without an error of its code gets one with the reason."""
    outputs = [output.content for output in run.outputs]
    if run.status != "ok" and not any(output["output_type"] == "error" for output in outputs):
        reason = run.notice or f"the run is {run.status}"
        outputs.append({"output_type": "error", "ename": "RunEnded", "evalue": reason, "traceback": [reason]})
    return [nbformat.from_dict(output) for output in outputs]  # type: ignore[no-untyped-call]


def show(output: notarium.Output, options: dict[str, Any]) -> None:
    """Copies printed text to the log and the files that papermill's options name."""
    if output.output_type != "stream":
        return
    if options.get("log_output"):
        logger.info(output.text)
    file = options.get("stderr_file" if output.name == "stderr" else "stdout_file")
    if file is not None:
        file.write(output.text)
        file.flush()
