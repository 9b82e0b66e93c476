/** Tab of Longshore's own data: databases, keys and license in one file. @module */

import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { save } from "../../api/files.ts";
import { Button } from "../../components/button.tsx";
import { Section } from "../../components/page.tsx";
import { addStyles } from "../../components/styles.ts";
import { withResult } from "../../state/toasts.ts";
import { OwnBackups } from "./own.tsx";
import styles from "./backups.css" with { type: "text" };

addStyles(styles);

export function Server() {
  const isBusy = useSignal(false);
  const download = async () => {
    isBusy.value = true;
    await withResult("Downloaded the backup", () => save("api/backup", "POST"));
    isBusy.value = false;
  };
  return (
    <>
      <div class="tab-actions">
        <Button
          kind="primary"
          icon="down"
          busy={isBusy.value}
          onClick={() => void download()}
        >
          Download backup
        </Button>
      </div>
      <div class="stacked prose">
        <Section title="Back up">
          <p>
            One file with both databases, the keys and the license. This command on the host writes
            the same, also while the service runs:
          </p>
          <Commands>longshore backup longshore.backup</Commands>
          <p>
            The file contains the keys that decrypt stored secrets, so keep it as secret as the data
            directory. Containers, images and volumes are not part of it, nor are secrets that are
            set by environment variables.
          </p>
          <p>A line for root's crontab that keeps seven backups:</p>
          <Commands>
            {"0 2 * * * longshore backup --force /root/longshore-$(date +\\%u).backup"}
          </Commands>
        </Section>
        <OwnBackups />
        <Section title="Restore">
          <p>
            Stop the service first. The whole file is checked before anything changes, and the
            replaced files stay in the data directory, in <code>replaced-DATE</code>. From a target:
            {" "}
            <code>longshore restore --from LOCATION</code>.
          </p>
          <Commands>
            {"systemctl stop longshore\nlongshore restore longshore.backup\n" +
              "systemctl start longshore"}
          </Commands>
        </Section>
      </div>
    </>
  );
}

function Commands({ children }: { children: ComponentChildren }) {
  return <pre class="commands">{children}</pre>;
}
