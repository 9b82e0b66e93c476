/** Buttons and links that look like them. @module */

import type { ComponentChildren } from "preact";
import { href } from "../state/router.ts";
import { Icon, type IconName } from "./icon.tsx";

interface ButtonProps {
  children: ComponentChildren;
  /** `primary` for the one that the page is there for, `danger` for what destroys. */
  kind?: "plain" | "primary" | "danger" | "quiet";
  icon?: IconName;
  /** Shows a spinner and takes no clicks. */
  busy?: boolean;
  disabled?: boolean;
  submit?: boolean;
  onClick?: () => void;
}

export function Button(
  { children, kind = "plain", icon, busy, disabled, submit, onClick }: ButtonProps,
) {
  return (
    <button
      type={submit ? "submit" : "button"}
      class={`button ${kind}`}
      disabled={disabled}
      aria-busy={busy ? "true" : undefined}
      onClick={busy ? undefined : onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that shows an icon only. */
export function IconButton(
  { name, icon, onClick }: { name: string; icon: IconName; onClick: () => void },
) {
  return (
    <button type="button" class="button icon-only" aria-label={name} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

/** A link that looks like a button. `to` is a path of the dashboard. */
export function LinkButton({ to, children, kind = "plain", icon }: {
  to: string;
  children: ComponentChildren;
  kind?: "plain" | "primary";
  icon?: IconName;
}) {
  return (
    <a class={`button ${kind}`} href={href(to)}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

/** A link to a path of the dashboard. */
export function Link({ to, children }: { to: string; children: ComponentChildren }) {
  return <a href={href(to)}>{children}</a>;
}
