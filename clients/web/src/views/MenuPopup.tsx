// The list of a menu. One that is longer than the window scrolls, so keys must reach the list itself, not its items alone.
import { Menu } from "@base-ui/react/menu";
import type { ComponentProps } from "react";

export function MenuPopup({ className = "", ...props }: ComponentProps<typeof Menu.Popup> & { className?: string }) {
  return <Menu.Popup {...props} className={`menu ${className}`.trimEnd()} tabIndex={0} />;
}
