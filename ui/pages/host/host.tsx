/** Host: its metrics over time, what the engine stores on its disk, and the engine. @module */

import { Button } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { Page } from "../../components/page.tsx";
import { addStyles } from "../../components/styles.ts";
import { hasRole } from "../../state/session.ts";
import { PruneDialog } from "../../parts/prune.tsx";
import { DiskUse, useDiskUse } from "./disk_use.tsx";
import { EngineFacts } from "./engine.tsx";
import { HostCharts } from "./charts.tsx";
import styles from "./host.css" with { type: "text" };

addStyles(styles);

export default function Host() {
  const dialog = useDialog();
  const diskUse = useDiskUse();
  const prune = () =>
    dialog.open(PruneDialog, {
      things: "unused objects",
      kinds: [
        "containers",
        "networks",
        "buildCache",
        ...hasRole("admin", "volumes:prune") ? ["volumes"] as const : [],
        "images",
      ],
      onPruned: diskUse.reload,
    });
  return (
    <Page
      title="Host"
      actions={hasRole("admin", "system:prune") && <Button onClick={prune}>Prune</Button>}
    >
      <HostCharts />
      <div class="host-parts">
        <DiskUse reading={diskUse} />
        <EngineFacts />
      </div>
      {dialog.shown}
    </Page>
  );
}
