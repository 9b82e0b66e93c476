/**
 * Removes what a project has on the engine: containers in reverse order of their dependencies, then
 * networks, and on request volumes and images. Networks and volumes that others need stay.
 *
 * @module
 */

import { type ContainerInspect, containerList } from "../../../engine/containers.ts";
import { EngineError, ifThere } from "../../../engine/errors.ts";
import { imageRemove } from "../../../engine/images.ts";
import { networkList, networkRemove } from "../../../engine/networks.ts";
import { volumeList, volumeRemove } from "../../../engine/volumes.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { asContainer, listAll, refreshContainer } from "../../containers/reads.ts";
import { dependentsOfAny } from "../../containers/share_group.ts";
import { nameOf, removeAndWait } from "../../updates/recreate/replace.ts";
import { parseDependsOn, startOrder } from "../../containers/order.ts";
import { stopAside } from "../../updates/run/swap.ts";
import { LABEL } from "../labels.ts";
import { cutOffWarnings } from "../plan/dependents.ts";
import { fullImageName } from "../plan/differences.ts";
import type { Service } from "../load/resolve.ts";
import { serviceOf } from "../plan/replicas.ts";
import { recordStack } from "../plan/stored.ts";
import { runHooks } from "./hooks.ts";
import { type DownJob, type DownResult, withoutSecrets } from "./job.ts";
import { inUseWarnings, partsInUse } from "./parts_in_use.ts";
import { containersOf } from "./services.ts";

/** Runs the job. Repeated after a crash, it removes what is left. */
export async function takeDown(deps: Deps, given: DownJob): Promise<DownResult> {
  const { engine } = deps;
  const { services, secretValues } = await storedServices(deps, given.target);
  const job = withoutSecrets(given, secretValues);
  const { input, target, signal } = job;
  const containers = await containersOf(deps, { project: { name: target } });
  if (containers.some((each) => asContainer(deps, each).self)) {
    throw new AppError("conflict", `Longshore itself runs in ${target} and cannot remove itself`);
  }
  // After a crash, some of them are gone.
  const found = await job.step("plan", async () => ({
    names: containers.map(nameOf),
    images: [...new Set(containers.map(({ Config }) => Config.Image ?? ""))],
    warnings: await dependentsLeft(deps, containers),
  }));
  const byService = Map.groupBy(containers, serviceOf);
  const order = startOrder(
    new Map([...byService].map(([service, [first]]) => [
      service,
      parseDependsOn(first!.Config.Labels?.[LABEL.dependsOn]).map(({ service }) => service),
    ])),
  ).flat().toReversed();
  await job.step("containers", async () => {
    for (const service of order) {
      signal.throwIfAborted();
      for (const container of byService.get(service)!) {
        job.progress({ current: 0, total: null, message: `${nameOf(container)} is stopped` });
        await runHooks(deps, services[service], "pre_stop", container.Id, signal);
        await stopAside(deps, container);
        await removeAndWait(engine, container.Id, { volumes: input.volumes });
        await refreshContainer(deps, container.Id);
      }
    }
  });
  const filters = { label: [`${LABEL.project}=${target}`] };
  const inUse = await partsInUse(deps, target, input);
  const stays = (kind: string, name: string) =>
    inUse.some((part) => part.kind === kind && part.name === name);
  const networks = await job.step("networks", async () => {
    const removed: string[] = [];
    for (const network of await networkList(engine, { filters })) {
      if (stays("network", network.Name)) continue;
      await whileUsed(ifThere(networkRemove(engine, network)), `Network ${network.Name}`);
      removed.push(network.Name);
    }
    return removed;
  });
  const volumes = !input.volumes ? [] : await job.step("volumes", async () => {
    const removed: string[] = [];
    for (const { Name } of await volumeList(engine, { filters })) {
      if (stays("volume", Name)) continue;
      await whileUsed(ifThere(volumeRemove(engine, Name)), `Volume ${Name}`);
      removed.push(Name);
    }
    return removed;
  });
  const images = input.images === "none" ? [] : await job.step("images", async () => {
    // The engine removes a name that containers use if the image has another one.
    const others = await containerList(engine, { all: true });
    const used = new Set(others.map(({ Image }) => fullImageName(Image)));
    const removed: string[] = [];
    for (const image of found.images) {
      if (used.has(fullImageName(image))) continue;
      try {
        if (await ifThere(imageRemove(engine, image))) removed.push(image);
      } catch (error) {
        // Another container uses it.
        if (!(error instanceof EngineError && error.status === 409)) throw error;
      }
    }
    return removed;
  });
  deps.diskUsage.invalidate();
  const { names, warnings = [] } = found;
  return {
    containers: names,
    networks,
    volumes,
    images,
    warnings: [...warnings, ...inUseWarnings(inUse)],
  };
}

/** Warns of containers of others that depend on those that are removed. */
async function dependentsLeft(deps: Deps, removed: readonly ContainerInspect[]): Promise<string[]> {
  const own = removed.map((each) => asContainer(deps, each));
  return cutOffWarnings(dependentsOfAny(own, await listAll(deps)));
}

/** The services of the current sources, for their hooks; none without sources that can be loaded. */
async function storedServices(
  deps: Deps,
  name: string,
): Promise<{ services: Record<string, Service>; secretValues: readonly string[] }> {
  try {
    const { project: { services }, secretValues } = await recordStack(deps, name);
    return { services, secretValues };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code !== "not_found") {
      deps.log.warn("sources of a stack not loaded; its pre_stop hooks are skipped", {
        stack: name,
        error: error.message,
      });
    }
    return { services: {}, secretValues: [] };
  }
}

/** The engine's refusal as a conflict, e.g. if a container outside of the project uses a part. */
async function whileUsed<Result>(work: Promise<Result>, what: string): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new AppError("conflict", `${what} could not be removed: ${error.message}`, {
      cause: error,
    });
  }
}
