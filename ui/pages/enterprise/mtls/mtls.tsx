/**
 * mTLS: certificate authorities, agents that are identified by client certificates, and what happens
 * to unknown clients.
 *
 * @module
 */

import type { Agent, CertificateAuthority } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { Page } from "../../../components/page.tsx";
import { useRead } from "../../../components/reading.ts";
import { hasRole } from "../../../state/session.ts";
import { AgentDetails } from "./agent_details.tsx";
import { AgentForm } from "./agent_form.tsx";
import { Agents } from "./agents.tsx";
import { Authorities } from "./authorities.tsx";
import { AuthorityForm } from "./authority_form.tsx";
import { Enforcement } from "./enforcement.tsx";

/** The largest page of the API. */
const ROWS_MAX = 500;

export default function Mtls() {
  const config = useRead("GET /api/ext/service-enterprise/mtls/config", {});
  const authorities = useRead("GET /api/ext/service-enterprise/mtls/ca", {
    query: { limit: ROWS_MAX },
  });
  const agents = useRead("GET /api/ext/service-enterprise/mtls/agents", {
    query: { limit: ROWS_MAX },
  });
  const dialog = useDialog();
  const cas: readonly CertificateAuthority[] = authorities.data.value?.cas ?? [];
  const editAgent = (agent?: Agent) =>
    dialog.open(AgentForm, { item: agent, authorities: cas, onSaved: agents.reload });
  const showDetails = (agent: Agent) => dialog.open(AgentDetails, { agent, authorities: cas });
  const newAuthority = () => dialog.open(AuthorityForm, { onSaved: authorities.reload });
  return (
    <Page
      title="mTLS"
      actions={hasRole("admin", "mtls:write") && (
        <>
          <Button icon="plus" onClick={newAuthority}>New authority</Button>
          <Button kind="primary" icon="plus" onClick={() => editAgent()}>New agent</Button>
        </>
      )}
    >
      <div class="stacked">
        <Enforcement
          config={config.data.value}
          agents={agents.data.value?.agents}
          onChange={config.reload}
        />
        <Agents current={agents} authorities={cas} onEdit={editAgent} onDetails={showDetails} />
        <Authorities reading={authorities} />
      </div>
      {dialog.shown}
    </Page>
  );
}
