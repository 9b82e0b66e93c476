/** The containers of a project on the engine. @module */

import type { Engine } from "../../engine/client.ts";
import { containerList, type ContainerSummary } from "../../engine/containers.ts";
import { knownOwnLabels, learnImage } from "../containers/own_labels.ts";
import { assertComplete } from "../containers/unreadable.ts";
import { LABEL } from "./labels.ts";

/**
 * Lists the containers of a project, of one service with `service`; also one-off containers.
 *
 * @throws {AppError} `conflict` for one of which it is unknown to which project it belongs.
 */
export async function listMembers(
  engine: Engine,
  project: string,
  service?: string,
): Promise<ContainerSummary[]> {
  const label = [`${LABEL.project}=${project}`];
  if (service !== undefined) label.push(`${LABEL.service}=${service}`);
  const all = await containerList(engine, { all: true, filters: { label } });
  for (const each of all) {
    if (each.Labels?.[LABEL.project] !== project) assertComplete(each, `Container ${nameOf(each)}`);
  }
  const listed = await withOwnLabels(engine, all);
  return listed.filter(({ Labels }) => Labels?.[LABEL.project] === project);
}

const nameOf = ({ Id, Names }: ContainerSummary): string => (Names[0] ?? Id).replace(/^\//, "");

/** Listed containers without the labels of stacks that come from their images. */
export async function withOwnLabels(
  engine: Engine,
  listed: readonly ContainerSummary[],
): Promise<ContainerSummary[]> {
  const own: ContainerSummary[] = [];
  for (const each of listed) {
    const { Labels, ImageID = "" } = each;
    await learnImage(engine, Labels, ImageID);
    own.push({ ...each, Labels: knownOwnLabels(engine, Labels, ImageID) });
  }
  return own;
}
