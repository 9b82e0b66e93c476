/** The order in which the services of a project are started. @module */

import { startOrder } from "../../containers/order.ts";
import { dependenciesOf, type Project } from "../load/resolve.ts";

/** Keys of services, each behind those that it depends on. */
export const startOrderOf = ({ services }: Pick<Project, "services">): string[] =>
  startOrder(
    new Map(
      Object.entries(services).map(([key, service]) => [key, Object.keys(dependenciesOf(service))]),
    ),
  ).flat();
