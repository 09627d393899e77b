"""Machines of runtime agents, on which kernels run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .document import Json
from .link import NotebookLink


@dataclass(frozen=True)
class AgentInfo:
    """Runtime agent that may run kernels of a notebook, with its machine."""

    id: str
    name: str
    #: False: a launch that names it waits until it is connected.
    is_connected: bool = True
    #: Names of the kernelspecs that it offers.
    kernelspecs: tuple[str, ...] = ()
    #: Labels for which launches can ask.
    labels: Mapping[str, str] = field(default_factory=dict)
    #: `cores`, `memory_bytes` and `gpus` as the protocol has them. Empty: not known.
    machine: Mapping[str, Any] = field(default_factory=dict)
    #: `cpu_percent`, `memory_used_bytes` and `gpus` as the protocol has them. Empty: not measured.
    load: Mapping[str, Any] = field(default_factory=dict)


def agent_of(told: Json) -> AgentInfo:
    """Agent from the server's JSON."""
    specs, labels = tuple(told.get("kernelspecs", ())), dict(told.get("labels", {}))
    machine, load = told.get("machine") or {}, told.get("load") or {}
    return AgentInfo(told["id"], told["name"], told["connected"], specs, labels, machine, load)


async def agents_of(notebook: NotebookLink) -> list[AgentInfo]:
    """Agents that may run kernels of the notebook, by name."""
    kernels = await notebook._session.rest.get(f"/api/notebooks/{notebook._notebook_id}/kernels")
    return [agent_of(told) for told in kernels.get("agents", [])]


async def place_fields(notebook: NotebookLink, agent: AgentInfo | str | None, labels: Mapping[str, str] | None) -> Json:
    """Fields of a command that choose a machine. A name that no agent of the notebook has is taken for an id."""
    agent_id = agent.id if isinstance(agent, AgentInfo) else agent
    if isinstance(agent, str):
        named = [one.id for one in await agents_of(notebook) if agent in (one.name, one.id)]
        agent_id = named[0] if len(named) == 1 else agent
    chosen = {"agent": agent_id, "labels": None if labels is None else dict(labels)}
    return {key: value for key, value in chosen.items() if value is not None}
