/** Uptime monitors as part of the verdict about an update. @module */

import { selectMonitor } from "../../../db/pro/uptime/monitors.ts";
import { AppError } from "../../errors.ts";
import type { LoadedMonitorProbes } from "../../updates/monitor_probes.ts";
import { probe } from "./probe.ts";
import { openRequestOrConflict } from "./request.ts";

export const updateProbes: LoadedMonitorProbes = {
  nameOf: ({ db }, id) => selectMonitor(db, id)?.name,

  async succeeds(deps, id, signal) {
    const monitor = selectMonitor(deps.db, id);
    if (!monitor) return false;
    try {
      const target = { ...monitor, ...openRequestOrConflict(deps.secrets, monitor) };
      return (await probe(deps, target, signal)).ok;
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
  },
};
