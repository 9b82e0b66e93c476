/** Stacks with data that were never backed up. A user can hide them, as some data need no backup. @module */

import { signal } from "@preact/signals";
import { plain } from "../../base/text.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { useRead } from "../../components/reading.ts";
import { engineReachable } from "../../state/live.ts";
import { HOST } from "../../state/root.ts";
import { hasRole } from "../../state/session.ts";
import type { Concern } from "./concern.tsx";
import { Names } from "./image_concerns.tsx";

/** Key of the browser's storage: the names of the hidden stacks. */
const HIDDEN_KEY = `longshore.hidden-unbacked${HOST === undefined ? "" : ` ${HOST}`}`;

const hidden = signal<readonly string[]>(readHidden());

/** At most one line. */
export function useUnbackedStacks(): Concern[] {
  const mayRead = engineReachable.value === true && hasRole("viewer", "backup:read");
  const { data } = useRead(
    "GET /api/backup/stacks",
    mayRead ? { query: { unprotected: true } } : undefined,
    ["/api/schedules", "/api/stacks"],
  );
  const names = (data.value?.stacks ?? []).map(({ stack }) => stack)
    .filter((name) => !hidden.value.includes(name));
  if (names.length === 0) return [];
  return [{
    key: "unbacked",
    tone: "note",
    icon: "disk",
    text: (
      <>
        <Names names={names.map(plain)} /> {names.length === 1 ? "was" : "were"} never backed up
      </>
    ),
    solution: (
      <>
        <LinkButton to="/backups">Back up</LinkButton>
        <Button kind="quiet" onClick={() => hide(names)}>Hide</Button>
      </>
    ),
  }];
}

function hide(names: readonly string[]): void {
  hidden.value = [...hidden.peek(), ...names];
  try {
    localStorage.setItem(HIDDEN_KEY, JSON.stringify(hidden.peek()));
  } catch {
    // Without storage they are hidden until the page is loaded again.
  }
}

function readHidden(): readonly string[] {
  try {
    const names: unknown = JSON.parse(localStorage.getItem(HIDDEN_KEY) ?? "[]");
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
}
