/**
 * Encryption: settings of the database encryption, key rotations, and the log of both.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import type { EncryptionConfig } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { Page, Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Badge, Failure, Loading } from "../../components/states.tsx";
import { bytes } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";
import { useUserOptions } from "../../components/user_options.ts";
import { ConfigForm } from "./config_form.tsx";
import { EncryptionLog } from "./log.tsx";
import { ResultForm, RotationForm } from "./rotation_form.tsx";
import { Rotations } from "./rotations.tsx";
import type { Task } from "./task.ts";

/** The largest page of the API. */
const ROWS_MAX = 500;

export default function Encryption() {
  const status = useRead("GET /api/ext/service-enterprise/encryption/status", {});
  const config = useRead("GET /api/ext/service-enterprise/encryption/config", {});
  const rotations = useRead("GET /api/ext/service-enterprise/encryption/rotations", {
    query: { limit: ROWS_MAX },
  });
  const log = useRead("GET /api/ext/service-enterprise/encryption/audit", {
    query: { limit: ROWS_MAX },
  });
  const users = useUserOptions();
  const task = useSignal<Task | undefined>(undefined);
  const close = () => task.value = undefined;
  const readings = [status, config, rotations, log];
  const reload = () => readings.forEach((each) => each.reload());
  const error = readings.find((each) => each.error.value)?.error.value;
  const open = task.value;
  return (
    <Page
      title="Encryption"
      actions={
        <Button kind="primary" icon="key" onClick={() => task.value = { name: "rotate" }}>
          Rotate key
        </Button>
      }
    >
      {error ? <Failure error={error} onRetry={reload} /> : (
        <div class="stacked">
          <Section
            title="Database encryption"
            actions={config.data.value && (
              <Button onClick={() => task.value = { name: "settings" }}>Edit settings</Button>
            )}
          >
            <p class="muted">
              A record of how the database is encrypted. The program that opens the database
              (SQLCipher) encrypts it; Longshore does not.
            </p>
            {status.data.value && config.data.value
              ? <Settings status={status.data.value} config={config.data.value} />
              : <Loading name="Settings" />}
          </Section>
          <Rotations reading={rotations} users={users} onOpen={(next) => task.value = next} />
          <EncryptionLog reading={log} users={users} />
        </div>
      )}
      {open?.name === "rotate" && <RotationForm onClose={close} onSaved={reload} />}
      {open?.name === "result" && (
        <ResultForm
          rotation={open.rotation}
          status={open.status}
          onClose={close}
          onSaved={reload}
        />
      )}
      {open?.name === "settings" && config.data.value && (
        <ConfigForm config={config.data.value} onClose={close} onSaved={reload} />
      )}
    </Page>
  );
}

function Settings({ status, config }: {
  status: { sqlcipher_available: boolean; last_rotation: string | null };
  config: EncryptionConfig;
}) {
  return (
    <Facts>
      <Fact name="Encryption">
        {config.enabled ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>}
      </Fact>
      <Fact name="SQLCipher">
        {status.sqlcipher_available ? "Available" : "Not available: encryption cannot be turned on"}
      </Fact>
      <Fact name="Algorithm">{config.algorithm.toUpperCase()}</Fact>
      <Fact name="Key iterations">{config.kdf_iterations.toLocaleString("en")}</Fact>
      <Fact name="Page size">{bytes(config.page_size)}</Fact>
      <Fact name="Last rotation">
        {status.last_rotation === null ? "Never" : <Time at={status.last_rotation} />}
      </Fact>
    </Facts>
  );
}
