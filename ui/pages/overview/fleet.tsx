/** The overview of users who see nothing but hosts of the fleet. @module */

import type { FleetOverview as Overview } from "../../api/types.ts";
import { LinkButton } from "../../components/button.tsx";
import { Page, Section } from "../../components/page.tsx";
import { useRead, useReloadEvery } from "../../components/reading.ts";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { plain } from "../../base/text.ts";
import { href } from "../../state/router.ts";
import type { NeedsAttention } from "./attention.tsx";
import type { Concern, shorten } from "./concern.tsx";
import type { RecentEvents } from "./recent_events.tsx";

type Host = Overview["hosts"][number];

/** Time between two readings of the hub's copies, in milliseconds. */
const REREAD_MS = 10_000;

/** Parts of the overview that are loaded with it. */
interface Parts {
  NeedsAttention: typeof NeedsAttention;
  RecentEvents: typeof RecentEvents;
  shorten: typeof shorten;
}

export function FleetOverview({ parts: { NeedsAttention, RecentEvents, shorten } }: {
  parts: Parts;
}) {
  const { data, error, reload } = useRead("GET /api/fleet/overview", {});
  useReloadEvery(REREAD_MS, reload);
  const fleet = data.value;
  return (
    <Page title="Overview" lead={<span class="muted">of the hosts that you may see</span>}>
      <div class="overview">
        {fleet
          ? (
            <>
              <NeedsAttention concerns={concernsOf(fleet.hosts, shorten)} />
              <Hosts hosts={fleet.hosts} />
              <Sums {...fleet.sums} />
            </>
          )
          : error.value
          ? <Failure error={error.value} onRetry={reload} />
          : <Loading name="Needs attention" />}
        <RecentEvents />
      </div>
    </Page>
  );
}

const concernsOf = (hosts: readonly Host[], shorten: Parts["shorten"]): Concern[] =>
  shorten(
    hosts.filter(({ attention }) => attention.length > 0),
    ({ id, name, state, attention }): Concern => ({
      key: id,
      tone: state === "away" ? "bad" : "warn",
      icon: "server",
      text: (
        <>
          <strong>{plain(name)}</strong>: {plain(attention.join(", "))}
        </>
      ),
      solution: <LinkButton to={`/hosts/${name}/`}>Open</LinkButton>,
    }),
    { are: "hosts need attention", to: "/hosts" },
  );

type Count = [number: number, word: string, tone: "good" | "bad" | "warn" | "idle"];

function Hosts({ hosts }: { hosts: readonly Host[] }) {
  const number = (...states: Host["state"][]) =>
    hosts.filter(({ state }) => states.includes(state)).length;
  const connected = number("connected");
  const silent = number("late", "away");
  return (
    <Section title="Hosts" wide actions={<LinkButton to="/hosts">Show all</LinkButton>}>
      {hosts.length === 0 ? <Empty>This server has no host that you may see.</Empty> : (
        <Counts
          to="/hosts"
          counts={[
            [connected, "connected", "good"],
            [silent, "late or away", "bad"],
            [hosts.length - connected - silent, "not connected yet", "idle"],
          ]}
        />
      )}
    </Section>
  );
}

/** Parts that the user may not see, or that are not known yet, are left out. */
function Sums({ containers, stacks, alerts, updates }: Overview["sums"]) {
  const lists: [title: string, counts: Count[] | null][] = [
    [
      "Containers",
      containers && [
        [containers.running, "running", "good"],
        [containers.unhealthy, "unhealthy", "bad"],
        [containers.restarting, "restarting", "bad"],
      ],
    ],
    [
      "Stacks",
      stacks && [
        [stacks.total, "in all", "good"],
        [stacks.degraded, "degraded", "bad"],
      ],
    ],
    ["Alerts", alerts && [[alerts.total, "firing", alerts.total > 0 ? "bad" : "good"]]],
    [
      "Updates",
      updates && [
        [updates.available, "available", updates.available > 0 ? "warn" : "good"],
      ],
    ],
  ];
  return (
    <>
      {lists.map(([title, counts]) => {
        const to = `/hosts?list=${title.toLowerCase()}`;
        return counts && (
          <Section key={title} title={title} actions={<LinkButton to={to}>Show all</LinkButton>}>
            <Counts to={to} counts={counts} />
          </Section>
        );
      })}
    </>
  );
}

/** The first number, and the others that are not 0. */
function Counts({ counts, to }: { counts: readonly Count[]; to: string }) {
  return (
    <ul class="counts">
      {counts.filter(([number], at) => at === 0 || number > 0).map(([number, word, tone]) => (
        <li key={word}>
          <a class={`count ${tone}`} href={href(to)}>
            <strong>{number.toLocaleString("en")}</strong> {word}
          </a>
        </li>
      ))}
    </ul>
  );
}
