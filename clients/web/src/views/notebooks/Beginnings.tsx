// Templates for new notebooks, and the starters shown while there is no notebook yet.
import { useEffect, useState } from "react";
import type { Session } from "../../app/session/session.ts";
import type { Templates as All } from "../../protocol/rest.ts";
import type { Choice } from "./Templates.tsx";

export function Beginnings({ session, make }: { session: Session; make: (title: string, template: Choice) => void }) {
  const { templates } = useTemplates(session);
  if (!templates) return null;
  return (
    <section aria-label="Start from a template" className="beginnings">
      <h2 className="quiet">Start from a template</h2>
      <ul className="cards">
        {templates.starters.map(({ id, title, description }) => (
          <li key={id}>
            <button className="card" onClick={() => make(title, { starter: id })}>
              <span className="title">{title}</span>
              <span className="quiet small">{description}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Hook: the templates for new notebooks. */
export function useTemplates({ rest }: Session) {
  const [templates, setTemplates] = useState<All>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    rest.get<All>("/api/templates").then(setTemplates, (failure: Error) => setError(failure.message));
  }, [rest]);
  return { templates, error };
}
