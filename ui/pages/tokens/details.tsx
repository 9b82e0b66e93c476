/**
 * What a token may do, and its use.
 *
 * @module
 */

import type { ApiToken } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { capital, plain } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";

export function TokenDetails({ token, onClose }: { token: ApiToken; onClose: () => void }) {
  return (
    <Dialog title={plain(token.name)} onClose={onClose}>
      <Facts>
        <Fact name="Role">{capital(token.role)}</Fact>
        <Fact name="Permissions">
          {token.permissions?.join(", ") ?? "All of the role"}
        </Fact>
        <Fact name="Stacks">{namesOf(token.stacks)}</Fact>
        <Fact name="Containers">{namesOf(token.containers)}</Fact>
        <Fact name="Created">
          <Time at={token.createdAt} />
        </Fact>
        <Fact name="Rotated">
          {token.rotatedAt ? <Time at={token.rotatedAt} /> : "Never"}
        </Fact>
        <Fact name="Expires">
          {token.expiresAt ? <Time at={token.expiresAt} /> : "Never"}
        </Fact>
        <Fact name="Last used">
          {token.lastUsedAt ? <Time at={token.lastUsedAt} /> : "Never"}
        </Fact>
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
