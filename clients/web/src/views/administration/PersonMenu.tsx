// Menu of an account in the table of people.
import { Menu } from "@base-ui/react/menu";
import { EllipsisVertical } from "lucide-react";
import type { User } from "../../protocol/rest.ts";
import { MenuPopup } from "../../ui/MenuPopup.tsx";
import type { Asked } from "./PersonDialog.tsx";

interface Props {
  user: User;
  ask: (what: Asked["what"]) => void;
}

const idOf = ({ id }: User) => `menu-of-${id}`;

/** Button of an account's menu, which gets the focus after a dialog. */
export function menuOf(user: User): HTMLElement | null {
  return document.getElementById(idOf(user));
}

export function PersonMenu({ user, ask }: Props) {
  const { name, is_admin, has_password, deactivated_at } = user;
  const isActive = deactivated_at == null;
  return (
    <Menu.Root>
      <Menu.Trigger id={idOf(user)} className="button bare icon" aria-label={`Actions for ${name}`} title="Actions">
        <EllipsisVertical size={16} />
      </Menu.Trigger>
      {/* Inside a landmark, for screen readers. */}
      <Menu.Portal container={document.querySelector("main")}>
        <Menu.Positioner sideOffset={4} align="end" className="above">
          <MenuPopup>
            {isActive && (
              <Menu.Item className="item" onClick={() => ask("reset")}>
                {has_password ? "Reset password…" : "New invitation link…"}
              </Menu.Item>
            )}
            <Menu.Item className="item" onClick={() => ask("sign-ins")}>
              Linked sign-ins…
            </Menu.Item>
            {isActive && (
              <Menu.Item className="item" onClick={() => ask(is_admin ? "demote" : "promote")}>
                {is_admin ? "Remove as administrator…" : "Make administrator…"}
              </Menu.Item>
            )}
            {isActive ? (
              <Menu.Item className="item danger" onClick={() => ask("deactivate")}>
                Deactivate…
              </Menu.Item>
            ) : (
              <Menu.Item className="item" onClick={() => ask("reactivate")}>
                Reactivate…
              </Menu.Item>
            )}
          </MenuPopup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
