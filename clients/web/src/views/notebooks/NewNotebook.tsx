// Button for a new notebook, and a menu of templates.
import { ChevronDown, FilePlus } from "lucide-react";
import { Suspense, useState } from "react";
import type { Session } from "../../app/session/session.ts";
import { part } from "../../ui/parts.ts";
import type { Choice } from "./Templates.tsx";

const loadTemplates = () => import("./Templates.tsx");
const Templates = part(loadTemplates);

interface Props {
  session: Session;
  make: (body: { title: string; with_cell?: boolean; template?: Choice }) => void;
}

export function NewNotebook({ session, make }: Props) {
  const [isWanted, setIsWanted] = useState(false);
  const button = (
    <button
      className="button primary icon"
      aria-haspopup="menu"
      aria-label="New from template"
      title="New from template"
      onPointerEnter={() => void loadTemplates()}
      onClick={() => setIsWanted(true)}
    >
      <ChevronDown size={16} aria-hidden />
    </button>
  );
  return (
    <span className="row joined">
      <button className="button primary" onClick={() => make({ title: "Untitled", with_cell: true })}>
        <FilePlus size={16} aria-hidden /> New notebook
      </button>
      {isWanted ? (
        <Suspense fallback={button}>
          <Templates session={session} make={(title, template) => make({ title, template })} />
        </Suspense>
      ) : (
        button
      )}
    </span>
  );
}
