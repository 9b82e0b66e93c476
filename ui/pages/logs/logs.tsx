/**
 * Logs of one or several containers, merged.
 *
 * @module
 */

import { Button } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { plain } from "../../components/text.ts";
import { containers } from "../../state/live.ts";
import { navigate, query } from "../../state/router.ts";
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
      {chosen.length === 0
        ? <Empty>Choose containers to read their logs here, merged and live.</Empty>
        : (
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

function choose(names: readonly string[]): void {
  const next = new URLSearchParams(query.peek());
  next.delete("container");
  for (const name of names) next.append("container", name);
  navigate(`/logs?${next}`, { replace: true });
}
