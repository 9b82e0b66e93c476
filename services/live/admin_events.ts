/** Events of `GET /api/stream` that only admins receive. @module */

import type { EventKind } from "../events/events.ts";

/** Type of their frames in the hub; clients see the type `event`. */
export const ADMIN_EVENT = "admin event";

/** Events about other users' accounts. */
export const ADMIN_KINDS: ReadonlySet<EventKind> = new Set<EventKind>(["account.new_sign_in"]);
