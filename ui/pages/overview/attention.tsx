/** Concerns that need attention, each with its solution. @module */

import { api } from "../../api/client.ts";
import type { FleetHost } from "../../api/types.ts";
import { lasting } from "../../base/lasting.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Section } from "../../components/page.tsx";
import { useRead, useReloadOn } from "../../components/reading.ts";
import { Loading } from "../../components/states.tsx";
import { percent, plain } from "../../base/text.ts";
import { now, Time } from "../../components/time.tsx";
import { edition } from "../../state/edition.ts";
import { engineReachable, events, host, type LiveEvent, overview } from "../../state/live.ts";
import { HOST } from "../../state/root.ts";
import { hasFleet, hasRole } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";
import { detailsOf } from "../../parts/event_list.tsx";
import { useImageUpdates } from "../../parts/image_updates.ts";
import type { Concern } from "./concern.tsx";
import { firingAlerts, illContainers } from "./ill_containers.tsx";
import { availableUpdates, blockedUpdates } from "./image_concerns.tsx";
import { useUnbackedStacks } from "./unbacked_stacks.tsx";

/** From here on a resource counts as nearly used up, in percent. */
const NEARLY_FULL = 90;

/** Time for which an event without an end counts, in milliseconds. */
const RECENT_MS = 24 * 60 * 60 * 1000;

export function Attention() {
  const updates = useImageUpdates();
  const blocked = useRead("GET /api/updates/blocked", {});
  useReloadOn("update.", blocked.reload);
  const unbacked = useUnbackedStacks();
  const hosts = useRead(
    "GET /api/fleet/hosts",
    hasFleet() && HOST === undefined && hasRole("viewer", "fleet:read") ? {} : undefined,
  );
  if (!overview.value && !host.value) return <Loading name="Needs attention" />;
  const concerns = [
    ...maintenanceMode(),
    ...lostEngine(),
    ...firingAlerts(),
    ...illContainers(),
    ...scarceResources(),
    ...pendingHosts(hosts.data.value?.hosts),
    ...recentFailures(),
    ...availableUpdates(updates),
    ...blockedUpdates(blocked.data.value?.blocked),
    ...licenseWarning(),
    ...unbacked,
  ];
  return <NeedsAttention concerns={concerns} />;
}

export function NeedsAttention({ concerns }: { concerns: readonly Concern[] }) {
  const isWell = concerns.every(({ tone }) => tone === "note");
  return (
    <Section title="Needs attention" wide>
      {isWell && (
        <p class="all-well">
          <Icon name="check" />
          Nothing needs attention
        </p>
      )}
      {concerns.length > 0 && (
        <ul class="concerns">
          {concerns.map(({ key, tone, icon, text, solution }) => (
            <li key={key} class={tone === "note" ? undefined : tone}>
              <Icon name={icon} />
              <p>{text}</p>
              {solution}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function maintenanceMode(): Concern[] {
  const { enabled, since, until, reason } = host.value?.maintenance ?? {};
  if (!enabled) return [];
  const end = () =>
    withResult(
      "Disabled maintenance mode",
      () => api("POST /api/maintenance", { body: { enabled: false } }),
    );
  return [{
    key: "maintenance",
    tone: "warn",
    icon: "wrench",
    text: (
      <>
        <strong>Maintenance mode</strong>
        {reason && ` (${plain(reason)})`}: no messages are sent{" "}
        <span class="muted">
          started <Time at={since} />
          {until && (
            <>
              , ends <Time at={until} />
            </>
          )}
        </span>
      </>
    ),
    solution: hasRole("admin", "settings:write") && (
      <Button onClick={() => void end()}>End maintenance</Button>
    ),
  }];
}

const lostEngine = (): Concern[] =>
  engineReachable.value === false
    ? [{
      key: "engine",
      tone: "bad",
      icon: "box",
      text: "The container engine does not answer",
      solution: <LinkButton to="/about">Show status</LinkButton>,
    }]
    : [];

function scarceResources(): Concern[] {
  if (!host.value) return [];
  const { disk, memory } = host.value;
  return [
    { name: "Disk", ...disk, to: "/host", what: "Show disk use" },
    { name: "Memory", ...memory, to: "/containers?sort=-memory", what: "Show by memory" },
  ].filter((each) => each.percent >= NEARLY_FULL).map((each) => ({
    key: each.name,
    tone: each.percent >= 95 ? "bad" : "warn",
    icon: "disk",
    text: (
      <>
        <strong>{each.name}</strong> is {percent(each.percent)} full
      </>
    ),
    solution: <LinkButton to={each.to}>{each.what}</LinkButton>,
  }));
}

const pendingHosts = (hosts: readonly FleetHost[] = []): Concern[] =>
  hosts.filter(({ state }) => state === "pending").map(({ id, name, address }) => ({
    key: id,
    tone: "warn",
    icon: "server",
    text: (
      <>
        <strong>{plain(name)}</strong> at {plain(address)} waits until an admin accepts it
      </>
    ),
    solution: <LinkButton to="/hosts">Show hosts</LinkButton>,
  }));

/** Button that leads to where people do something about an event. */
const solutionOf = ({ text, to }: NonNullable<LiveEvent["remedy"]>) =>
  to.startsWith("/")
    ? <LinkButton to={to}>{text}</LinkButton>
    : <a class="button plain" href={to} rel="noreferrer">{text}</a>;

function recentFailures(): Concern[] {
  const since = new Date(now.value - RECENT_MS).toISOString();
  const known = new Set<string>();
  return lasting(events.value).flatMap((each): Concern[] => {
    const { timestamp, eventId, remedy, title, tone } = each;
    if (timestamp < since || !remedy) return [];
    // Repeated failures are one concern: the last time counts.
    if (known.has(title)) return [];
    known.add(title);
    return [{
      key: eventId,
      tone: tone === "problem" ? "bad" : "warn",
      icon: "clock",
      text: (
        <>
          <strong>{plain(title)}</strong> {detailsOf(each)}{" "}
          <span class="muted">
            <Time at={timestamp} />
          </span>
        </>
      ),
      solution: solutionOf(remedy),
    }];
  });
}

function licenseWarning(): Concern[] {
  const warning = edition.value?.warning ?? edition.value?.problem;
  if (warning == null) return [];
  return [{
    key: "license",
    tone: "warn",
    icon: "key",
    text: warning,
    solution: HOST === undefined && <LinkButton to="/license">License</LinkButton>,
  }];
}
