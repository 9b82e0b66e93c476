/** The dialog with the certificate of an agent. @module */

import type { Agent, CertificateAuthority } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { CodeFact, Fact, Facts, TimeFact } from "../../../components/facts.tsx";
import { plain } from "../../../base/text.ts";
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
        <CodeFact name="Serial number">{agent.serial}</CodeFact>
        <CodeFact name="Fingerprint">{agent.fingerprint}</CodeFact>
        <TimeFact name="Valid from" at={agent.not_before} />
        <TimeFact name="Expires" at={agent.not_after} />
        <TimeFact name="Last seen" at={agent.last_seen_at} />
        <Fact name="Last address">{plain(agent.last_seen_ip ?? "–")}</Fact>
        {agent.revoked_at !== null && <TimeFact name="Revoked" at={agent.revoked_at} />}
      </Facts>
      <div class="actions">
        <Button kind="primary" onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}
