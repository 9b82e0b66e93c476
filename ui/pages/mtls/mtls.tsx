/**
 * mTLS: certificate authorities, agents that are identified by client certificates, and what happens
 * to unknown clients.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import type { CertificateAuthority } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { AgentDetails } from "./agent_details.tsx";
import { AgentForm } from "./agent_form.tsx";
import { Agents } from "./agents.tsx";
import { Authorities } from "./authorities.tsx";
import { AuthorityForm } from "./authority_form.tsx";
import { Enforcement } from "./enforcement.tsx";
import type { Task } from "./task.ts";

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
  const task = useSignal<Task | undefined>(undefined);
  const close = () => task.value = undefined;
  const open = task.value;
  const cas: readonly CertificateAuthority[] = authorities.data.value?.cas ?? [];
  return (
    <Page
      title="mTLS"
      actions={
        <>
          <Button icon="plus" onClick={() => task.value = { name: "new-authority" }}>
            New authority
          </Button>
          <Button kind="primary" icon="plus" onClick={() => task.value = { name: "new-agent" }}>
            New agent
          </Button>
        </>
      }
    >
      <div class="stacked">
        <Enforcement
          config={config.data.value}
          agents={agents.data.value?.agents}
          onChange={config.reload}
        />
        <Agents
          current={agents}
          authorities={cas}
          onOpen={(next) => task.value = next}
        />
        <Authorities reading={authorities} />
      </div>
      {open?.name === "new-authority" && (
        <AuthorityForm onClose={close} onSaved={authorities.reload} />
      )}
      {(open?.name === "new-agent" || open?.name === "edit-agent") && (
        <AgentForm
          agent={open.name === "edit-agent" ? open.agent : undefined}
          authorities={cas}
          onClose={close}
          onSaved={agents.reload}
        />
      )}
      {open?.name === "details" && (
        <AgentDetails agent={open.agent} authorities={cas} onClose={close} />
      )}
    </Page>
  );
}
