/** Files that the containers of a drill have without a volume. @module */

import type { Repository } from "../../backup/restic/repository.ts";
import type { Snapshot } from "../../backup/restic/snapshot.ts";
import { translated } from "../../backup/targets/repository.ts";
import { lockWait } from "../../backup/trees/lock_wait.ts";
import { extractIntoContainer, writeContainerFile } from "../../backup/volumes/container_files.ts";
import { archiveOf, type ContainerFile, filesOf } from "../../compose/deploy/files.ts";
import { loadStack } from "../../compose/validate.ts";
import type { Deps } from "../../deps.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { keyOf, sourceOf } from "../../updates/trial/members.ts";
import type { TrialContainer } from "../../updates/trial/parts.ts";
import type { StackDescription } from "../description.ts";
import type { DrillData } from "./plan.ts";

interface FilledFrom {
  repository: Repository;
  snapshot: Snapshot;
  description: StackDescription;
  data: DrillData;
}

/** @returns A function that copies files into a container before it is started. */
export async function createFiller(
  deps: Deps,
  { repository, snapshot, description, data }: FilledFrom,
  job: Pick<JobRun, "progress" | "signal">,
): Promise<(container: TrialContainer) => Promise<void>> {
  const { signal } = job;
  const ofService = await grantedFiles(deps, description);
  return async ({ id, member: { mounts, service } }) => {
    const granted = service === null ? [] : ofService(service);
    if (granted.length > 0) {
      const archive = archiveOf(granted, deps.now());
      await extractIntoContainer(deps, id, archive, { what: "Configs and secrets", signal });
    }
    for (const mount of mounts) {
      const source = sourceOf(mount);
      const from = source && data.files.get(keyOf(source));
      if (from === undefined) continue;
      await translated(async () => {
        const entries = repository.entries(
          snapshot.id,
          { paths: [from], ...lockWait(job) },
          signal,
        );
        for await (const entry of entries) {
          await writeContainerFile(deps, id, mount.Destination, { entry, signal });
        }
      });
    }
  };
}

/** Configs and secrets whose texts are in the sources: a deploy copies them as well. */
async function grantedFiles(
  deps: Deps,
  { sources, stack }: StackDescription,
): Promise<(service: string) => ContainerFile[]> {
  if (sources?.kind !== "compose") return () => [];
  const { project, contents } = await loadStack(deps, sources.sources, {
    name: stack,
    refusesRelative: true,
    bindAllow: deps.config.bindAllow,
  });
  return (service) => project?.services[service] ? filesOf(project, service, contents) : [];
}
