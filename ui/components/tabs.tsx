/** Tabs, each at its own address. @module */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { href, navigate } from "../state/router.ts";

export interface Tab {
  name: string;
  /** Path of the dashboard. */
  to: string;
}

/** @param props.current The name of the open tab, whose content is `children`. */
export function Tabs({ name, tabs, current, children }: {
  name: string;
  tabs: readonly Tab[];
  current: string;
  children: ComponentChildren;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a phone the list of tabs scrolls. Only the list: the page keeps its place.
    const box = list.current!;
    const tab = box.querySelector<HTMLElement>("[aria-selected=true]");
    if (tab) box.scrollLeft = tab.offsetLeft - (box.clientWidth - tab.offsetWidth) / 2;
  }, [current]);
  const open = (index: number) => {
    const tab = tabs[(index + tabs.length) % tabs.length]!;
    navigate(tab.to, { replace: true });
    list.current!.querySelectorAll<HTMLElement>("[role=tab]")[tabs.indexOf(tab)]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.name === current);
    const steps: Record<string, number> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: tabs.length - 1,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    open(next);
  };
  return (
    <>
      <div ref={list} class="tabs" role="tablist" aria-label={name} onKeyDown={onKeyDown}>
        {tabs.map((tab, at) => (
          <a
            key={tab.name}
            id={`${id}-${at}`}
            role="tab"
            href={href(tab.to)}
            aria-selected={tab.name === current}
            aria-controls={tab.name === current ? `${id}-panel` : undefined}
            tabIndex={tab.name === current ? 0 : -1}
          >
            {tab.name}
          </a>
        ))}
      </div>
      <div
        id={`${id}-panel`}
        class="tab-panel"
        role="tabpanel"
        aria-labelledby={`${id}-${tabs.findIndex((tab) => tab.name === current)}`}
        tabIndex={0}
      >
        {children}
      </div>
    </>
  );
}
