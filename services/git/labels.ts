/** Labels of this host, which choose the mappings that apply to it. @module */

import { selectMembership } from "../../db/fleet_membership.ts";
import type { GitMapping, GitRepository } from "../../db/git_repositories.ts";
import type { Deps } from "../deps.ts";

type Labels = Record<string, string>;

/**
 * Labels of `HOST_LABELS`, and behind them those that the hub gives. They decide what is deployed here,
 * which is for admins: those of a hub that may not act as one do not count.
 */
export function labelsOfHost({ config, db }: Pick<Deps, "config" | "db">): Labels {
  const membership = config.fleetAllow === "admin" ? selectMembership(db) : undefined;
  const given = membership && !membership.isPending ? membership.labels : {};
  return { ...given, ...config.hostLabels };
}

/** Whether a mapping applies to a host with these labels. */
export const isForHost = ({ hosts }: Pick<GitMapping, "hosts">, labels: Labels): boolean =>
  Object.entries(hosts).every(([name, value]) =>
    Object.hasOwn(labels, name) && labels[name] === value
  );

/** Whether a mapping was applied with other labels than the host has now. */
export const hasOtherLabels = (
  { mapping, labels: applied }: Pick<GitRepository, "mapping" | "labels">,
  labels: Labels,
): boolean => mapping.some((each) => isForHost(each, applied) !== isForHost(each, labels));
