/** The updates that may be applied automatically now. @module */

import { selectLatestDigest, selectSeenDigest } from "../../../db/updates/digests.ts";
import { selectCheckedImage } from "../../../db/updates/images.ts";
import { canonicalReference } from "../../../engine/image_reference.ts";
import type { Deps } from "../../deps.ts";
import { unitIn } from "../../containers/units.ts";
import { parseDependsOn, startOrder } from "../../containers/order.ts";
import { DEPENDS_ON_LABEL } from "../../stacks/groups.ts";
import { createTagFilters, newestAccepted, type TagFilters } from "../check/candidates.ts";
import {
  type ImageInUse,
  imagesInUse,
  type ImageUser,
  isCheckable,
  isServiceTask,
} from "../check/in_use.ts";
import { AUTO_LABELS, OWN_LABEL, WINDOW_LABEL } from "../labels.ts";
import { otherUpdates } from "../other_programs.ts";
import { readKnown } from "../check/known.ts";
import { imageStatus, type Known } from "../check/status.ts";
import { isBlocked } from "../run/blocked.ts";
import { type AppliedSettings, readUpdateSettings } from "../settings.ts";
import { createNextDue } from "../../input/cron.ts";
import { openedAt, type UpdateWindow } from "../window.ts";

/** An update of one container. */
export interface PendingUpdate {
  containerId: string;
  name: string;
  /** The image that it runs. */
  imageId: string;
  /** The stack, or the name of a container without one; such groups are updated one by one. */
  group: string;
  /** The new reference; `undefined`: that of the container. */
  image: string | undefined;
  /** The new reference, as the registry was asked for it. */
  seenImage: string;
  digest: string;
  verifyTimeoutSeconds: number | undefined;
}

const HOUR_MS = 60 * 60 * 1000;

/**
 * Updates of running containers with the policy `auto` whose window is open and whose new image is
 * old enough and not blocked. Sorted by group, and in it by dependencies.
 *
 * @throws {EngineUnreachableError}
 */
export async function pendingUpdates(deps: Deps): Promise<PendingUpdate[]> {
  const settings = readUpdateSettings(deps);
  const containers = deps.inventory.list();
  const next = createNextDue();
  const isOpen = (window: UpdateWindow) => openedAt(window, deps.now(), { next }) !== undefined;
  const isUpdatedElsewhere = otherUpdates(containers);
  const isCandidate = (user: ImageUser) =>
    isAutomatic(user, settings, isOpen) && !deps.maintenance.includes(user.container) &&
    unitIn(user.container.labels) === null &&
    (isRequested(user) || !isUpdatedElsewhere(user.container));
  const hasLabel = (name: string) => containers.some(({ labels }) => labels[name] !== undefined);
  const mayBeAutomatic = settings.policy === "auto" || AUTO_LABELS.some(hasLabel);
  // The engine is asked for the labels of images only if they can matter.
  if (!mayBeAutomatic || !(settings.windows.some(isOpen) || hasLabel(WINDOW_LABEL))) return [];

  const known = await readKnown(deps);
  const images = imagesInUse(containers, known.local.labelsOf);
  const filters = createTagFilters();
  const pending: { user: ImageUser; update: PendingUpdate }[] = [];
  for (const image of images) {
    for (const user of image.users.filter(isCandidate)) {
      const target = await targetOf(deps, image, user, { known, filters });
      if (!target || !isOldEnough(deps, target.seen, user, settings)) continue;
      const { id, name, imageId } = user.container;
      if (isBlocked(deps, name, target.seen.digest)) continue;
      const update: PendingUpdate = {
        containerId: id,
        name,
        imageId,
        group: user.stack ?? name,
        image: target.image,
        seenImage: target.seen.image,
        digest: target.seen.digest,
        verifyTimeoutSeconds: user.labels.verifyTimeoutSeconds,
      };
      pending.push({ user, update });
    }
  }
  return inOrder(pending);
}

/** Whether an administrator has written that this service updates the container. */
const isRequested = ({ container, labels }: ImageUser) =>
  labels.policy === "auto" && container.labels[OWN_LABEL]?.trim().toLowerCase() === "auto";

/** Labels with problems may mean something else than what is applied. */
function isAutomatic(
  { container, labels }: ImageUser,
  settings: AppliedSettings,
  isOpen: (window: UpdateWindow) => boolean,
): boolean {
  const policy = labels.policy ?? settings.policy;
  const windows = labels.window ? [labels.window] : settings.windows;
  return policy === "auto" && labels.problems.length === 0 && container.state === "running" &&
    !container.self && !isServiceTask(container) && windows.some(isOpen) &&
    (labels.window !== undefined || !labels.image?.window || isOpen(labels.image.window));
}

interface Target {
  image: string | undefined;
  /** As the registry was asked for it. */
  seen: { image: string; digest: string };
}

/** The newest version within the level of the labels, else the newest image of the same tag. */
async function targetOf(
  { db }: Pick<Deps, "db">,
  image: ImageInUse,
  user: ImageUser,
  { known, filters }: { known: Known; filters: TagFilters },
): Promise<Target | undefined> {
  const checked = selectCheckedImage(db, image.image);
  if (!checked || !isCheckable(image)) return undefined;
  const { status, outdated } = imageStatus(image, checked, known);
  if (status === "unknown" || status === "local") return undefined;

  const { reference } = image;
  if (user.labels.level !== "same") {
    const version = await newestAccepted(user.labels, checked.newerVersions, filters);
    const name = version && canonicalReference({ ...reference, tag: version.tag });
    const digest = name === undefined ? undefined : selectLatestDigest(db, name);
    if (version && name !== undefined && digest !== undefined) {
      return { image: `${reference.name}:${version.tag}`, seen: { image: name, digest } };
    }
  }
  const isOutdated = outdated.some(({ container }) => container.id === user.container.id);
  if (!isOutdated || checked.latestDigest === null) return undefined;
  return { image: undefined, seen: { image: image.image, digest: checked.latestDigest } };
}

function isOldEnough(
  { db, now }: Pick<Deps, "db" | "now">,
  seen: Target["seen"],
  { labels }: ImageUser,
  settings: AppliedSettings,
): boolean {
  const firstSeenAt = selectSeenDigest(db, seen)?.firstSeenAt;
  if (firstSeenAt === undefined) return false;
  const ageHours = (now().getTime() - Date.parse(firstSeenAt)) / HOUR_MS;
  const { minAgeHours = Math.max(settings.minimumAgeHours, labels.image?.minAgeHours ?? 0) } =
    labels;
  return ageHours >= minAgeHours;
}

/** Dependencies first, by the labels of compose and Watchtower. */
function inOrder(pending: { user: ImageUser; update: PendingUpdate }[]): PendingUpdate[] {
  const byName = new Map(pending.map(({ update }) => [update.name, update]));
  const dependencies = new Map(pending.map(({ user }) => {
    const services = parseDependsOn(user.container.labels[DEPENDS_ON_LABEL])
      .map(({ service }) => service);
    const siblings = pending
      .filter((other) =>
        other.user.container.composeProject === user.container.composeProject &&
        services.includes(other.user.container.composeService ?? "")
      )
      .map(({ update }) => update.name);
    return [user.container.name, [...siblings, ...user.labels.dependsOn]];
  }));
  const ordered = startOrder(dependencies).flat().flatMap((name) => byName.get(name) ?? []);
  const groups = Map.groupBy(ordered, ({ group }) => group);
  return [...groups.keys()].sort().flatMap((group) => groups.get(group)!);
}
