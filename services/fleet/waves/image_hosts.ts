/** The hosts of this hub, as far as one image is concerned. @module */

import { selectFleetHosts, type StoredHost } from "../../../db/fleet_hosts.ts";
import { type FleetVerdict, selectVerdictsOfImage } from "../../../db/fleet_verdicts.ts";
import { findReference } from "../../../engine/image_reference.ts";
import type { Deps } from "../../deps.ts";
import type { HostCopy } from "../copies/copy.ts";
import type { Rows } from "../copies/rows.ts";
import type { ImageKey } from "./block.ts";
import type { WaveHost, WaveSettings } from "./decide.ts";
import { soakMsOf } from "./settings.ts";
import { isProof } from "./verdicts.ts";

type HostsDeps = Pick<Deps, "db" | "fleet">;

/** Hosts that take part: accepted, and not left. */
export const memberHosts = ({ db }: Pick<Deps, "db">): StoredHost[] =>
  selectFleetHosts(db).filter(({ isPending, leftAt }) => !isPending && leftAt === null);

/** @param image.image A reference, whose repository counts. */
export function hostsOfImage(
  deps: HostsDeps,
  image: ImageKey & { image: string },
  settings: WaveSettings,
): WaveHost[] {
  const verdicts = Map.groupBy(selectVerdictsOfImage(deps.db, image), ({ hostId }) => hostId);
  const repository = repositoryOf(image.image);
  return memberHosts(deps).map((host): WaveHost => {
    const own = verdicts.get(host.id) ?? [];
    const knownUntil = lastKnown(deps, host);
    return {
      labels: host.labels,
      usesImage: mayRun(deps, host, image.platform) &&
        mayUse(deps.fleet.copies.get(host.id), repository),
      isProof: own.some((each: FleetVerdict) => isProof(each, knownUntil, soakMsOf(settings))),
    };
  });
}

/** Until when the state of a host is known: after a start, only what was stored is. */
const lastKnown = ({ fleet }: HostsDeps, { id, lastSeenAt }: StoredHost): Date =>
  fleet.reports.get(id)?.holdsUntil ??
    new Date(fleet.hosts.has(id) || lastSeenAt === null ? 0 : lastSeenAt);

/** Also if its platform is not known, e.g. since this hub has started. */
const mayRun = ({ fleet }: HostsDeps, { id }: StoredHost, platform: string): boolean => {
  const known = fleet.reports.get(id)?.platform ?? null;
  return known === null || known === platform;
};

/** Whether a container in use is of a repository; also if the host's containers are not known. */
const mayUse = (copy: HostCopy | undefined, repository: string | undefined): boolean =>
  !copy?.asOf.containers ||
  repository !== undefined && repositoriesIn(copy.lists.containers).has(repository);

type ContainerList = HostCopy["lists"]["containers"];

/** Repositories by list and by row: both are other objects after a change. */
const ofLists = new WeakMap<ContainerList, ReadonlySet<string>>();
const ofRows = new WeakMap<Rows["containers"], string | undefined>();

/** Repositories of the containers of a host that run, or do not while they are replaced. */
function repositoriesIn(containers: ContainerList): ReadonlySet<string> {
  const known = ofLists.get(containers);
  if (known) return known;
  const found = new Set<string>();
  for (const row of containers.values()) {
    if (!ofRows.has(row)) ofRows.set(row, repositoryOf(row.image));
    const repository = ofRows.get(row);
    const isUsed = (row.state === "running" || row.replaced) && !row.self;
    if (repository !== undefined && isUsed) found.add(repository);
  }
  ofLists.set(containers, found);
  return found;
}

/** E.g. `docker.io/library/nginx`; `undefined` for an id. */
export function repositoryOf(reference: string): string | undefined {
  const found = findReference(reference);
  return found && `${found.registry}/${found.repository}`;
}
