/** Fields that limit a token or a role to hosts of the fleet. A server without hosts does not show them. @module */

import { TextField } from "../components/fields.tsx";
import { listOf } from "../components/form_values.ts";
import { plain } from "../base/text.ts";
import { hasFleet } from "../state/session.ts";

interface HostLimits {
  hosts: readonly string[] | null;
  labels: readonly string[] | null;
}

export function HostLimitFields({ hosts, labels, effect }: HostLimits & { effect: string }) {
  if (!hasFleet() && !hosts && !labels) return null;
  return (
    <details class="more-fields" open={Boolean(hosts || labels)}>
      <summary>Hosts</summary>
      <div>
        <p class="hint">{effect}</p>
        <TextField
          label="Host names"
          name="hosts"
          value={hosts?.join(", ") ?? ""}
          hint="Separated by commas; * matches any characters. Empty for all."
        />
        <TextField
          label="Host labels"
          name="hostLabels"
          value={labels?.join(", ") ?? ""}
          hint="Separated by commas, such as site=kiel. A host must have one of them, and match a name."
        />
      </div>
    </details>
  );
}

/** The limits of the fields, which may not be shown. */
export const hostLimitsOf = (
  { hosts = "", hostLabels = "" }: { hosts?: string; hostLabels?: string },
) => ({ hosts: listOf(hosts), labels: listOf(hostLabels) });

/** Limits in words, e.g. `edge-*; site=kiel`. */
export const hostLimitsText = ({ hosts, labels }: HostLimits): string =>
  [hosts, labels].filter((each) => each !== null).map((each) => each.map(plain).join(", "))
    .join("; ") || "All";
