/** The containers of a project on the engine. @module */

import type { Engine } from "../../engine/client.ts";
import { containerList, type ContainerSummary } from "../../engine/containers.ts";
import { knownOwnLabels, learnImage } from "../containers/own_labels.ts";
import { LABEL } from "./labels.ts";

/** Lists the containers of a project, of one service with `service`; also one-off containers. */
export async function listMembers(
  engine: Engine,
  project: string,
  service?: string,
): Promise<ContainerSummary[]> {
  const label = [`${LABEL.project}=${project}`];
  if (service !== undefined) label.push(`${LABEL.service}=${service}`);
  const listed = await withOwnLabels(
    engine,
    await containerList(engine, { all: true, filters: { label } }),
  );
  return listed.filter(({ Labels }) => Labels?.[LABEL.project] === project);
}

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
