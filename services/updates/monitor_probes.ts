/** Uptime monitors, as updates use them. Only Pro has monitors. @module */

import type { StateDatabase } from "../../db/database.ts";
import type { Config } from "../config/config.ts";
import type { Edition } from "../edition.ts";
import type { Secrets } from "../secrets/secrets.ts";

/** The parts of the service that a check needs. */
interface MonitorProbeDeps {
  db: StateDatabase;
  config: Config;
  secrets: Secrets;
}

/** Loads the monitors of an edition on first use. */
export interface MonitorProbes {
  edition: Edition;
  load(): Promise<LoadedMonitorProbes>;
}

export interface LoadedMonitorProbes {
  /** The name of a monitor; `undefined` if it does not exist. */
  nameOf(deps: MonitorProbeDeps, id: string): string | undefined;
  /**
   * Checks a monitor now, even if it is paused. The result is neither recorded nor does it begin or
   * end an outage.
   *
   * @returns Whether it succeeded; false for a monitor that was deleted or cannot be used.
   * @throws The signal's reason.
   */
  succeeds(deps: MonitorProbeDeps, id: string, signal: AbortSignal): Promise<boolean>;
}
