/**
 * Overview: whether the host is well, and what needs attention first.
 *
 * @module
 */

import { LinkButton } from "../../components/button.tsx";
import { Page, Section } from "../../components/page.tsx";
import { Empty, State } from "../../components/states.tsx";
import { byCollation, count, plain } from "../../components/text.ts";
import { containers, healthOf } from "../../state/live.ts";
import { href } from "../../state/router.ts";
import { UnknownContainers } from "../../components/unknown_containers.tsx";
import { Attention } from "./attention.tsx";
import { Host } from "./host.tsx";
import { RecentEvents } from "./recent_events.tsx";

export default function Overview() {
  return (
    <Page title="Overview">
      <div class="overview">
        <Attention />
        <Host />
        <Containers />
        <Stacks />
        <RecentEvents />
      </div>
    </Page>
  );
}

const COUNTED = [
  { word: "running", query: "state=running", tone: "good" },
  { word: "stopped", query: "state=exited", tone: "idle" },
  { word: "unhealthy", query: "health=unhealthy", tone: "bad" },
  { word: "restarting", query: "state=restarting", tone: "bad" },
  { word: "paused", query: "state=paused", tone: "warn" },
] as const;

function Containers() {
  const all = containers.value;
  if (!all) return <UnknownContainers name="Containers" />;
  const numbers = {
    running: all.filter(({ state }) => state === "running").length,
    stopped: all.filter(({ state }) => state === "exited").length,
    unhealthy: all.filter((each) => healthOf(each) === "unhealthy").length,
    restarting: all.filter(({ state }) => state === "restarting").length,
    paused: all.filter(({ state }) => state === "paused").length,
  };
  return (
    <Section title="Containers" actions={<LinkButton to="/containers">Show all</LinkButton>}>
      {all.length === 0
        ? <Empty>No containers yet. Start one on this host and it appears here.</Empty>
        : (
          <ul class="counts">
            {COUNTED.filter(({ word }) => word === "running" || numbers[word] > 0).map((each) => (
              <li key={each.word}>
                <a class={`count ${each.tone}`} href={href(`/containers?${each.query}`)}>
                  <strong>{numbers[each.word].toLocaleString("en")}</strong> {each.word}
                </a>
              </li>
            ))}
          </ul>
        )}
    </Section>
  );
}

function Stacks() {
  const all = containers.value;
  if (!all) return <UnknownContainers name="Stacks" />;
  const stacks = [...Map.groupBy(all, ({ composeProject }) => composeProject)]
    .flatMap(([name, members]) => name === null ? [] : [{ name, members }])
    .sort((a, b) => byCollation(a.name, b.name));
  return (
    <Section title="Stacks">
      {stacks.length === 0 && <Empty>No stacks. Compose projects on this host appear here.</Empty>}
      <ul class="stack-list">
        {stacks.map(({ name, members }) => {
          const running = members.filter(({ state }) => state === "running").length;
          const isIll = members.some((each) => healthOf(each) === "unhealthy");
          const state = running === 0
            ? "stopped"
            : running < members.length || isIll
            ? "degraded"
            : "healthy";
          return (
            <li key={name}>
              <a href={href(`/stacks/${encodeURIComponent(name)}`)}>
                {plain(name)}
              </a>
              <span class="muted">{running} of {count(members.length, "container")}</span>
              <State state={state} />
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
