/** The images that containers use. @module */

import {
  canonicalReference,
  findReference,
  type ImageReference,
} from "../../../engine/image_reference.ts";
import { stackOf } from "../../access/scope.ts";
import type { Container } from "../../containers/inventory.ts";
import { SERVICE_ID_LABEL } from "../../swarm/services.ts";
import { hasVersionPolicy, type LabelPolicy, type Labels, updatePolicy } from "../labels.ts";

/** An image by the reference that containers were created from. */
export interface ImageInUse {
  /** Canonical reference, with the tag `latest` if it had none; an image id as it is. */
  image: string;
  /** `undefined` for an image id. */
  reference: ImageReference | undefined;
  /** In any state, by name. */
  users: ImageUser[];
  /** Services of the swarm. */
  services: ImageService[];
}

/** A service of the swarm, with the digest that it has pinned. */
export interface ImageService {
  name: string;
  stack: string | null;
  digest: string;
}

/** A container with the policy of its labels. */
export interface ImageUser {
  container: Container;
  stack: string | null;
  labels: LabelPolicy;
}

const IMAGE_ID = /^sha256:|^[0-9a-f]{64}$/;

/** Returns the labels of an image; `undefined` if they are unknown. */
type LabelsOf = (imageId: string) => Labels | undefined;

/**
 * Groups containers by image, both by name. Those of an unfinished update are left out.
 *
 * @param labelsOf Without it, the policies are as strict as images may make them.
 */
export function imagesInUse(
  containers: readonly Container[],
  labelsOf: LabelsOf = () => undefined,
): ImageInUse[] {
  const images = new Map<string, ImageInUse>();
  for (const container of [...containers].sort(byName)) {
    if (container.name !== container.originalName) continue;
    const reference = referenceOf(container);
    const image = reference ? canonicalReference(reference) : container.image;
    const user = { container, stack: stackOf(container), labels: readPolicy(container, labelsOf) };
    const known = images.get(image);
    if (known) known.users.push(user);
    else images.set(image, { image, reference, users: [user], services: [] });
  }
  return [...images.values()].sort((a, b) => a.image < b.image ? -1 : 1);
}

/** The swarm pins the digest that a tag had, which an update of the service replaces. */
function referenceOf({ image, labels }: Container): ImageReference | undefined {
  const reference = IMAGE_ID.test(image) ? undefined : findReference(image);
  const isPinnedTag = isServiceTask({ labels }) && reference?.tag !== undefined;
  return isPinnedTag ? { ...reference, digest: undefined } : reference;
}

/** Whether a container belongs to a service of a swarm, which alone can update it. */
export const isServiceTask = ({ labels }: Pick<Container, "labels">): boolean =>
  labels[SERVICE_ID_LABEL] !== undefined;

/** Returns the image with the policies of its containers as the labels of images make them. */
export const withLabels = <Image extends ImageInUse>(
  image: Image,
  labelsOf: LabelsOf,
): Image => ({
  ...image,
  users: image.users.map((user) => ({ ...user, labels: readPolicy(user.container, labelsOf) })),
});

const readPolicy = ({ labels, imageId }: Container, labelsOf: LabelsOf): LabelPolicy =>
  updatePolicy(labels, labelsOf(imageId));

/** An image that a registry can be asked for. */
export type CheckableImage = ImageInUse & { reference: ImageReference };

/** Whether a registry can be asked for a newer image: it has a tag, which may move. */
export function isCheckable(image: ImageInUse): image is CheckableImage {
  return image.reference !== undefined && image.reference.digest === undefined;
}

/** Whether any container is interested in updates, or a service on other nodes. */
export const isWatched = ({ users, services }: ImageInUse): boolean =>
  users.some(({ labels }) => labels.policy !== "off") || services.length > 0 && users.length === 0;

/** Whether any container is interested in newer versions. */
export const wantsVersions = ({ users }: ImageInUse): boolean =>
  users.some(({ labels }) => labels.policy !== "off" && hasVersionPolicy(labels));

const byName = (a: Container, b: Container) => a.name < b.name ? -1 : 1;
