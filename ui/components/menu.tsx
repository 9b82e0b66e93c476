/** A button that opens a menu (WAI-ARIA Authoring Practices, menu button). @module */

import type { ComponentChildren, RefObject, TargetedEvent } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { focusPage } from "../state/router.ts";
import { Icon, type IconName } from "./icon.tsx";

export interface MenuItem {
  name: string;
  /** Omit it for an item that cannot be chosen now. */
  onSelect?: (() => void) | undefined;
  danger?: boolean;
  /** Makes it an item that is checked or not; the menu stays open. */
  checked?: boolean;
}

const GAP_PX = 4;

/** Numbers menus, for their ids. */
let opened = 0;

interface MenuButtonProps {
  name: string;
  /** Default: three dots. */
  icon?: IconName;
  /** Shown instead of the icon. */
  children?: ComponentChildren;
}

/** A button and its menu. */
export function Menu({ items, ...look }: MenuButtonProps & { items: () => readonly MenuItem[] }) {
  const isOpen = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  // It may go with what it acts on.
  useLayoutEffect(() => () => {
    if (document.activeElement === button.current) focusPage();
  }, []);
  return (
    <>
      <MenuButton {...look} element={button} onOpen={() => isOpen.value = true} />
      {isOpen.value && (
        <OpenMenu
          button={button.current!}
          items={items()}
          onClose={() => isOpen.value = false}
        />
      )}
    </>
  );
}

/** The button alone, e.g. in each row of a table that shows one menu for all. */
export function MenuButton({ name, icon, children, element, onOpen }: MenuButtonProps & {
  element?: RefObject<HTMLButtonElement | null>;
  onOpen: (button: HTMLButtonElement) => void;
}) {
  const open = (event: TargetedEvent<HTMLButtonElement>) => {
    // The browser closes an open one.
    if (event.currentTarget.ariaExpanded === "true") return;
    event.preventDefault();
    onOpen(event.currentTarget);
  };
  return (
    <button
      {...element && { ref: element }}
      type="button"
      class={children ? "button plain" : icon ? "button icon-only" : "button icon-only more"}
      aria-label={name}
      aria-haspopup="menu"
      aria-expanded="false"
      onClick={open}
      onKeyDown={(event) => {
        if (event.key === "ArrowDown") open(event);
      }}
    >
      {children ?? (icon && <Icon name={icon} />)}
    </button>
  );
}

/** Below its button, from which it has its name. */
export function OpenMenu({ button, items, onClose }: {
  button: HTMLButtonElement;
  items: readonly MenuItem[];
  onClose: () => void;
}) {
  const id = useMemo(() => `menu-${++opened}`, []);
  const list = useRef<HTMLDivElement>(null);

  const close = () => {
    list.current!.hidePopover();
    button.focus();
  };
  const choose = ({ onSelect, checked }: MenuItem) => {
    if (!onSelect) return;
    if (checked === undefined) close();
    onSelect();
  };
  const moveFocus = (event: KeyboardEvent) => {
    const all = [...list.current!.querySelectorAll<HTMLElement>("[role^=menuitem]")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = nextIndex(event.key, at, all);
    if (next === undefined) return event.key === "Tab" ? close() : undefined;
    event.preventDefault();
    all[next]?.focus();
  };
  useLayoutEffect(() => {
    const menu = list.current!;
    menu.showPopover();
    placeBelow(menu, button);
    button.ariaExpanded = "true";
    button.setAttribute("aria-controls", id);
    button.popoverTargetElement = menu;
    menu.querySelector<HTMLElement>("[role^=menuitem]")?.focus();
    // It has a place in the window, which the button leaves.
    const hide = ({ target }: Event) => {
      if (target === document || target === window) menu.hidePopover();
    };
    addEventListener("scroll", hide, { capture: true });
    addEventListener("resize", hide);
    return () => {
      button.ariaExpanded = "false";
      button.removeAttribute("aria-controls");
      button.popoverTargetElement = null;
      // Its button has gone with what it belongs to, such as a row that was deleted.
      if (menu.contains(document.activeElement)) focusPage();
      removeEventListener("scroll", hide, { capture: true });
      removeEventListener("resize", hide);
    };
  }, []);

  return (
    <div
      ref={list}
      id={id}
      class="menu"
      role="menu"
      aria-label={button.ariaLabel!}
      popover="auto"
      onKeyDown={moveFocus}
      onToggle={({ newState }) => newState === "closed" && onClose()}
    >
      {items.map((item) => (
        <button
          key={item.name}
          type="button"
          class={item.danger ? "danger" : undefined}
          role={item.checked === undefined ? "menuitem" : "menuitemcheckbox"}
          aria-checked={item.checked}
          aria-disabled={item.onSelect ? undefined : "true"}
          tabIndex={-1}
          onClick={() => choose(item)}
        >
          {item.checked !== undefined && (
            <span class="tick" aria-hidden="true">{item.checked ? "✓" : ""}</span>
          )}
          {item.name}
        </button>
      ))}
    </div>
  );
}

/** Below the button and inside the window. */
function placeBelow(list: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = list;
  const below = at.bottom + GAP_PX;
  const fits = below + height < innerHeight;
  list.style.top = `${fits ? below : Math.max(GAP_PX, at.top - height - GAP_PX)}px`;
  list.style.left = `${Math.max(GAP_PX, Math.min(at.left, innerWidth - width - 2 * GAP_PX))}px`;
}

/** Arrows, Home, End, and letters, which lead to the next item that begins with them. */
function nextIndex(key: string, at: number, all: readonly HTMLElement[]): number | undefined {
  const { length } = all;
  switch (key) {
    case "ArrowDown":
      return (at + 1) % length;
    case "ArrowUp":
      return (at + length - 1) % length;
    case "Home":
      return 0;
    case "End":
      return length - 1;
  }
  if (!/^[a-z]$/i.test(key)) return undefined;
  const matches = (index: number) =>
    all[index % length]!.textContent!.trim().toLowerCase().startsWith(key.toLowerCase());
  const found = [...all.keys()].map((step) => at + 1 + step).find(matches);
  return found === undefined ? undefined : found % length;
}
