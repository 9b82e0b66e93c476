/** Enforcement: the service's answer to the reverse proxy about unknown clients. @module */

import { api } from "../../../api/client.ts";
import type { Agent, MtlsConfig } from "../../../api/types.ts";
import { Icon } from "../../../components/icon.tsx";
import { Section } from "../../../components/page.tsx";
import { Setting } from "../../../components/setting.tsx";
import { count } from "../../../base/text.ts";
import { now } from "../../../components/time.tsx";
import { hasRole } from "../../../state/session.ts";
import { withResult } from "../../../state/toasts.ts";

export function Enforcement({ config, agents, onChange }: {
  /** `undefined` until they are read. */
  config: MtlsConfig | undefined;
  agents: readonly Agent[] | undefined;
  onChange: () => void;
}) {
  const change = (body: Partial<MtlsConfig>, result: string) =>
    void withResult(result, () => api("PUT /api/ext/service-enterprise/mtls/config", { body }))
      .then(onChange);
  const mayChange = config !== undefined && hasRole("admin", "mtls:write");
  return (
    <Section title="Enforcement">
      {agents && <Warning accepted={agents.filter(isAccepted).length} />}
      <Setting
        name="Enforce"
        checked={config?.enforcement_enabled ?? false}
        disabled={!mayChange}
        onChange={(on) =>
          change({ enforcement_enabled: on }, on ? "Enforced mTLS" : "Stopped enforcing mTLS")}
      >
        The reverse proxy is told to refuse (403) clients whose certificate is missing, invalid,
        disabled or revoked. While this is off, it is only told that they are not verified.
      </Setting>
      <Setting
        name="Reject unknown certificates"
        checked={config?.reject_unknown_certs ?? false}
        disabled={!mayChange}
        onChange={(on) => change({ reject_unknown_certs: on }, "Saved the setting")}
      >
        While mTLS is enforced, valid certificates that belong to no agent are refused as well.
      </Setting>
      <Setting
        name="Enroll automatically"
        checked={config?.auto_enroll ?? false}
        disabled={!mayChange}
        onChange={(on) => change({ auto_enroll: on }, "Saved the setting")}
      >
        Records each unknown valid certificate as a disabled agent, which an administrator enables.
      </Setting>
    </Section>
  );
}

/** Says before enforcement who would still be accepted. */
function Warning({ accepted }: { accepted: number }) {
  const agents = accepted === 0
    ? "No agent would be accepted now"
    : `${count(accepted, "agent")} would be accepted now`;
  return (
    <div class={accepted === 0 ? "note warn" : "note"}>
      <Icon name="alert" />
      <p>
        {agents}. If your browser reaches this page through a proxy that verifies clients with
        Longshore, enforcing locks you out unless your browser has the certificate of an enabled
        agent. Another way to this server, e.g. its own port, stays open.
      </p>
    </div>
  );
}

const isAccepted = ({ enabled, revoked_at: revokedAt, not_after: notAfter }: Agent): boolean =>
  enabled && revokedAt === null && (notAfter === null || Date.parse(notAfter) > now.value);
