/** Deletes records that have exceeded their retention period. @module */

import { rounds, type Worker } from "../lifecycle.ts";
import { sweepOutbox } from "../events/outbox.ts";
import { sweepAlertEvents } from "../alerts/events.ts";
import { sweepAudit } from "../access/audit/audit.ts";
import { sweepIntegrationData } from "../automation/integrations/data.ts";
import { sweepJobs } from "../jobs/jobs.ts";
import { sweepProblems } from "../messages/causes.ts";
import { sweepGroups } from "../messages/grouping.ts";
import { sweepThreads } from "../messages/delivery.ts";
import { sweepScheduleRuns } from "../automation/schedules/runs.ts";
import { sweepSilences } from "../alerts/silences/silences.ts";
import { sweepUpdates } from "../updates/check/retention.ts";
import { sweepExpiredTokens } from "../access/sign_in/sessions.ts";
import { sweepPreviousImages } from "../updates/run/previous.ts";

const ROUND_MS = 60 * 60 * 1000;

export const retentionSweeper: Worker = {
  name: "retention sweeper",
  edition: "ce",
  run: rounds(ROUND_MS, async (deps) => {
    sweepExpiredTokens(deps);
    sweepAudit(deps);
    sweepOutbox(deps);
    sweepThreads(deps);
    sweepGroups(deps);
    sweepProblems(deps);
    sweepAlertEvents(deps);
    sweepSilences(deps);
    sweepScheduleRuns(deps);
    sweepJobs(deps);
    sweepUpdates(deps);
    await sweepIntegrationData(deps);
    await sweepPreviousImages(deps);
  }),
};
