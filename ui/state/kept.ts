/** Keeps what was entered while the user signs in again, in memory only. @module */

import { effect } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { place } from "./router.ts";
import { lastToken, session, sessionEnd } from "./session.ts";

/** Entries of forms, by page and part of it. */
const kept = new Map<string, unknown>();

/** The user who entered it. */
let owner: string | undefined;

effect(() => {
  const user = session.value ? subjectOf(lastToken()!) : owner;
  if (user !== owner || sessionEnd.value === "signed-out") kept.clear();
  owner = user;
});

const keyOf = (part: string) => `${place.peek().pathname} ${part}`;

/**
 * Entry of the same user on the same page when the session ended; {@linkcode useKeep} keeps it.
 *
 * @param part A name that is unique in the page.
 */
export function useKept<Value>(part: string): Value | undefined {
  return useMemo(() => {
    const key = keyOf(part);
    const value = kept.get(key) as Value | undefined;
    kept.delete(key);
    return value;
  }, []);
}

/**
 * Keeps what was entered if the session ends while the component is shown.
 *
 * @param read Returns what was entered; `undefined` if nothing has to be kept.
 */
export function useKeep(part: string, read: () => unknown): void {
  const latest = useRef(read);
  latest.current = read;
  // Not `useEffect`, whose cleanup runs when the elements are gone.
  useLayoutEffect(() => {
    const key = keyOf(part);
    return () => {
      if (session.peek() !== null || sessionEnd.peek() !== "ended") return;
      const value = latest.current();
      if (value !== undefined) kept.set(key, value);
    };
  }, []);
}

/** The `sub` claim of a JWT. */
function subjectOf(jwt: string): string {
  const claims = jwt.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/");
  return JSON.parse(atob(claims)).sub;
}
