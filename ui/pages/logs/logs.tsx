/** Logs of one or several containers, merged. @module */

import { Button, Link } from "../../components/button.tsx";
import { Page, Section } from "../../components/page.tsx";
import { Empty, State } from "../../components/states.tsx";
import { byCollation, plain } from "../../base/text.ts";
import { containers, healthOf } from "../../state/live.ts";
import { href, navigate, query } from "../../state/router.ts";
import { UnknownContainers } from "../../parts/unknown_containers.tsx";
import { LogView } from "./view.tsx";

/** Limit of containers of a stream. */
const CONTAINERS_MAX = 50;

export default function Logs() {
  const chosen = query.value.getAll("container").slice(0, CONTAINERS_MAX);
  const names = (containers.value ?? []).map(({ name }) => name).sort();
  const others = names.filter((name) => !chosen.includes(name));
  return (
    <Page title="Logs">
      <div class="filters" role="group" aria-label="Containers">
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
      {chosen.length === 0 ? <Choice /> : (
        <LogView
          stream="api/logs/stream"
          parameters={chosen.map((name) => ["container", name] as [string, string])}
          isMerged={chosen.length > 1}
          {...chosen.length === 1 && { container: { id: chosen[0]!, name: chosen[0]! } }}
        />
      )}
    </Page>
  );
}

/** Limit of containers that are offered as links. */
const LINKS_MAX = 200;

/** Choice of the container whose log is shown, with one click. */
function Choice() {
  const all = containers.value;
  if (!all) return <UnknownContainers name="Containers" />;
  if (all.length === 0) return <Empty>No containers yet. Their logs appear here.</Empty>;
  const shown = all.toSorted((a, b) => byCollation(a.name, b.name)).slice(0, LINKS_MAX);
  const stacks = [...Map.groupBy(shown, ({ composeProject }) => composeProject)]
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
