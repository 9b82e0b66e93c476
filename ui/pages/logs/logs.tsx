/** Logs of one or several containers, also of hosts of the fleet, merged. @module */

import { useSignal } from "@preact/signals";
import { Button, Link } from "../../components/button.tsx";
import { Page, Section } from "../../components/page.tsx";
import { Empty, State } from "../../components/states.tsx";
import { byCollation, plain } from "../../base/text.ts";
import { containers, healthOf, stackOf } from "../../state/live.ts";
import { href, navigate, query } from "../../state/router.ts";
import { seesServer } from "../../state/session.ts";
import { UnknownContainers } from "../../parts/unknown_containers.tsx";
import {
  hasHosts,
  HostChoice,
  HostSelect,
  isOfHost,
  nameAtHost,
  useContainersOf,
} from "./of_hosts.tsx";
import { type LogStream, LogView } from "./view.tsx";

/** Limit of containers of a stream. */
const CONTAINERS_MAX = 50;

export default function Logs() {
  const chosen = query.value.getAll("container").slice(0, CONTAINERS_MAX);
  const host = useSignal<string | undefined>(undefined);
  const atHost = useContainersOf(host.value);
  const names = host.value === undefined
    ? (containers.value ?? []).map(({ name }) => name).sort()
    : (atHost ?? []).map(nameAtHost);
  const others = names.filter((name) => !chosen.includes(name));
  return (
    <Page title="Logs">
      <div class="filters" role="group" aria-label="Containers">
        {hasHosts && <HostSelect host={host.value} onChange={(next) => host.value = next} />}
        <select
          aria-label="Add container"
          value=""
          disabled={chosen.length >= CONTAINERS_MAX}
          onChange={(event) => choose([...chosen, event.currentTarget.value])}
        >
          <option value="">Add container</option>
          {others.map((name) => <option key={name} value={name}>{plain(name)}</option>)}
        </select>
        {chosen.map((name) => (
          <Button
            key={name}
            icon="cross"
            onClick={() => choose(chosen.filter((each) => each !== name))}
          >
            Remove {plain(name)}
          </Button>
        ))}
      </div>
      {chosen.length > 0
        ? <ChosenLogs chosen={chosen} />
        : host.value === undefined
        ? <Choice />
        : <HostChoice host={host.value} containers={atHost} />}
    </Page>
  );
}

function ChosenLogs({ chosen }: { chosen: readonly string[] }) {
  const own = streamOf("api/logs/stream", chosen.filter((name) => !isOfHost(name)));
  const ofHosts = streamOf("api/fleet/logs/stream", chosen.filter(isOfHost));
  const [first, also] = [...own, ...ofHosts];
  const [name] = chosen;
  return (
    <LogView
      {...first!}
      also={also}
      isMerged={chosen.length > 1}
      {...chosen.length === 1 && !isOfHost(name!) && { container: { id: name!, name: name! } }}
    />
  );
}

const streamOf = (stream: string, names: readonly string[]): LogStream[] =>
  names.length === 0
    ? []
    : [{ stream, parameters: names.map((name) => ["container", name] as [string, string]) }];

/** Limit of containers that are offered as links. */
const LINKS_MAX = 200;

/** Choice of the container whose log is shown, with one click. */
function Choice() {
  if (!seesServer()) return <Empty>Choose a host, and its containers appear here.</Empty>;
  const all = containers.value;
  if (!all) return <UnknownContainers name="Containers" />;
  if (all.length === 0) return <Empty>No containers yet. Their logs appear here.</Empty>;
  const shown = all.toSorted((a, b) => byCollation(a.name, b.name)).slice(0, LINKS_MAX);
  const stacks = [...Map.groupBy(shown, stackOf)]
    .sort(([a], [b]) => a === null ? 1 : b === null ? -1 : byCollation(a, b));
  return (
    <>
      <div class="log-choice">
        {stacks.map(([stack, members]) => (
          <Section
            key={stack ?? ""}
            title={stack === null ? "Without a stack" : plain(stack)}
            actions={stack !== null && (
              <Link to={`/stacks/${encodeURIComponent(stack)}/logs`}>
                All of {plain(stack)}
              </Link>
            )}
          >
            <ul>
              {members.map((container) => (
                <li key={container.id}>
                  <State
                    state={healthOf(container) === "unhealthy" ? "unhealthy" : container.state}
                  />
                  <a
                    class="cut"
                    title={plain(container.name)}
                    href={href(`/logs?container=${encodeURIComponent(container.name)}`)}
                  >
                    {plain(container.name)}
                  </a>
                </li>
              ))}
            </ul>
          </Section>
        ))}
      </div>
      {all.length > LINKS_MAX && (
        <p class="hint">{all.length - LINKS_MAX} more are in the list above.</p>
      )}
    </>
  );
}

function choose(names: readonly string[]): void {
  const next = new URLSearchParams(query.peek());
  next.delete("container");
  for (const name of names) next.append("container", name);
  navigate(`/logs?${next}`, { replace: true });
}
