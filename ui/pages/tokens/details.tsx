/** Rights of a token, and its use. @module */

import type { ApiToken } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Fact, Facts, TimeFact } from "../../components/facts.tsx";
import { hostLimitsText } from "../../parts/host_limits.tsx";
import { capital, plain } from "../../base/text.ts";
import { hasFleet } from "../../state/session.ts";

export function TokenDetails({ token, onClose }: { token: ApiToken; onClose: () => void }) {
  return (
    <Dialog title={plain(token.name)} onClose={onClose}>
      <Facts>
        <Fact name="Role">{capital(token.role)}</Fact>
        {token.isSuspended && (
          <Fact name="Status">Suspended: the identity provider gives its owner no role</Fact>
        )}
        <Fact name="Permissions">
          {token.permissions?.join(", ") ?? "All of the role"}
        </Fact>
        <Fact name="Stacks">{namesOf(token.stacks)}</Fact>
        <Fact name="Containers">{namesOf(token.containers)}</Fact>
        {(hasFleet() || token.hosts || token.hostLabels) && (
          <Fact name="Hosts">
            {hostLimitsText({ hosts: token.hosts, labels: token.hostLabels })}
          </Fact>
        )}
        <TimeFact name="Created" at={token.createdAt} />
        <TimeFact name="Rotated" at={token.rotatedAt} none="Never" />
        <TimeFact name="Expires" at={token.expiresAt} none="Never" />
        <TimeFact name="Last used" at={token.lastUsedAt} none="Never" />
        <Fact name="Last address">
          {token.lastUsedAddress ? plain(token.lastUsedAddress) : "–"}
        </Fact>
      </Facts>
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

const namesOf = (patterns: readonly string[] | null) => patterns?.map(plain).join(", ") ?? "All";
