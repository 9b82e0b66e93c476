/**
 * The dialog with the certificate of an agent.
 *
 * @module
 */

import type { Agent, CertificateAuthority } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { plain } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";
import { authorityName } from "./agents.tsx";

export function AgentDetails({ agent, authorities, onClose }: {
  agent: Agent;
  authorities: readonly CertificateAuthority[];
  onClose: () => void;
}) {
  return (
    <Dialog title={plain(agent.hostname)} onClose={onClose} wide>
      <Facts>
        <Fact name="Description">{plain(agent.description) || "–"}</Fact>
        <Fact name="Tags">{agent.tags.map(plain).join(", ") || "–"}</Fact>
        <Fact name="Authority">{plain(authorityName(authorities, agent.ca_id))}</Fact>
        <Fact name="Subject">{plain(agent.subject ?? "–")}</Fact>
        <Fact name="Issuer">{plain(agent.issuer ?? "–")}</Fact>
        <Fact name="Serial number">
          <code class="wrap">{plain(agent.serial ?? "–")}</code>
        </Fact>
        <Fact name="Fingerprint">
          <code class="wrap">{agent.fingerprint}</code>
        </Fact>
        <Fact name="Valid from">
          <Time at={agent.not_before} />
        </Fact>
        <Fact name="Expires">
          <Time at={agent.not_after} />
        </Fact>
        <Fact name="Last seen">
          <Time at={agent.last_seen_at} />
        </Fact>
        <Fact name="Last address">{plain(agent.last_seen_ip ?? "–")}</Fact>
        {agent.revoked_at !== null && (
          <Fact name="Revoked">
            <Time at={agent.revoked_at} />
          </Fact>
        )}
      </Facts>
      <div class="actions">
        <Button kind="primary" onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}
