/** The running program: version, health, engine and license text. @module */

import LICENSE from "../../LICENSE" with { type: "text" };
import type { Health } from "../api/types.ts";
import { Fact, Facts, TimeFact } from "../components/facts.tsx";
import { PRODUCT } from "../base/product.ts";
import { Page, Section } from "../components/page.tsx";
import { useRead } from "../components/reading.ts";
import { Failure, Loading, State } from "../components/states.tsx";
import { plain } from "../base/text.ts";
import { href } from "../state/router.ts";

export default function About() {
  const { data, error, reload } = useRead("GET /api/health", {});
  const health = data.value;
  return (
    <Page title="About">
      <div class="stacked">
        {error.value
          ? <Failure error={error.value} onRetry={reload} />
          : health
          ? (
            <div class="summary-grid">
              <Service health={health} />
              <Engine health={health} />
              <Problems health={health} />
            </div>
          )
          : <Loading name="Service" />}
        <Section title="License text">
          <pre class="license-text">{LICENSE}</pre>
        </Section>
      </div>
    </Page>
  );
}

function Service({ health }: { health: Health }) {
  return (
    <Section title="Service">
      <Facts>
        <Fact name="Product">{PRODUCT}</Fact>
        <Fact name="Version">{health.version ?? "–"}</Fact>
        <Fact name="Status">
          <State state={health.status} tone={health.status === "ok" ? "good" : "warn"} />
        </Fact>
        <TimeFact name="Started" at={health.startedAt} />
        <Fact name="Waiting messages">{health.outboxDepth?.toLocaleString("en") ?? "–"}</Fact>
        <Fact name="API">
          <a href={href("/docs")}>Documentation</a>
        </Fact>
      </Facts>
    </Section>
  );
}

function Engine({ health: { engine, eventStream } }: { health: Health }) {
  return (
    <Section title="Engine">
      <Facts>
        <Fact name="Status">
          <State
            state={engine?.reachable ? "reachable" : "unreachable"}
            tone={engine?.reachable ? "good" : "bad"}
          />
        </Fact>
        <Fact name="Version">{plain(engine?.version ?? "–")}</Fact>
        <Fact name="API version">{plain(engine?.apiVersion ?? "–")}</Fact>
        <Fact name="Event stream">
          <State
            state={eventStream?.status ?? "unknown"}
            tone={eventStream?.status === "ok" ? "good" : "bad"}
          />
        </Fact>
      </Facts>
    </Section>
  );
}

/** The parts of the service that fail, if there are any. */
function Problems(
  { health: { databases, workers = [], eventStream, inventory } }: { health: Health },
) {
  const problems = [
    ...Object.entries(databases ?? {}).filter(([, status]) => status === "failed")
      .map(([name]) => `The ${name} database fails`),
    ...workers.filter(({ status }) => status === "failing")
      .map(({ name, lastError }) => `${name}: ${lastError ?? "fails"}`),
    ...inventory?.status === "failing"
      ? [`The containers cannot be listed: ${inventory.lastError}`]
      : [],
    ...eventStream?.status === "failing" ? [eventStream.lastError ?? "The event stream fails"] : [],
  ];
  if (problems.length === 0) return null;
  return (
    <Section title="Problems" wide>
      <ul>{problems.map((problem) => <li key={problem}>{plain(problem)}</li>)}</ul>
    </Section>
  );
}
