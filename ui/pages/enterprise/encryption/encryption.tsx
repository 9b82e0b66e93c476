/** Encryption: settings of the database encryption, key rotations, and the log of both. @module */

import type { EncryptionConfig, KeyRotation } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { Fact, Facts, TimeFact } from "../../../components/facts.tsx";
import { Page, Section } from "../../../components/page.tsx";
import { reloadAll, useRead } from "../../../components/reading.ts";
import { Badge, Failure, Loading } from "../../../components/states.tsx";
import { bytes } from "../../../base/text.ts";
import { useUserOptions } from "../../../parts/user_options.ts";
import { hasRole } from "../../../state/session.ts";
import { ConfigForm } from "./config_form.tsx";
import { EncryptionLog } from "./log.tsx";
import { ResultForm, type RotationEnd, RotationForm } from "./rotation_form.tsx";
import { Rotations } from "./rotations.tsx";

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
  const readings = [status, config, rotations, log];
  const reload = reloadAll(...readings);
  const error = readings.find((each) => each.error.value)?.error.value;
  const dialog = useDialog();
  const rotate = () => dialog.open(RotationForm, { onSaved: reload });
  const end = (rotation: KeyRotation, status: RotationEnd) =>
    dialog.open(ResultForm, { rotation, status, onSaved: reload });
  const edit = (config: EncryptionConfig) => dialog.open(ConfigForm, { config, onSaved: reload });
  const settings = config.data.value;
  const mayWrite = hasRole("admin", "encryption:write");
  return (
    <Page
      title="Encryption"
      actions={mayWrite && <Button kind="primary" icon="key" onClick={rotate}>Rotate key</Button>}
    >
      {error ? <Failure error={error} onRetry={reload} /> : (
        <div class="stacked">
          <Section
            title="Database encryption"
            actions={settings && mayWrite && (
              <Button onClick={() => edit(settings)}>Edit settings</Button>
            )}
          >
            <p class="muted">
              A record of how the database is encrypted. The program that opens the database
              (SQLCipher) encrypts it; Longshore does not.
            </p>
            {status.data.value && settings
              ? <Settings status={status.data.value} config={settings} />
              : <Loading name="Settings" />}
          </Section>
          <Rotations reading={rotations} users={users} onEnd={end} />
          <EncryptionLog reading={log} users={users} />
        </div>
      )}
      {dialog.shown}
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
      <TimeFact name="Last rotation" at={status.last_rotation} none="Never" />
    </Facts>
  );
}
