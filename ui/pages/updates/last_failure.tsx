/** The last update of a container, if that failed or was rolled back. @module */

import { plain } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { useRead } from "../../components/reading.ts";
import { Time } from "../../components/time.tsx";
import { useKinds } from "../../parts/kinds.tsx";
import { useReloadOnEnd } from "../../state/jobs.ts";
import { jobKinds } from "../../state/kinds.ts";
import { JobDialog } from "./history.tsx";

const OUTCOMES: Readonly<Record<string, string>> = {
  failed: "failed",
  rolled_back: "was rolled back",
  needs_attention: "failed, and so did its rollback",
};

/** Nothing after a success. @param props.target Name of the container. */
export function LastFailure({ target }: { target: string }) {
  const kinds = useKinds(jobKinds).filter(({ group, targetType, isListed }) =>
    group === "Updates" && targetType === "container" && isListed
  );
  const kind = kinds.map(({ id }) => id);
  const { data, reload } = useRead(
    "GET /api/jobs",
    kind.length === 0 ? undefined : { query: { kind, target, limit: 1 } },
  );
  useReloadOnEnd({ targetType: "container", target }, reload);
  const dialog = useDialog();
  const job = data.value?.jobs[0];
  const outcome = job && OUTCOMES[job.status];
  if (!outcome) return null;
  const title = kinds.find(({ id }) => id === job.kind)?.title ?? job.kind;
  return (
    <div class="note warn">
      <p class="wrap">
        {title} {outcome}: {plain(job.error ?? "")}{" "}
        <span class="muted">
          <Time at={job.endedAt} />
        </span>
      </p>
      <Button onClick={() => dialog.open(JobDialog, { job, kinds })}>Details</Button>
      {dialog.shown}
    </div>
  );
}
