/** Parts for a server with a fleet: the host switcher, and the frame of a host's pages. @module */

// See `shared.ts`.
import { Page } from "../components/page.tsx";
import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { api } from "../api/client.ts";
import type { FleetHost } from "../api/types.ts";
import { plain } from "../base/text.ts";
import { LinkButton } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { Menu, type MenuItem } from "../components/menu.tsx";
import { useRead, useReloadAfter } from "../components/reading.ts";
import { Empty } from "../components/states.tsx";
import { Time } from "../components/time.tsx";
import { isOfServer } from "../paths.ts";
import { connection, hostAway } from "../state/live.ts";
import { navigate, pagePath } from "../state/router.ts";
import { HOST, ROOT } from "../state/root.ts";
import { roleAtHost, session } from "../state/session.ts";
import { followHostEvents } from "./host_events.ts";

followHostEvents();

/** Time between two readings of the host's state while its stream is interrupted, in milliseconds. */
const REREAD_MS = 15_000;

const ROLE_OF = { read: "viewer", operate: "operator", admin: "admin" } as const;

/** Reads what the host whose pages are open allows. Without an answer, it refuses by itself. */
export async function readRoleAtHost(): Promise<void> {
  if (HOST === undefined) return;
  const { allows } = await api("GET /api/fleet/hosts/{id}", { path: { id: HOST } })
    .catch(() => ({ allows: null }));
  roleAtHost.value = ROLE_OF[allows ?? "admin"];
}

/** The open server or host, and a menu of the others. Without hosts it is only the name. */
export function HostSwitcher() {
  const { data } = useRead("GET /api/fleet/hosts", {});
  const hosts = data.value?.hosts.filter(hasPages) ?? [];
  const server = session.value?.serverName ?? "";
  const isLimited = session.value?.isLimitedToHosts;
  const open = HOST ?? (isLimited ? "All hosts" : server);
  if (hosts.length === 0) return <span class="server" title="Server">{open}</span>;
  return (
    <span class="host-switcher">
      <Menu
        name={`Switch host: ${open}`}
        items={() => [
          ...isLimited ? [] : [itemOf(`${server} (this server)`, undefined)],
          ...hosts.map(({ name, state }) =>
            itemOf(state === "connected" ? name : `${name} (${state})`, name)
          ),
          { name: "All hosts", onSelect: () => navigate("/hosts") },
        ]}
      >
        <Icon name="server" />
        <span class="cut">{open}</span>
        <Icon name="chevron" />
      </Menu>
    </span>
  );
}

/** Requests are passed on to these as soon as they are connected. */
const hasPages = ({ state }: FleetHost) =>
  state === "connected" || state === "late" || state === "away";

/** Opens the same page at a host, or at this server. The open one cannot be chosen. */
const itemOf = (name: string, host: string | undefined): MenuItem => ({
  name: plain(name),
  ...host !== HOST && { onSelect: () => location.assign(new URL(pathAt(host), ROOT)) },
});

/** The list instead of one of its objects, which another host does not have. */
function pathAt(host: string | undefined): string {
  const [, list = ""] = pagePath().split("/");
  if (host === undefined) return list;
  return `hosts/${host}/${isOfServer(`/${list}`) ? "" : list}`;
}

/** Says why a host's pages show nothing new. */
export function HostNote() {
  const { data, reload } = useRead("GET /api/fleet/hosts", {});
  const isLive = connection.value === "live";
  useReloadAfter(isLive, reload);
  useEffect(() => {
    if (isLive) return;
    const timer = setInterval(reload, REREAD_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  const host = data.value?.hosts.find(({ name }) => name === HOST);
  const reason = isLive || !data.value
    ? null
    : host
    ? reasonOf(host)
    : "is not in the fleet of this server";
  const isAway = reason !== null;
  useEffect(() => {
    hostAway.value = isAway ? { Text: UnknownAtHost } : undefined;
  }, [isAway]);
  return reason && (
    <div class="note warn host-away" role="alert">
      <Icon name="alert" />
      <p class="inline">Host {HOST} {reason}</p>
    </div>
  );
}

function reasonOf({ state, since }: FleetHost): ComponentChildren {
  switch (state) {
    case "away":
      return (
        <>
          is away, last seen <Time at={since} />. It connects again by itself.
        </>
      );
    case "pending":
      return "waits until an admin accepts it";
    case "never":
      return "has not connected yet";
    case "left":
      return "has left the fleet";
    default:
      return null;
  }
}

/** In place of a list of a host; the list over all hosts has what this server knows of it. */
const UnknownAtHost = ({ list }: { list: string }) => (
  <Empty
    action={
      <LinkButton to={`/hosts?list=${list.toLowerCase()}&host=${HOST}`}>
        Show the last known ones
      </LinkButton>
    }
  >
    Not known while host {HOST} cannot be reached. They appear when it is back.
  </Empty>
);

/** A page of a host, whose answers can be those of another version than this server's. */
export function HostPage({ title, children }: { title: string; children: ComponentChildren }) {
  const [error] = useErrorBoundary((error) => console.error(error));
  return error ? <Unreadable title={title} /> : <>{children}</>;
}

function Unreadable({ title }: { title: string }) {
  const { data } = useRead("GET /api/fleet/hosts", {});
  const version = data.value?.hosts.find(({ name }) => name === HOST)?.version;
  return (
    <Page title={title}>
      <p class="note" role="status">
        This page needs answers of another version; host {HOST} runs version {version}
      </p>
    </Page>
  );
}
