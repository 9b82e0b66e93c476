/**
 * Host: its metrics over time, what the engine stores on its disk, and the engine.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { hasRole } from "../../state/session.ts";
import { PruneDialog } from "../prune.tsx";
import { DiskUse, useDiskUse } from "./disk_use.tsx";
import { EngineFacts } from "./engine.tsx";
import { HostCharts } from "./charts.tsx";

export default function Host() {
  const isPruning = useSignal(false);
  const diskUse = useDiskUse();
  return (
    <Page
      title="Host"
      actions={hasRole("admin") && <Button onClick={() => isPruning.value = true}>Prune</Button>}
    >
      <HostCharts />
      <div class="host-parts">
        <DiskUse reading={diskUse} />
        <EngineFacts />
      </div>
      {isPruning.value && (
        <PruneDialog
          things="unused objects"
          kinds={["containers", "networks", "buildCache", "volumes", "images"]}
          onClose={() => isPruning.value = false}
          onPruned={diskUse.reload}
        />
      )}
    </Page>
  );
}
