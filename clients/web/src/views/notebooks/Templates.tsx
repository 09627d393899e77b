// Menu of templates for a new notebook. Lazy: loads with the first menu.
import { Menu } from "@base-ui/react/menu";
import { ChevronDown } from "lucide-react";
import type { Session } from "../../app/session/session.ts";
import type { TemplateChoice as Choice } from "../../protocol/rest.ts";
import { useTemplates } from "./Beginnings.tsx";
import { MenuPopup } from "../../ui/MenuPopup.tsx";

export type { Choice };

interface Props {
  session: Session;
  make: (title: string, template: Choice) => void;
}

export default function Templates({ session, make }: Props) {
  const { templates, error } = useTemplates(session);
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger className="button primary icon" aria-label="New from template" title="New from template">
        <ChevronDown size={16} aria-hidden />
      </Menu.Trigger>
      {/* Inside a landmark, for screen readers. */}
      <Menu.Portal container={document.querySelector("main")}>
        <Menu.Positioner sideOffset={4} align="end" className="above">
          <MenuPopup className="templates">
            {error && <p className="note small error">{error}</p>}
            {!templates && !error && <p className="note small">Loading…</p>}
            {templates?.starters.map(({ id, title, description }) => (
              <Entry key={id} title={title} description={description} choose={() => make(title, { starter: id })} />
            ))}
            {templates && <p className="note small heading">Your templates</p>}
            {templates?.notebooks.map(({ notebook, title, description }) => (
              <Entry key={notebook} title={title} description={description} choose={() => make(title, { notebook })} />
            ))}
            {templates?.notebooks.length === 0 && (
              <p className="note small">None yet. Choose “Use as template” in a notebook’s menu.</p>
            )}
          </MenuPopup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function Entry({ title, description, choose }: { title: string; description: string; choose: () => void }) {
  return (
    <Menu.Item className="item" onClick={choose}>
      <span>
        <span dir="auto">{title || "Untitled"}</span>
        {description && (
          <span className="quiet small what" dir="auto">
            {description}
          </span>
        )}
      </span>
    </Menu.Item>
  );
}
