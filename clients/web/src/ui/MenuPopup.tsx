// Popup of a menu. Focusable, so that the keyboard can scroll a list longer than the window.
import { Menu } from "@base-ui/react/menu";
import type { ComponentProps } from "react";

export function MenuPopup({ className = "", ...props }: ComponentProps<typeof Menu.Popup> & { className?: string }) {
  return <Menu.Popup {...props} className={`menu ${className}`.trimEnd()} tabIndex={0} />;
}
