/**
 * The compliance entry of a command that an operator ran on the host.
 *
 * @module
 */

import { selectComplianceConfig } from "../../../db/enterprise/compliance_config.ts";
import { selectHead } from "../../../db/enterprise/compliance_logs.ts";
import type { Deps } from "../../deps.ts";
import { chainEntry } from "./append.ts";

/**
 * Records a command where a compliance log was started, whether the license is still in force or
 * not.
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
      actor_id: "console",
      actor_type: "system",
      category: "security",
      severity: "warning",
      action: command.replaceAll(" ", "."),
      resource_type: resource,
      resource_id: target || null,
      detail: `longshore ${command}`,
      outcome: "success",
      metadata: null,
      recorded_by: null,
    });
  });
}
