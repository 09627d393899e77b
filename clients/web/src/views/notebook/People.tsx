// Avatars of people, assistants and agents here. A click goes to a person's cell, a second click follows the person.
import { Bot, Cpu, Eye } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import { type AgentHere, agentsHere } from "../../app/state/kernels.ts";
import { type AssistantAtWork, assistantsAtWork } from "../../app/state/assistants.ts";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { hueOf, kernelName, kindOf, initials } from "../../app/words/words.ts";
import { page } from "../../commands/table.ts";
import type { PeerState } from "../../protocol/messages.ts";
import { part } from "../../ui/parts.ts";

/** Avatars shown; a label counts the rest. */
const SHOWN = 5;

export function People({ store }: { store: NotebookStore }) {
  useTopics(store, "presence", "assistants", "kernels", "executions");
  const peers = onePerPerson(store);
  const assistants = assistantsAtWork(store.document);
  const agents = agentsHere(store.document, store.replica.kernels);
  if (peers.length === 0 && assistants.length === 0 && agents.length === 0) return null;
  return (
    <ul className="people" aria-label="Who is here">
      {assistants.length > 0 && (
        <li>
          <AssistantAvatar store={store} assistants={assistants} />
        </li>
      )}
      {peers.slice(0, SHOWN).map((peer) => (
        <li key={peer.connection}>
          <Avatar store={store} peer={peer} />
        </li>
      ))}
      {peers.length > SHOWN && (
        <li>
          <Others store={store} peers={peers.slice(SHOWN)} />
        </li>
      )}
      {agents.length > 0 && (
        <li className="wide">
          <AgentAvatar store={store} agents={agents} />
        </li>
      )}
    </ul>
  );
}

const loadList = () => import("./MorePeople.tsx");
const MorePeople = part(loadList);

/** “+2”: a plain button until the first click, then a list of the people without an avatar, of whom each can be followed. */
function Others(props: { store: NotebookStore; peers: PeerState[] }) {
  const [isWanted, setIsWanted] = useState(false);
  const { length } = props.peers;
  const button = (
    <button
      className="button bare small more-people"
      aria-haspopup="menu"
      aria-label={`${length} more ${length === 1 ? "person" : "people"}`}
      onPointerEnter={() => void loadList()}
      onClick={() => setIsWanted(true)}
    >
      +{length}
    </button>
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <MorePeople {...props} />
    </Suspense>
  );
}

/** `name` is the object of “Follow” and “Following”. */
export function describe({ together, document, session }: NotebookStore, { connection, name: own, actor, state }: PeerState) {
  const where = state?.cell_id ? document.order.indexOf(state.cell_id) + 1 : 0;
  const place = where > 0 ? ` in cell ${where}${state?.typing ? ", typing" : ""}` : "";
  const label = own || kindOf(actor);
  const isMe = session.isMe(actor);
  const name = isMe ? "your other tab" : label;
  const here = isMe ? `You are here in another tab${place}` : `${label} is here${place}`;
  return { name, label, place, here, where, isFollowed: together.following === connection };
}

/** Merges the tabs of a user: the last peer in a cell, otherwise the newest peer. */
function onePerPerson(store: NotebookStore): PeerState[] {
  const people = new Map<string, PeerState>();
  for (const peer of store.replica.presence.peers.values()) {
    if (peer.actor.kind !== "user" && peer.actor.kind !== "guest") continue;
    // Guests of one link share an actor but are different people.
    const person = peer.actor.kind === "user" ? peer.actor.id : peer.connection;
    const known = people.get(person);
    if (!known || peer.state?.cell_id || !known.state?.cell_id) people.set(person, peer);
  }
  return [...people.values()];
}

/** One avatar for all assistants; the panel has details. */
function AssistantAvatar({ store, assistants }: { store: NotebookStore; assistants: AssistantAtWork[] }) {
  const words = [...new Set(assistants.map((assistant) => assistantWords(store, assistant)))].join("; ");
  const open = () => store.panel !== "assistant" && store.show("assistant");
  return (
    <button className="avatar bot" title={words} aria-label={words} onClick={open}>
      <Bot size={15} />
    </button>
  );
}

function assistantWords({ document }: NotebookStore, { cells, waits }: AssistantAtWork): string {
  const places = cells.map((id) => document.order.indexOf(id) + 1).filter((place) => place > 0);
  const where = places.length === 0 ? "" : ` in ${places.length === 1 ? "cell" : "cells"} ${places.join(", ")}`;
  return `The assistant is ${waits ? "waiting for approval" : "working"}${where}`;
}

/** One avatar for all runtime agents. A click goes to the running cell, otherwise opens the kernel panel. */
function AgentAvatar({ store, agents }: { store: NotebookStore; agents: AgentHere[] }) {
  const words = agents.map((agent) => agentWords(store, agent)).join("; ");
  const isGone = agents.some(({ isReachable }) => !isReachable);
  const cell = agents.find(({ cell }) => cell !== undefined && store.document.cells.has(cell))?.cell;
  const look = isGone ? " gone" : agents.some(({ isBusy }) => isBusy) ? " busy" : "";
  const open = () => (cell === undefined || isGone ? page.kernel?.() : store.select(cell));
  return (
    <button className={`avatar agent${look}`} title={words} aria-label={words} onClick={open}>
      <Cpu size={14} />
      {agents.length > 1 && <span className="badge">{agents.length}</span>}
    </button>
  );
}

function agentWords({ document }: NotebookStore, { name, kernelspecs, isReachable, isBusy, cell }: AgentHere): string {
  const who = `Runtime agent ${name} (${kernelspecs.map(kernelName).join(", ")})`;
  if (!isReachable) return `${who}: unreachable`;
  const place = cell === undefined ? 0 : document.order.indexOf(cell) + 1;
  return `${who}: ${isBusy ? (place > 0 ? `running cell ${place}` : "busy") : "idle"}`;
}

function Avatar({ store, peer }: { store: NotebookStore; peer: PeerState }) {
  const { connection, actor, state } = peer;
  const { label, place, here, where, isFollowed } = describe(store, peer);
  const cell = state?.cell_id;
  const act = isFollowed ? "Click to stop following" : where > 0 ? "Click to go there, again to follow" : "Click to follow";
  return (
    <button
      className={`avatar peer-hue-${hueOf(label)}${isFollowed ? " followed" : ""}${state?.typing ? " typing" : ""}`}
      title={actor.kind === "guest" ? `${label} (guest)${place}. ${act}` : `${here}. ${act}`}
      aria-label={`${here}. ${act}`}
      aria-pressed={isFollowed}
      onClick={() => {
        if (isFollowed || !cell || cell === store.current) store.together.follow(connection);
        else store.select(cell);
      }}
    >
      {initials(label)}
    </button>
  );
}

/** Follow mode: keeps the followed person's position in the viewport. Any scroll, key, click or touch ends it. */
export function Following({ store }: { store: NotebookStore }) {
  useTopics(store, "presence");
  const { together } = store;
  const peer = store.replica.presence.peers.get(together.following ?? "");
  const { place } = together;
  const line = peer?.state?.selection?.[1];
  useEffect(() => {
    if (!peer || !place) return;
    const cell = document.getElementById(`cell-${place}`);
    (cell?.querySelector(".peer-caret") ?? cell)?.scrollIntoView({ block: "center", behavior: "smooth" });
  }, [peer?.connection, place, line]);
  const isOn = peer !== undefined;
  useEffect(() => {
    if (!isOn) return;
    const end = (event: Event) => {
      if (!(event.target as HTMLElement).closest?.(".people, .people-list, .following")) together.follow(undefined);
    };
    const kinds = ["wheel", "keydown", "mousedown", "touchmove"];
    for (const kind of kinds) addEventListener(kind, end, { passive: true });
    return () => kinds.forEach((kind) => removeEventListener(kind, end));
  }, [isOn, together]);
  if (!peer) return null;
  const { name, label } = describe(store, peer);
  return (
    <div className={`following peer-hue-${hueOf(label)}`} role="status">
      <Eye size={14} aria-hidden /> Following {name}
      <button className="link" onClick={() => together.follow(undefined)}>
        Stop
      </button>
    </div>
  );
}
