/** Host ports of a project that other containers have published. Pure. @module */

import type { Container } from "../../containers/inventory.ts";
import type { Port } from "../load/ports.ts";
import type { Project } from "../load/resolve.ts";
import type { PlannedChange } from "./change.ts";
import type { Observed } from "./observed.ts";
import { serviceOf } from "./replicas.ts";

/** A running container with a published port. */
interface Holder {
  name: string;
  /** `null` for all addresses. */
  ip: string | null;
}

/** Modes without published ports of their own. */
const WITHOUT_PORTS = /^(?:host|none|service:.*|container:.*)$/s;

const ANY = new Set(["", "0.0.0.0", "::"]);

/**
 * Finds ports that containers cannot publish when they are created or started, in sentences.
 *
 * @param changes Those of the plan; containers of changed services give up their ports.
 */
export function takenPorts(
  { services }: Project,
  changes: readonly PlannedChange[],
  observed: Pick<Observed, "all" | "containers">,
): string[] {
  const changed = new Set(
    changes.filter(({ kind, action }) => kind === "service" && action !== "none")
      .map(({ name }) => name),
  );
  const holders = holdersOf(observed, changed);
  return [...changed].flatMap((name) => {
    const { ports = [], network_mode = "" } = services[name] ?? {};
    if (WITHOUT_PORTS.test(network_mode)) return [];
    return ports.flatMap((port) => {
      const holder = holderOf(port, holders);
      const text = textOf(port);
      return holder === undefined ? [] : [
        `Port ${text} of ${name} is in use by container ${holder}: stop it or publish another port`,
      ];
    });
  });
}

function holdersOf(
  { all = [], containers }: Pick<Observed, "all" | "containers">,
  changed: ReadonlySet<string>,
): Map<string, Holder[]> {
  const freed = new Set(
    containers.filter((each) => changed.has(serviceOf(each))).map(({ Id }) => Id),
  );
  const holders = new Map<string, Holder[]>();
  for (const { id, name, ports } of all.filter((each: Container) => !freed.has(each.id))) {
    for (const { ip, publicPort, type } of ports) {
      if (publicPort === null) continue;
      const key = `${publicPort}/${type}`;
      holders.set(key, [...holders.get(key) ?? [], { name: name || id, ip }]);
    }
  }
  return holders;
}

/** @returns The name of the container that has the port; of a range, if all of it is taken. */
function holderOf(
  { host_ip, published, protocol }: Port,
  holders: ReadonlyMap<string, readonly Holder[]>,
): string | undefined {
  if (published === undefined) return undefined;
  const [first = 0, last = first] = published.split("-").map(Number);
  let found: string | undefined;
  for (let port = first; port <= last; port++) {
    found = holders.get(`${port}/${protocol}`)?.find(({ ip }) => overlap(host_ip, ip))?.name;
    if (found === undefined) return undefined;
  }
  return found;
}

function overlap(one: string | undefined, other: string | null): boolean {
  if (!one || !other) return true;
  if (one.includes(":") !== other.includes(":")) return false;
  return ANY.has(one) || ANY.has(other) || one === other;
}

/** E.g. `127.0.0.1:53/udp`. */
function textOf({ host_ip, published, protocol }: Port): string {
  const ip = host_ip?.includes(":") ? `[${host_ip}]` : host_ip;
  return `${ip ? `${ip}:` : ""}${published}${protocol === "tcp" ? "" : `/${protocol}`}`;
}
