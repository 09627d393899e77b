// Loading of one section: its value, its error, and the frame in which both are shown.
import { type ReactNode, useCallback, useEffect, useId, useRef, useState } from "react";
import { RotateCw } from "lucide-react";
import type { Session } from "../../app/session/session.ts";
import { Problem, type Rest } from "../../transport/rest.ts";
import { IconButton } from "../../ui/IconButton.tsx";

export interface Loaded<T> {
  /** Absent until it was loaded; stays while it loads again. */
  value: T | undefined;
  error: string | undefined;
  /** True: the server doesn’t have this route. */
  isMissing: boolean;
  reload: () => Promise<void>;
  change: (update: (value: T) => T) => void;
}

const NOT_FOUND = 404;

/** Loads a value; `load` must be stable, and a new one loads again. Answers to an outdated `load` are dropped. */
export function useLoaded<T>(session: Session, load: (rest: Rest) => Promise<T>): Loaded<T> {
  const [value, setValue] = useState<T>();
  const [error, setError] = useState<Error>();
  const latest = useRef(load);
  latest.current = load;
  const reload = useCallback(async () => {
    try {
      const found = await load(await session.deciding());
      if (latest.current !== load) return;
      setError(undefined);
      setValue(() => found);
    } catch (failure) {
      if (latest.current === load) setError(failure as Error);
    }
  }, [session, load]);
  useEffect(() => void reload(), [reload]);
  const change = useCallback((update: (before: T) => T) => setValue((before) => before && update(before)), []);
  const isMissing = error instanceof Problem && error.status === NOT_FOUND;
  return { value, error: error?.message, isMissing, reload, change };
}

/** Interval of sections whose values change by themselves. */
const FOLLOW_MS = 10_000;

/** Loads again regularly while the page is visible, unless the server would ask for the password. */
export function useFollowed(session: Session, reload: () => Promise<void>): void {
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === "visible" && !session.asksAgain) void reload();
    };
    const timer = setInterval(look, FOLLOW_MS);
    return () => clearInterval(timer);
  }, [session, reload]);
}

interface SectionProps {
  title: string;
  /** One sentence below the title. */
  about?: ReactNode;
  tools?: ReactNode;
  loaded: Pick<Loaded<unknown>, "value" | "error" | "reload">;
  /** Shown in place of the content if there is nothing. */
  empty?: string | undefined;
  children: ReactNode;
}

/** A section with its title, its tools, its error and its empty state. */
export function Section({ title, about, tools, loaded: { value, error, reload }, empty, children }: SectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} aria-busy={value === undefined && error === undefined}>
      <header className="row">
        <h2 id={id} className="grow">
          {title}
        </h2>
        {tools}
        <IconButton label={`Reload ${title.toLowerCase()}`} title="Reload" onClick={() => void reload()}>
          <RotateCw size={15} />
        </IconButton>
      </header>
      {about && <p className="quiet about">{about}</p>}
      {error && (
        <p role="alert" className="error row">
          {error}
          <button className="button" onClick={() => void reload()}>
            Try again
          </button>
        </p>
      )}
      {value === undefined ? !error && <Shapes /> : empty ? <p className="quiet nothing">{empty}</p> : children}
    </section>
  );
}

/** Grey lines in the height of a table's rows. */
function Shapes() {
  return (
    <div className="shapes" aria-hidden>
      {[1, 2, 3, 4].map((line) => (
        <div key={line} className="shape" />
      ))}
    </div>
  );
}
