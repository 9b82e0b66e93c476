/**
 * Keeps what was entered while the user signs in again, in memory only: it may have secrets.
 *
 * @module
 */

import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { place } from "../../../state/router.ts";
import { accessToken, session, sessionEnd } from "../../../state/session.ts";

let kept: { user: string; pathname: string; value: unknown } | undefined;

effect(() => {
  if (sessionEnd.value === "signed-out") kept = undefined;
  if (session.value) void currentUser().then(dropOfOthers);
});

function dropOfOthers(user: string | undefined): void {
  if (kept?.user !== user) kept = undefined;
}

/**
 * Keeps a value if the session ends while the page is open, and restores it on the same page after
 * the same user has signed in again.
 *
 * @param value `undefined` if nothing has to be kept.
 */
export function useKept<Value>(value: Value | undefined, restore: (value: Value) => void): void {
  const latest = useRef(value);
  latest.current = value;
  useEffect(() => {
    const { pathname } = place.peek();
    let user: string | undefined;
    let isClosed = false;
    void currentUser().then((id) => {
      if (isClosed) return;
      user = id;
      dropOfOthers(id);
      if (kept?.pathname !== pathname) return;
      restore(kept.value as Value);
      kept = undefined;
    });
    return () => {
      isClosed = true;
      if (session.peek() !== null || sessionEnd.peek() !== "ended") return;
      if (user !== undefined && latest.current !== undefined) {
        kept = { user, pathname, value: latest.current };
      }
    };
  }, []);
}

/** The id of the signed-in user, which is the subject of the access token. */
async function currentUser(): Promise<string | undefined> {
  const payload = (await accessToken())?.split(".")[1];
  if (payload === undefined) return undefined;
  return JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))).sub;
}
