/** Containers of hosts of the fleet on the page of logs. @module */

import { plain } from "../../base/text.ts";
import { Empty, State } from "../../components/states.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { href } from "../../state/router.ts";
import { HOST } from "../../state/root.ts";
import { seesServer } from "../../state/session.ts";

/** Whether this server has hosts. The pages of a host have its own containers only. */
export const hasHosts = HOST === undefined &&
  globalThis.document?.documentElement.dataset.fleet === "on";

/** Limit of containers that are offered of a host. */
const OFFERED_MAX = 200;

/** A container of a host in addresses: names of hosts have no slashes. */
export const isOfHost = (name: string): boolean => name.includes("/");

/** The containers of a host by name; `undefined` until they are known. */
export function useContainersOf(host: string | undefined) {
  const input = host === undefined ? undefined : { query: { host, limit: OFFERED_MAX } };
  const { data } = useRead("GET /api/fleet/containers", input, ["/api/fleet/overview"]);
  return data.value?.containers;
}

type HostContainers = NonNullable<ReturnType<typeof useContainersOf>>;

export const nameAtHost = ({ host, name }: HostContainers[number]): string => `${host}/${name}`;

export function HostSelect({ host, onChange }: {
  host: string | undefined;
  onChange: (host: string | undefined) => void;
}) {
  const { data } = useRead("GET /api/fleet/hosts", {});
  return (
    <select
      aria-label="Host"
      value={host ?? ""}
      onChange={({ currentTarget: { value } }) => onChange(value === "" ? undefined : value)}
    >
      {seesServer()
        ? <option value="">This server</option>
        : <option value="">Choose a host</option>}
      {data.value?.hosts.map(({ name, state }) => (
        <option key={name} value={name}>
          {plain(state === "connected" ? name : `${name} (${state})`)}
        </option>
      ))}
    </select>
  );
}

/** Choice of the container of a host whose log is shown, with one click. */
export function HostChoice({ host, containers }: {
  host: string;
  containers: HostContainers | undefined;
}) {
  if (!containers) return null;
  if (containers.length === 0) return <Empty>Host {plain(host)} has no containers.</Empty>;
  return (
    <div class="log-choice">
      <Section title={plain(host)}>
        <ul>
          {containers.map((container) => (
            <li key={container.id}>
              <State
                state={container.state === "running" && container.health === "unhealthy"
                  ? "unhealthy"
                  : container.state}
              />
              <a
                class="cut"
                title={plain(container.name)}
                href={href(`/logs?container=${encodeURIComponent(nameAtHost(container))}`)}
              >
                {plain(container.name)}
              </a>
            </li>
          ))}
        </ul>
      </Section>
    </div>
  );
}
