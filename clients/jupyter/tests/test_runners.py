"""papermill with the engine of this package, and nbclient with the manager of jupyter-kernel-client: both run on Notarium's kernels."""

from pathlib import Path

import nbformat
import notarium
import papermill
import pytest
from jupyter_kernel_client import KernelHttpManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from papermill.exceptions import PapermillExecutionError

from .conftest import Server


@pytest.fixture
def signed_in(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)


def written(path: Path, *sources: str) -> Path:
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [new_markdown_cell("# Report"), *map(new_code_cell, sources)]
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernelspec}), path)
    return path


@pytest.mark.usefixtures("signed_in")
def test_papermill_runs_a_notebook_that_stays_in_notarium(nt: notarium.Client, tmp_path: Path) -> None:
    source = written(tmp_path / "Sales.ipynb", "year = 2024", "print(year, end='')\nyear * 2", "'x' * 20_000")
    nb = nbformat.read(source, 4)
    nb.cells[1].metadata["tags"] = ["parameters"]
    nbformat.write(nb, source)
    printed = tmp_path / "printed"
    with printed.open("w") as file:
        done = papermill.execute_notebook(
            source, tmp_path / "out.ipynb", {"year": 2025}, engine_name="notarium", stdout_file=file, progress_bar=False
        )
    saved = nbformat.read(tmp_path / "out.ipynb", 4)
    nbformat.validate(saved)
    assert saved.cells == done.cells
    injected, shown, large = saved.cells[2:]
    assert injected.source == "# Parameters\nyear = 2025\n"
    assert [output.output_type for output in shown.outputs] == ["stream", "execute_result"]
    assert shown.outputs[0].text == "2025" and shown.outputs[1].data["text/plain"] == "4050"
    assert large.outputs[0].data["text/plain"] == repr("x" * 20_000)
    assert shown.execution_count == 3 and shown.metadata.papermill["status"] == "completed"
    assert printed.read_text() == "2025"
    (info,) = [info for info in nt.notebooks() if info.title == "Sales"]
    with nt.open(info.id) as notebook:
        assert [cell.source for cell in notebook] == [cell.source for cell in saved.cells]
        assert notebook[3].text == "20254050" and all(kernel.phase == "ending" for kernel in notebook.kernels)


@pytest.mark.usefixtures("signed_in")
def test_papermill_stops_at_an_error(nt: notarium.Client, tmp_path: Path) -> None:
    source = written(tmp_path / "Broken.ipynb", "print('first')", "1 / 0", "print('never')")
    with pytest.raises(PapermillExecutionError, match="ZeroDivisionError"):
        papermill.execute_notebook(source, tmp_path / "out.ipynb", engine_name="notarium", progress_bar=False)
    cells = nbformat.read(tmp_path / "out.ipynb", 4).cells
    assert cells[-1].outputs == [] and cells[-1].execution_count is None
    failed = [cell for cell in cells if cell.metadata.get("papermill", {}).get("status") == "failed"]
    assert [cell.source for cell in failed] == ["1 / 0"]


@pytest.mark.usefixtures("signed_in")
def test_papermill_goes_on_after_an_expected_error(nt: notarium.Client, tmp_path: Path) -> None:
    source = written(tmp_path / "Expected.ipynb", "1 / 0", "print('after')")
    nb = nbformat.read(source, 4)
    nb.cells[1].metadata["tags"] = ["raises-exception"]
    nbformat.write(nb, source)
    # papermill itself raises for every error that the notebook shows, also with nbclient's engine.
    with pytest.raises(PapermillExecutionError):
        papermill.execute_notebook(source, tmp_path / "out.ipynb", engine_name="notarium", progress_bar=False)
    with nt.open("Expected") as notebook:
        assert notebook[2].text == "after\n"


def test_nbclient_runs_a_notebook_through_the_door(server: Server) -> None:
    manager = KernelHttpManager(server_url=server.door, token=server.token)
    manager.start_kernel(name="python3")
    nb = new_notebook(cells=[new_code_cell("x = 20\nprint('é😀')"), new_code_cell("x * 2 + 2"), new_code_cell("1 / 0")])
    client = NotebookClient(nb, km=manager, timeout=120)
    client.kc = manager.client
    client.kc.start_channels()
    client.kc.wait_for_ready(timeout=120)
    try:
        with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
            client.execute()
    finally:
        client.kc.stop_channels()
        manager.shutdown_kernel(now=True)
    printed, valued, failed = nb.cells
    assert [(output.output_type, output.text) for output in printed.outputs] == [("stream", "é😀\n")]
    assert valued.outputs[0].data["text/plain"] == "42" and valued.execution_count == 2
    assert failed.outputs[0].ename == "ZeroDivisionError"
