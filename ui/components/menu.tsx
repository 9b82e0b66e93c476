/**
 * A button that opens a menu (WAI-ARIA Authoring Practices, menu button).
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Icon, type IconName } from "./icon.tsx";

export interface MenuItem {
  name: string;
  /** Omit it for an item that cannot be chosen now. */
  onSelect?: (() => void) | undefined;
  danger?: boolean;
  /** Makes it an item that is checked or not; the menu stays open. */
  checked?: boolean;
}

interface MenuProps {
  /** The button's name. */
  name: string;
  icon?: IconName;
  /** Shown instead of the icon. */
  children?: ComponentChildren;
  items: () => readonly MenuItem[];
}

const GAP_PX = 4;

export function Menu({ name, icon = "more", children, items }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const isOpen = useSignal(false);

  const open = (event: Event) => {
    if (isOpen.peek()) return; // The browser closes it.
    event.preventDefault();
    isOpen.value = true;
  };
  const close = () => {
    list.current?.hidePopover();
    button.current?.focus();
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
    if (!isOpen.value) return;
    list.current!.showPopover();
    placeBelow(list.current!, button.current!);
    list.current!.querySelector<HTMLElement>("[role^=menuitem]")?.focus();
    // It has a place in the window, which the button leaves.
    const hide = ({ target }: Event) => {
      if (target === document || target === window) list.current?.hidePopover();
    };
    addEventListener("scroll", hide, { capture: true });
    addEventListener("resize", hide);
    return () => {
      removeEventListener("scroll", hide, { capture: true });
      removeEventListener("resize", hide);
    };
  }, [isOpen.value]);

  return (
    <>
      <button
        ref={button}
        type="button"
        class={children ? "button plain" : "button icon-only"}
        aria-label={name}
        title={children ? undefined : name}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        aria-controls={id}
        popovertarget={id}
        onClick={open}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") open(event);
        }}
      >
        {children ?? <Icon name={icon} />}
      </button>
      {isOpen.value && (
        <div
          ref={list}
          id={id}
          class="menu"
          role="menu"
          aria-label={name}
          popover="auto"
          onKeyDown={moveFocus}
          onToggle={({ newState }) => isOpen.value = newState === "open"}
        >
          {items().map((item) => (
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
              {item.checked !== undefined && <span class="tick">{item.checked ? "✓" : ""}</span>}
              {item.name}
            </button>
          ))}
        </div>
      )}
    </>
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
