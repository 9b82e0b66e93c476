/**
 * The open page: its path and query are the only state that survives a reload.
 *
 * @module
 */

import { computed, signal } from "@preact/signals";
import { isTerminal, type Match, matchPath } from "../paths.ts";
import { ROOT } from "./root.ts";

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

/** The open page; `undefined` for an unknown address. */
export const page = computed<Match | undefined>(() => matchPath(place.value.pathname));

/** Counts page changes. At 0 the document was opened at this page, and the browser sets the focus. */
export const visits = signal(0);

/** The parameters of the query. */
export const query = computed(() => new URLSearchParams(place.value.search));

/** The address of a path of the service, for links. */
export const href = (path: string): string => ROOT.pathname + path.slice(1);

/** Opens a path of the dashboard, e.g. `/containers?state=exited`. */
export function navigate(path: string, { replace = false } = {}): void {
  const before = page.peek();
  if (isTerminal(before) || isTerminal(matchPath(path.split("?")[0]!))) {
    return location[replace ? "replace" : "assign"](href(path));
  }
  history[replace ? "replaceState" : "pushState"](null, "", href(path));
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
  history.replaceState(null, "", location.pathname + search);
  place.value = currentPlace();
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
  addEventListener("popstate", () => arrive(current));
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest?.("a");
    if (!link || link.target || link.origin !== location.origin || link.hash) return;
    const path = pathOf(link);
    if (!matchPath(path)) return;
    event.preventDefault();
    navigate(path + link.search);
  });
}
