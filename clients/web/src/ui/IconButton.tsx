// Button with an icon alone: its label is read aloud and shown as the tooltip.
import type { ComponentProps } from "react";

interface Props extends Omit<ComponentProps<"button">, "aria-label"> {
  label: string;
  /** The tooltip, if it says more or less than the label. */
  title?: string;
  isPressed?: boolean | undefined;
}

export function IconButton({ label, title = label, isPressed, className, ...rest }: Props) {
  return (
    <button
      className={className ? `button bare icon ${className}` : "button bare icon"}
      aria-label={label}
      title={title}
      aria-pressed={isPressed}
      {...rest}
    />
  );
}
