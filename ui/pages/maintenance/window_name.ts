/** Names of maintenance windows. @module */

import type { MaintenanceWindow } from "../../api/types.ts";

/** E.g. `0 3 * * sat (Weekly import)`. */
export const windowName = ({ cron, comment }: Pick<MaintenanceWindow, "cron" | "comment">) =>
  comment === "" ? cron : `${cron} (${comment})`;
