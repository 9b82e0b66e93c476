/** The open page: its path and query are the only state that survives a reload. @module */

import { computed, signal } from "@preact/signals";
import { isOfServer, isTerminal, type Match, matchPath } from "../paths.ts";
import { HOST, ROOT } from "./root.ts";
import { DOOR, isReplaced } from "./session.ts";

interface Place {
  /** Below the service's root, e.g. `/containers`. */
  pathname: string;
  search: string;
}

const currentPlace = (): Place => ({ pathname: pathOf(location), search: location.search });

/** The path below the service's root. The root itself may lack its slash. */
function pathOf({ pathname }: { pathname: string }): string {
  return "/" + pathname.slice(ROOT.pathname.length);
}

export const place = signal<Place>(currentPlace());

/** Apart from the query, which changes with each key in a search. */
const pathname = computed(() => place.value.pathname);

/** The open page; `undefined` for an unknown address. */
export const page = computed<Match | undefined>(() => matchPath(pathname.value));

/** Counts page changes. At 0 the document was opened at this page, and the browser sets the focus. */
export const visits = signal(0);

/** The parameters of the query. */
export const query = computed(() => new URLSearchParams(place.value.search));

/**
 * Delay between a change of the query and the address, in milliseconds. Each key in a search changes
 * the query; Safari refuses more than 100 changes of the address in 30 seconds.
 */
const ADDRESS_DELAY_MS = 200;

let addressTimer: ReturnType<typeof setTimeout> | undefined;

/** A constant, because an address takes its path apart each time it is asked. */
const ROOT_PATH = ROOT.pathname;

const HOST_PATH = HOST === undefined ? "" : `/hosts/${HOST}`;

/** The path below the service's root of a page that a page of this document names. */
const ownPath = (path: string): string =>
  HOST === undefined || isOfServer(path) ? path : HOST_PATH + path;

/** The path of the open page as the pages name it: without its host. */
export const pagePath = (): string => pathname.value.slice(HOST_PATH.length) || "/";

/** The address of a path of the service, for links. Those of a host's pages stay at the host. */
export const href = (path: string): string => addressOf(ownPath(path));

const addressOf = (path: string): string => ROOT_PATH + path.slice(1);

/** Set while the open page must not be left without a question. */
let guard: { ask: () => Promise<boolean>; end: () => void } | undefined;

/**
 * Asks before the open page is left, e.g. because of unsaved changes.
 *
 * @param ask Resolves to whether the page may be left.
 * @returns Ends it.
 */
export function guardPage(ask: () => Promise<boolean>): () => void {
  const warn = (event: Event) => {
    if (!isReplaced()) event.preventDefault();
  };
  addEventListener("beforeunload", warn);
  const own = {
    ask,
    end() {
      removeEventListener("beforeunload", warn);
      if (guard === own) guard = undefined;
    },
  };
  guard = own;
  return own.end;
}

/** Does something that leaves the page, if it may be left. */
async function leave(pathname: string, go: () => void, stay = () => {}): Promise<void> {
  // Without a session nothing can be asked or saved.
  if (!guard || pathname === place.peek().pathname || pathname === DOOR) return go();
  const { ask, end } = guard;
  if (!await ask()) return stay();
  end();
  go();
}

/** Opens a path of the dashboard, e.g. `/containers?state=exited`. At a host, it is that host's. */
export function navigate(path: string, options: { replace?: boolean } = {}): void {
  go(ownPath(path), options);
}

/** @param path Below the service's root. */
function go(path: string, options: { replace?: boolean } = {}): void {
  void leave(path.split("?")[0]!, () => open(path, options));
}

function open(path: string, { replace = false }: { replace?: boolean }): void {
  const before = page.peek();
  const next = matchPath(path.split("?")[0]!);
  if (isTerminal(before) || isTerminal(next) || next?.host !== HOST) {
    return location[replace ? "replace" : "assign"](addressOf(path));
  }
  writeAddress();
  history[replace ? "replaceState" : "pushState"](null, "", addressOf(path));
  arrive(before);
}

/** Changes parameters of the query without a new entry in the history; `undefined` removes one. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const next = new URLSearchParams(place.peek().search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") next.delete(name);
    else next.set(name, value);
  }
  const search = next.size > 0 ? `?${next}` : "";
  if (search === place.peek().search) return;
  place.value = { pathname: place.peek().pathname, search };
  clearTimeout(addressTimer);
  addressTimer = setTimeout(writeAddress, ADDRESS_DELAY_MS);
}

/** Brings the address up to date with the query. */
function writeAddress(): void {
  clearTimeout(addressTimer);
  const { pathname, search } = place.peek();
  if (search !== location.search) history.replaceState(null, "", addressOf(pathname) + search);
}

/** Identifies a page; its tabs share it. */
export const keyOf = ({ path, params }: Match): string =>
  `${path.split("/:tab")[0]} ${params.id ?? ""}`;

/** Moves the focus to the page, so that it is announced. Pages are drawn into `main`. */
export function focusPage(): void {
  document.querySelector("main")?.focus({ preventScroll: true });
}

function arrive(before: Match | undefined): void {
  place.value = currentPlace();
  const now = page.peek();
  if (now && before && keyOf(now) === keyOf(before)) return;
  scrollTo(0, 0);
  visits.value++;
}

/** Follows links and the browser's buttons. Links to other pages and new tabs are the browser's. */
export function startRouter(): void {
  let current = page.peek();
  page.subscribe((next) => current = next);
  addEventListener("pagehide", writeAddress);
  addEventListener("popstate", () => {
    clearTimeout(addressTimer);
    const before = current;
    const { pathname, search } = place.peek();
    // The browser has already changed the address.
    const stay = () => history.pushState(null, "", addressOf(pathname) + search);
    void leave(pathOf(location), () => arrive(before), stay);
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest?.("a");
    if (!link || link.target || link.origin !== location.origin || link.hash) return;
    const path = pathOf(link);
    if (!matchPath(path)) return;
    event.preventDefault();
    go(path + link.search);
  });
}
