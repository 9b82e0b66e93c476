/** Compliance entries of commands that an operator runs on the host. @module */

import { selectComplianceConfig } from "../../../db/enterprise/compliance_config.ts";
import { selectHead } from "../../../db/enterprise/compliance_logs.ts";
import type { Deps } from "../../deps.ts";
import { chainEntry, OWN_ENTRY } from "./append.ts";

/**
 * Records a command if the compliance log is enabled and not empty, even if the license has expired.
 *
 * @param command E.g. `user add`.
 */
export function recordCommandEntry(
  { db, now }: Pick<Deps, "db" | "now">,
  command: string,
  target: string,
): void {
  const [resource = ""] = command.split(" ");
  db.transaction(() => {
    const isStarted = selectHead(db)?.sequence !== 0;
    if (!isStarted || !selectComplianceConfig(db).enabled) return;
    chainEntry({ db, now }, {
      ...OWN_ENTRY,
      actor_id: "console",
      actor_type: "system",
      severity: "warning",
      action: command.replaceAll(" ", "."),
      resource_type: resource,
      resource_id: target || null,
      detail: `longshore ${command}`,
    });
  });
}
