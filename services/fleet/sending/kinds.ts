/** The job that sends a snapshot to a host of this hub. @module */

import { AppError } from "../../errors.ts";
import type { NamedJobKind } from "../../jobs/kind.ts";
import type { JobUser } from "./host_requests.ts";
import type { SendInput, SendResult } from "./job.ts";

export const sendKind: NamedJobKind<SendInput, SendResult, JobUser> = {
  id: "backup.send",
  group: "Backups",
  title: "Send",
  running: "Sending {target}",
  steps: { send: "Send", restore: "Start the restore", verify: "Restore and verify" },
  unit: "bytes",
  isListed: true,
  targetType: "host",
  role: "admin",
  permission: "backup:write",
  async run(deps, job) {
    return await (await import("./send.ts")).sendSnapshot(deps, job);
  },
  // The rights of its user are not stored.
  recover(_deps, { hasBegun, input: { host } }) {
    const advice = hasBegun("restore")
      ? `host ${host.name} goes on with its restore, see its jobs`
      : "send the snapshot again: what has arrived is reused";
    throw new AppError("unavailable", `The service stopped before the job had finished; ${advice}`);
  },
};
