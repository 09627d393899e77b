// All notebooks: search, what waits for me, new ones, files dropped in.
import { FilePlus, LogOut, Search, Upload } from "lucide-react";
import { type DragEvent, useCallback, useEffect, useRef, useState } from "react";
import { go } from "../app/route.ts";
import type { Session } from "../app/session.ts";
import { ago, date } from "../app/words.ts";
import type { components } from "../protocol/rest.ts";

type Line = components["schemas"]["NotebookLine"];
type Waiting = components["schemas"]["WaitingCall"];

interface Props {
  session: Session;
  signOut: () => void;
}

const SEARCH_MS = 200;

export function Home({ session, signOut }: Props) {
  const { rest } = session;
  const [text, setText] = useState("");
  const [page, setPage] = useState<{ lines: Line[]; next: string | undefined }>();
  const [waiting, setWaiting] = useState<Waiting[]>([]);
  const [error, setError] = useState<string>();
  const [progress, setProgress] = useState<string>();
  const [isOver, setIsOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);

  const load = useCallback(
    async (cursor?: string) => {
      try {
        const query = new URLSearchParams({ limit: "50", ...(text && { text }), ...(cursor && { cursor }) });
        const { notebooks, next } = await rest.get<components["schemas"]["NotebookPage"]>(`/api/notebooks?${query}`);
        setPage((before) => ({ lines: cursor ? [...(before?.lines ?? []), ...notebooks] : notebooks, next: next ?? undefined }));
        setError(undefined);
      } catch (failure) {
        setError((failure as Error).message);
      }
    },
    [rest, text],
  );

  useEffect(() => {
    const timer = setTimeout(() => void load(), text ? SEARCH_MS : 0);
    return () => clearTimeout(timer);
  }, [load, text]);

  useEffect(() => {
    document.title = "Notarium";
    if (session.me.scopes.includes("confirm"))
      rest.get<{ calls: Waiting[] }>("/api/confirmations").then(
        ({ calls }) => setWaiting(calls),
        () => undefined,
      );
  }, [rest, session]);

  const create = async () => {
    try {
      const { notebook } = await rest.json<{ notebook: string }>("POST", "/api/notebooks", { title: "Untitled", with_cell: true });
      go({ name: "notebook", id: notebook, cell: undefined });
    } catch (failure) {
      setError((failure as Error).message);
    }
  };

  const bringIn = async (files: FileList | null) => {
    const chosen = [...(files ?? [])];
    let last: string | undefined;
    try {
      for (const [index, file] of chosen.entries()) {
        setProgress(`Importing ${file.name} (${index + 1} of ${chosen.length}) …`);
        const headers = { "content-type": "application/octet-stream" };
        const answer = await rest.send(`/api/import?filename=${encodeURIComponent(file.name)}`, {
          method: "POST",
          headers,
          body: file,
        });
        last = ((await answer.json()) as { notebook: string }).notebook;
      }
      if (chosen.length === 1 && last) go({ name: "notebook", id: last, cell: undefined });
      else void load();
    } catch (failure) {
      setError((failure as Error).message);
    } finally {
      setProgress(undefined);
    }
  };

  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    void bringIn(event.dataTransfer.files);
  };

  return (
    <div
      className={isOver ? "home over" : "home"}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <header className="row">
        <h1 className="grow">Notebooks</h1>
        <span className="quiet">{session.me.name}</span>
        <button className="button bare icon" onClick={signOut} aria-label="Sign out" title="Sign out">
          <LogOut size={16} />
        </button>
      </header>
      <div className="row tools" role="search">
        <label className="search grow">
          <Search size={16} aria-hidden />
          <span className="hidden">Search in titles and sources</span>
          <input
            className="field"
            type="search"
            placeholder="Search in titles and sources"
            value={text}
            onChange={(event) => setText(event.target.value)}
            autoFocus
          />
        </label>
        <button className="button" onClick={() => picker.current?.click()}>
          <Upload size={16} aria-hidden /> Import
        </button>
        <input ref={picker} type="file" accept=".ipynb" multiple hidden onChange={(event) => void bringIn(event.target.files)} />
        <button className="button primary" onClick={() => void create()}>
          <FilePlus size={16} aria-hidden /> New notebook
        </button>
      </div>
      {progress && (
        <p role="status" className="quiet">
          {progress}
        </p>
      )}
      {error && (
        <p role="alert" className="error">
          {error}{" "}
          <button className="button" onClick={() => void load()}>
            Try again
          </button>
        </p>
      )}
      {waiting.length > 0 && (
        <section aria-label="Waiting for your confirmation" className="waiting">
          <h2>Waiting for your confirmation</h2>
          <ul>
            {waiting.map(({ notebook, title, confirmation }, index) => (
              <li key={index}>
                <a href={`#/n/${notebook}`}>{title || "Untitled"}</a> <span className="quiet">{confirmation.summary}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <main aria-label="Notebooks">
        {!page && !error && <div className="shape" aria-busy="true" />}
        {page?.lines.length === 0 && <Nothing isSearch={text !== ""} />}
        <ul className="notebooks">
          {page?.lines.map((line) => (
            <li key={line.id}>
              <a href={`#/n/${line.id}`}>
                <span className="grow title">{line.title || "Untitled"}</span>
                <span className="quiet small">{line.cells === 1 ? "1 cell" : `${line.cells} cells`}</span>
                <time className="quiet small" dateTime={new Date(line.updated_at).toISOString()} title={date(line.updated_at)}>
                  {ago(line.updated_at)}
                </time>
              </a>
            </li>
          ))}
        </ul>
        {page?.next && (
          <button className="button" onClick={() => void load(page.next)}>
            Show more
          </button>
        )}
      </main>
    </div>
  );
}

function Nothing({ isSearch }: { isSearch: boolean }) {
  if (isSearch) return <p className="quiet empty">No notebook has these words.</p>;
  return (
    <p className="quiet empty">
      There is no notebook yet. Make one, or drop an <code>.ipynb</code> file here.
    </p>
  );
}
