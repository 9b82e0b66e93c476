/** Swarm: managers and their quorum, nodes, services, secrets and configs. @module */

import { useSignal } from "@preact/signals";
import type { Swarm as SwarmState } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { Fact, Facts, TimeFact } from "../../components/facts.tsx";
import { Page, Section } from "../../components/page.tsx";
import { useRead, useReloadAfter } from "../../components/reading.ts";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { JobList } from "../../parts/job_list.tsx";
import { host, jobs } from "../../state/live.ts";
import { hasRole } from "../../state/session.ts";
import { JoinTokens } from "./join_tokens.tsx";
import { Nodes } from "./nodes.tsx";
import { Services } from "./services.tsx";
import { Values } from "./values.tsx";

export default function Swarm() {
  const reading = useRead("GET /api/swarm", {});
  const dialog = useDialog();
  const swarm = reading.data.value;
  const version = useVersion();
  useReloadAfter(version, reading.reload);
  const isReadable = swarm?.active === true && swarm.quorum?.isKept === true;
  return (
    <Page
      title="Swarm"
      actions={isReadable && hasRole("admin") && (
        <Button onClick={() => dialog.open(JoinTokens, {})}>Join tokens</Button>
      )}
    >
      {reading.error.value && !swarm && (
        <Failure error={reading.error.value} onRetry={reading.reload} />
      )}
      {!swarm && !reading.error.value && <Loading name="Swarm" />}
      {swarm?.active === false && (
        <Empty>
          This engine is not part of a swarm. Run <code>docker swarm init</code> or{" "}
          <code>docker swarm join</code> on the host.
        </Empty>
      )}
      {swarm?.active && <Summary swarm={swarm} />}
      {isReadable && (
        <>
          <JobList group="Swarm" />
          <Nodes version={version} />
          <Services version={version} />
          {hasRole("admin", "swarm_secrets:read") && (
            <>
              <Values kind="secret" version={version} />
              <Values kind="config" version={version} />
            </>
          )}
        </>
      )}
      {dialog.shown}
    </Page>
  );
}

/** Changes with each sample of the host, every 15 seconds, and when a job ends. */
function useVersion(): string {
  const first = useSignal(Date.now()).value;
  const ended = [...jobs.value.values()].filter(({ endedAt }) => endedAt !== null).length;
  return `${first} ${host.value?.timestamp} ${ended}`;
}

function Summary({ swarm: { managers, nodes, quorum, caExpiresAt, warnings } }: {
  swarm: SwarmState;
}) {
  const leader = managers.find(({ isLeader }) => isLeader);
  return (
    <>
      {warnings.length > 0 && (
        <div class="note" role="note" aria-label="Warnings">
          <ul>{warnings.map((warning) => <li key={warning}>{plain(warning)}</li>)}</ul>
        </div>
      )}
      <Section title="State">
        <Facts>
          <Fact name="Nodes">{nodes ?? "Unknown"}</Fact>
          <Fact name="Managers">
            {quorum &&
              `${quorum.reachable ?? "?"} of ${quorum.managers} reachable, ${quorum.needed} needed`}
          </Fact>
          <Fact name="Leader">{leader ? plain(leader.hostname ?? leader.address) : "None"}</Fact>
          <TimeFact name="Certificate authority ends" at={caExpiresAt} />
        </Facts>
      </Section>
    </>
  );
}
