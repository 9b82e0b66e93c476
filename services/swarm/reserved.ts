/** Reservations of the services that a job changes. @module */

import type { Activity, Identity, Reservation } from "../containers/reservations.ts";
import type { Deps } from "../deps.ts";

interface Reserved {
  target: string;
  /** `affected` is missing in jobs of older versions. */
  input: { affected?: readonly Identity[] | undefined };
}

/** For `reserve` of a kind of job. @throws {AppError} `conflict` */
export const reserveServices = (activity: Activity) =>
(
  { reservations }: Pick<Deps, "reservations">,
  { target, input: { affected: [first, ...affected] = [] } }: Reserved,
): Reservation => reservations.reserve(first ?? noService(target), activity, { affected });

/** No container has such a name. */
const noService = (target: string): Identity => ({
  id: `swarm ${target}`,
  name: `swarm ${target}`,
});
