/** Drills of stacks: when a restore was last tried out, and the start of a new one. @module */

import { api } from "../../api/client.ts";
import type { BackupDrill } from "../../api/types.ts";
import { duration, plain } from "../../base/text.ts";
import { State } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { beginJob } from "../../state/jobs.ts";

/** @param props.drill The newest one of the stack. */
export function LastDrill({ drill }: { drill: BackupDrill | undefined }) {
  if (!drill) return <State state="Never drilled" tone="idle" />;
  const { ok, at, durationMs, reason } = drill;
  return (
    <>
      <State state={ok ? "Restored and healthy" : "Failed"} tone={ok ? "good" : "bad"} />
      <p class="hint wrap">
        <Time at={at} />, {duration(durationMs / 1_000)}
        {!ok && `: ${plain(reason)}`}
      </p>
    </>
  );
}

/** For the role operator. */
export const beginDrill = (stack: string): Promise<boolean> =>
  beginJob(
    `The drill of ${plain(stack)}`,
    () => api("POST /api/backup/drills", { body: { stack } }),
  );
