// Field for writing a comment: Markdown, with a list of people after `@`; and the names of people by id.
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import { mentionAt, mentionsIn } from "../../../app/state/comments.ts";
import type { NotebookStore } from "../../../app/state/store.ts";
import { useTopics } from "../../../app/state/topics.ts";
import { kindOf } from "../../../app/words/words.ts";

const SHOWN = 6;

interface Props {
  store: NotebookStore;
  label: string;
  button: string;
  isFirst?: boolean;
  text?: string;
  /** People that the text already mentions. */
  mentions?: ReadonlyMap<string, string>;
  second?: ReactNode;
  send: (text: string, mentions: string[]) => void;
  /** Closes the field; absent: the field stays after sending. */
  leave?: () => void;
}

export function CommentField({ store, label, button, isFirst, text: before = "", mentions, second, send, leave }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(before);
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const [caret, setCaret] = useState(0);
  const [isFocused, setIsFocused] = useState(false);
  const picker = usePicker(store, isFocused ? mentionAt(text, caret) : undefined);
  const isOpen = leave !== undefined || isFocused || text !== "";
  useEffect(() => {
    if (!isFirst) return;
    store.focus.take(field.current);
    field.current?.setSelectionRange(before.length, before.length);
  }, [isFirst, store]);

  const choose = (person: Person) => {
    const at = mentionAt(text, caret);
    if (!at) return;
    const end = at.from + person.name.length + 1;
    setText(`${text.slice(0, at.from)}${person.name} ${text.slice(caret)}`);
    setChosen(new Map(chosen).set(person.id, person.name));
    setCaret(end);
    requestAnimationFrame(() => field.current?.setSelectionRange(end, end));
  };
  const submit = () => {
    if (text.trim() === "") return;
    send(text.trim(), mentionsIn(text, new Map([...(mentions ?? []), ...chosen])));
    if (!leave) setText("");
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const isSent = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (isSent) submit();
    else if (picker.press(event.key, choose)) event.stopPropagation();
    else if (event.key === "Escape") leave ? leave() : field.current?.blur();
    else return;
    event.preventDefault();
  };
  return (
    <form
      className="comment-field stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        ref={field}
        className="field"
        dir="auto"
        rows={1}
        aria-label={label}
        placeholder={`${label}…`}
        value={text}
        maxLength={10_000}
        aria-autocomplete="list"
        aria-controls={picker.people.length > 0 ? picker.id : undefined}
        aria-activedescendant={picker.active && `${picker.id}-${picker.active.id}`}
        onChange={(event) => {
          setText(event.target.value);
          setCaret(event.target.selectionStart);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onFocus={() => setIsFocused(true)}
        onBlur={() => setIsFocused(false)}
        onKeyDown={press}
      />
      <Picker picker={picker} choose={choose} />
      <div className="row tight">
        {isOpen && (
          <button className="button primary" disabled={text.trim() === ""}>
            {button}
          </button>
        )}
        {leave && (
          <button type="button" className="button bare" onClick={leave}>
            Cancel
          </button>
        )}
        {second}
      </div>
    </form>
  );
}

interface Person {
  id: string;
  name: string;
}

/** People with access, peers, and authors of comments. */
function usePeople(store: NotebookStore): Person[] {
  const actors = [
    ...store.document.access.map(({ subject }) => subject),
    ...[...store.replica.presence.peers.values()].map(({ actor }) => actor),
    ...[...store.document.threads.values()].flatMap(({ comments }) => comments.map(({ author }) => author)),
  ];
  const ids = [...new Set(actors.flatMap((actor) => (actor.kind === "user" ? actor.id : [])))];
  const names = useNames(store, ids);
  return [...names].filter(([id]) => id !== store.session.userId).map(([id, name]) => ({ id, name }));
}

/** Names of the guests here: a mention needs an account. */
function guestsHere(store: NotebookStore): string[] {
  const guests = [...store.replica.presence.peers.values()].filter(({ actor }) => actor.kind === "guest");
  return [...new Set(guests.map((guest) => guest.name || kindOf(guest.actor)))];
}

const isCalled = (name: string, begin: string) =>
  [name.toLowerCase(), ...name.toLowerCase().split(/[\s()]+/)].some((word) => word.startsWith(begin));

function usePicker(store: NotebookStore, at: { name: string } | undefined) {
  useTopics(store, "presence");
  const id = useId();
  const all = usePeople(store);
  const [index, setIndex] = useState(0);
  const [isClosed, setIsClosed] = useState(false);
  const name = at?.name.toLowerCase();
  useEffect(() => {
    setIndex(0);
    setIsClosed(false);
  }, [name]);
  const people = useMemo(() => {
    if (name === undefined || isClosed) return [];
    return all.filter((person) => isCalled(person.name, name)).slice(0, SHOWN);
  }, [name, isClosed, all.map((each) => each.id).join()]);
  const guests = name === undefined || isClosed ? [] : guestsHere(store).filter((guest) => isCalled(guest, name));
  const active = people[Math.min(index, people.length - 1)];
  const press = (key: string, choose: (person: Person) => void): boolean => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (!active) return false;
    if (step !== undefined) setIndex((index + step + people.length) % people.length);
    else if (key === "Enter" || key === "Tab") choose(active);
    else if (key === "Escape") setIsClosed(true);
    else return false;
    return true;
  };
  return { id, people, guests: guests.slice(0, SHOWN), active, press };
}

function Picker({ picker, choose }: { picker: ReturnType<typeof usePicker>; choose: (person: Person) => void }) {
  return (
    <>
      <People picker={picker} choose={choose} />
      <p className={picker.guests.length > 0 ? "small quiet" : "hidden"} role="status">
        {picker.guests.length > 0 && `Guests can’t be mentioned: ${picker.guests.join(", ")}`}
      </p>
    </>
  );
}

function People({ picker, choose }: { picker: ReturnType<typeof usePicker>; choose: (person: Person) => void }) {
  if (picker.people.length === 0) return null;
  return (
    <ul id={picker.id} className="people-list" role="listbox" aria-label="People">
      {picker.people.map((person) => (
        <li
          key={person.id}
          id={`${picker.id}-${person.id}`}
          role="option"
          aria-selected={person === picker.active}
          // Pressing the mouse must not blur the field.
          onMouseDown={(event) => {
            event.preventDefault();
            choose(person);
          }}
        >
          {person.name}
        </li>
      ))}
    </ul>
  );
}

/** Hook: names of users by id; grows as names load. */
export function useNames(store: NotebookStore, ids: readonly string[]): ReadonlyMap<string, string> {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const key = ids.join();
  useEffect(() => {
    let isWanted = true;
    const add = (id: string) => (name: string) => isWanted && setNames((before) => new Map(before).set(id, name));
    for (const id of key === "" ? [] : key.split(",")) store.session.nameOf(id).then(add(id), () => undefined);
    return () => void (isWanted = false);
  }, [store, key]);
  return names;
}
