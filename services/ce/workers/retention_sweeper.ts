/**
 * Deletes what has been kept for its time.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { sweepOutbox } from "../../outbox.ts";
import { sweepAlertEvents } from "../alert_events.ts";
import { sweepAudit } from "../audit.ts";
import { sweepIntegrationData } from "../integration_data.ts";
import { sweepScheduleRuns } from "../schedule_runs.ts";
import { sweepExpiredTokens } from "../sessions.ts";

const ROUND_MS = 60 * 60 * 1000;

export const retentionSweeper: Worker = {
  name: "retention sweeper",
  edition: "ce",
  async run(deps, signal, round) {
    for await (const _ of every(ROUND_MS, signal)) {
      sweepExpiredTokens(deps);
      sweepAudit(deps);
      sweepOutbox(deps);
      sweepAlertEvents(deps);
      sweepScheduleRuns(deps);
      await sweepIntegrationData(deps);
      round();
    }
  },
};
