/** The words for what the version of a host lacks; pages say the same (`ui/api/client.ts`). @module */

import type { StoredHost } from "../../../db/fleet_hosts.ts";

/** @param endpoint E.g. `GET /api/feed`. */
export const describeMissing = (
  { name, version }: Pick<StoredHost, "name" | "version">,
  endpoint: string,
): string => `Host ${name} does not have ${endpoint}; it runs version ${version}`;
