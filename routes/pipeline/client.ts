/** The client of a request that signs in. @module */

import type { Caller } from "../../services/access/caller.ts";
import { type Client, USER_AGENT_MAX } from "../../services/access/client.ts";

export const clientOf = ({ address }: Caller, { headers }: Request): Client => ({
  address,
  userAgent: headers.get("user-agent")?.slice(0, USER_AGENT_MAX).toWellFormed() ?? null,
});
