/** Whether the allowlist is enforced, and what that means for the user's own address. @module */

import { api } from "../../../api/client.ts";
import type { IpAllowlistConfig, IpCheck } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { Icon } from "../../../components/icon.tsx";
import { Section } from "../../../components/page.tsx";
import { Setting } from "../../../components/setting.tsx";
import { plain } from "../../../base/text.ts";
import { hasRole } from "../../../state/session.ts";
import { withResult } from "../../../state/toasts.ts";

interface EnforcementProps {
  /** `undefined` until they are read. */
  config: IpAllowlistConfig | undefined;
  own: IpCheck | undefined;
  onChange: () => void;
  /** Opens the dialog for a rule that admits an address. */
  onAdmit: (address: string) => void;
}

export function Enforcement({ config, own, onChange, onAdmit }: EnforcementProps) {
  const change = (body: Partial<IpAllowlistConfig>, result: string) =>
    void withResult(
      result,
      () => api("PUT /api/ext/service-enterprise/ip-allowlist/config", { body }),
    ).then(onChange);
  const mayChange = config !== undefined && hasRole("admin", "ip_allowlist:write");
  return (
    <Section title="Enforcement">
      <OwnAddress own={own} onAdmit={onAdmit} />
      <Setting
        name="Enforce"
        checked={config?.enforcement_enabled ?? false}
        disabled={!mayChange}
        onChange={(on) =>
          change({ enforcement_enabled: on }, on ? "Enforced the allowlist" : "Stopped enforcing")}
      >
        Refuses requests from addresses that no rule admits, from the next request on. Public status
        pages and health checks stay reachable. If you are locked out, run{" "}
        <code>longshore ip-allowlist off</code> on the host.
      </Setting>
      <Setting
        name="Log refused addresses"
        checked={config?.log_denials ?? false}
        disabled={!mayChange}
        onChange={(on) => change({ log_denials: on }, "Saved the log setting")}
      >
        Writes each refused address to the service's log, at most ten times a minute.
      </Setting>
    </Section>
  );
}

/** Says before enforcement whether it would lock out the user. */
function OwnAddress({ own, onAdmit }: Pick<EnforcementProps, "own" | "onAdmit">) {
  if (!own) return null;
  const { ip, admitted, reason } = own;
  return (
    <div class={admitted ? "note" : "note warn"}>
      <Icon name={admitted ? "check" : "alert"} />
      <p>
        {admitted
          ? (
            <>
              Your address is <code>{ip}</code>. {plain(reason)}.
            </>
          )
          : (
            <>
              No rule admits your address{" "}
              <code>{ip}</code>. Enforcing the allowlist would lock you out, and is refused.
            </>
          )}
      </p>
      {!admitted && hasRole("admin", "ip_allowlist:write") && (
        <Button onClick={() => onAdmit(ip)}>Admit my address</Button>
      )}
    </div>
  );
}
