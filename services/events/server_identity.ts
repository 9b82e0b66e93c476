/** The identity of this server in events: a name for people and an id for programs. @module */

import { selectSetting, upsertSetting } from "../../db/settings.ts";
import type { Database, StateDatabase } from "../../db/database.ts";
import type { Config } from "../config/config.ts";

export interface ServerIdentity {
  /** `SERVER_NAME`; may change at each start. */
  name: string;
  /** A UUID that stays the same for the life of the data directory. */
  id: string;
}

const SERVER_ID = "server_id";

/** The id of the server with this data; `undefined` if it has never been started. */
export const storedServerId = (db: Database): string | undefined => selectSetting(db, SERVER_ID);

/** Reads the identity of this server; the first call for a data directory stores a new id. */
export function serverIdentity(
  db: StateDatabase,
  { serverName }: Pick<Config, "serverName">,
): ServerIdentity {
  const stored = storedServerId(db);
  const id = stored ?? crypto.randomUUID();
  if (stored === undefined) upsertSetting(db, SERVER_ID, id);
  return { name: serverName, id };
}
