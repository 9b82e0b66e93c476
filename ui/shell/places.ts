/** Places that the keyboard leads to, as the dialogs of the shell know them. @module */

import type { LISTED } from "../pages/mod.ts";

/** Pages by the key after `g`. */
export const PLACES: Readonly<Record<string, readonly [path: string, what: string]>> = {
  o: ["/", "overview"],
  c: ["/containers", "containers"],
  l: ["/logs", "logs"],
  s: ["/stacks", "stacks"],
  i: ["/images", "images"],
  u: ["/updates", "updates"],
  n: ["/networks", "networks"],
  v: ["/volumes", "volumes"],
  h: ["/host", "host"],
  a: ["/alerts", "alerts"],
};

/** They get what the first file has: a file that both import would be another request. */
export interface OverlayProps {
  pages: typeof LISTED;
  places: typeof PLACES;
  onClose: () => void;
}
