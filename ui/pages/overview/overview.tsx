/** Overview: whether the host is well, and what needs attention first. @module */

import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { LinkButton } from "../../components/button.tsx";
import { Page, Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Empty, State } from "../../components/states.tsx";
import { count, plain } from "../../base/text.ts";
import { stackPath } from "../../paths.ts";
import { engineReachable, overview } from "../../state/live.ts";
import { href } from "../../state/router.ts";
import { UnknownContainers } from "../../parts/unknown_containers.tsx";
import { isGetStartedShown } from "../../state/get_started.ts";
import { HOST } from "../../state/root.ts";
import { hasRole, seesServer } from "../../state/session.ts";
import { reloadIfReachable } from "../../shell/reload.ts";
import { Attention, NeedsAttention } from "./attention.tsx";
import { shorten } from "./concern.tsx";
import { Host } from "./host.tsx";
import { RecentEvents } from "./recent_events.tsx";

export default function Overview() {
  if (!seesServer()) return <LoadedFleet />;
  return (
    <Page title="Overview">
      <div class="overview">
        <Attention />
        {HOST === undefined && hasRole("admin", "settings:read") && <FirstSteps />}
        <Host />
        <Containers />
        <Stacks />
        <RecentEvents />
      </div>
    </Page>
  );
}

function FirstSteps() {
  const { data } = useRead("GET /api/setup/guide", {});
  useEffect(() => {
    isGetStartedShown.value = data.value?.shown;
  }, [data.value]);
  // Known with the first report, so that the steps are read once.
  const isKnown = overview.value !== undefined || engineReachable.value === false;
  return isGetStartedShown.value && isKnown ? <LoadedSteps /> : null;
}

function LoadedSteps() {
  const Steps = useLoaded(() => import("./get_started.tsx").then(({ GetStarted }) => GetStarted));
  return Steps ? <Steps /> : null;
}

/** It gets what this file has: a file that both import would be another request. */
function LoadedFleet() {
  const Fleet = useLoaded(() => import("./fleet.tsx").then(({ FleetOverview }) => FleetOverview));
  return Fleet ? <Fleet parts={{ NeedsAttention, RecentEvents, shorten }} /> : null;
}

/** Loads a part when it is needed: the first view is smaller without it. */
function useLoaded<Props>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> | undefined {
  const part = useSignal<ComponentType<Props> | undefined>(undefined);
  useEffect(() => {
    load().then((loaded) => part.value = loaded).catch(reloadIfReachable);
  }, []);
  return part.value;
}

/** Filters of the list of containers, with their tone. */
const COUNTED = [
  ["running", "good"],
  ["stopped", "idle"],
  ["unhealthy", "bad"],
  ["restarting", "bad"],
  ["paused", "warn"],
] as const;

function Containers() {
  const numbers = overview.value?.containers;
  if (!numbers) return <UnknownContainers name="Containers" />;
  const counts = COUNTED.filter(([word]) => word === "running" || numbers[word] > 0);
  return (
    <Section title="Containers" actions={<LinkButton to="/containers">Show all</LinkButton>}>
      {numbers.total === 0
        ? <Empty>No containers yet. Start one on this host and it appears here.</Empty>
        : (
          <ul class="counts">
            {counts.map(([word, tone]) => (
              <li key={word}>
                <a
                  class={`count ${tone}`}
                  href={href(`/containers?${word === "unhealthy" ? "health" : "state"}=${word}`)}
                >
                  <strong>{numbers[word].toLocaleString("en")}</strong> {word}
                </a>
              </li>
            ))}
          </ul>
        )}
    </Section>
  );
}

function Stacks() {
  const stacks = overview.value?.stacks;
  if (!stacks) return <UnknownContainers name="Stacks" />;
  const { total, first } = stacks;
  return (
    <Section title="Stacks" actions={<LinkButton to="/stacks">Show all</LinkButton>}>
      {total === 0 && <Empty>No stacks. Compose projects on this host appear here.</Empty>}
      <ul class="stack-list">
        {first.map((stack) => (
          <li key={`${stack.kind} ${stack.name}`}>
            <a href={href(stackPath(stack))}>{plain(stack.name)}</a>
            <span class="muted">
              {stack.running} of {count(stack.containerCount, "container")}
              {stack.finished > 0 && `, ${stack.finished} finished`}
            </span>
            <State state={stack.status} />
          </li>
        ))}
      </ul>
      {total > first.length && <p class="muted">and {total - first.length} more</p>}
    </Section>
  );
}
