/** The list of groups next to the operations, which marks the one in view. @module */

import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Group } from "./document.ts";

export function Groups({ groups }: { groups: readonly Group[] }) {
  const list = useRef<HTMLElement>(null);
  const inView = useGroupInView(groups);
  useEffect(() => {
    // Only the list scrolls: the page keeps its place.
    const box = list.current!;
    const link = box.querySelector<HTMLElement>("[aria-current]");
    if (!link) return;
    box.scrollTop = link.offsetTop - (box.clientHeight - link.offsetHeight) / 2;
    box.scrollLeft = link.offsetLeft - (box.clientWidth - link.offsetWidth) / 2;
  }, [inView]);
  return (
    <nav ref={list} class="api-groups" aria-label="Groups">
      {groups.map(({ id, name, edition, operations }, at) => (
        <Fragment key={id}>
          {edition !== groups[at - 1]?.edition && <strong>{edition}</strong>}
          <a href={`#${id}`} aria-current={inView === id ? "true" : undefined}>
            <span>{name}</span>
            <span class="numeric">{operations.length}</span>
          </a>
        </Fragment>
      ))}
    </nav>
  );
}

/** @returns The id of the first group that is visible. */
function useGroupInView(groups: readonly Group[]): string | undefined {
  const inView = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const visible = new Set<string>();
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) visible.add(target.id);
        else visible.delete(target.id);
      }
      inView.value = groups.find(({ id }) => visible.has(id))?.id;
    }, { rootMargin: "-80px 0px -50% 0px" });
    for (const { id } of groups) observer.observe(document.getElementById(id)!);
    return () => observer.disconnect();
  }, [groups]);
  return inView.value;
}
