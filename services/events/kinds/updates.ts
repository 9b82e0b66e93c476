/** Events about new images and updates of containers. @module */

import { joined } from "../text.ts";
import { showContainer } from "./containers.ts";
import { type Field, kind } from "./kind.ts";

/** Data of the events of an update. */
interface UpdateData {
  container: string;
  /** Of the container before the update. */
  id: string;
  /** The reference of the new image. */
  image: string;
  /** Of its manifest, or the image's id; `null` before the image is known. */
  digest: string | null;
  /** Why it succeeded or failed; `null` at the start. */
  reason: string | null;
  jobId: string;
}

const shared = { group: "Updates", permission: "containers:read", page: "/updates" };

const update = {
  ...shared,
  scope: "job",
  data: {} as UpdateData,
  name: (field: Field) => field("container"),
  lines: (field: Field, text: Field) => [joined("Image: ", field("image")), text("reason")],
  thread: ({ jobId }: UpdateData) => jobId,
} as const;

const push = (outcome: string) => ({ container, id, reason }: UpdateData) => ({
  title: `Update of ${container} ${outcome}`,
  body: reason ?? "",
  ids: { containerId: id },
});

export const updateKinds = [
  kind("image.update_available", {
    ...shared,
    data: {} as {
      /** Canonical reference. */
      image: string;
      /** The reference that the containers use; differs from `image` for a newer version. */
      currentImage: string;
      digest: string;
      /** ISO 8601, UTC. */
      firstSeenAt: string;
      /** Names. */
      containers: string[];
    },
    description: "A registry has another image for a tag in use, or a newer version; once for each",
    words: "available",
    title: "Update available",
    name: (field) => field("image"),
    lines: (field) => [joined("Containers: ", field("containers"))],
  }),
  kind("update.started", {
    ...update,
    description: "The update of a container started",
    words: "started",
    title: "Update started",
    lines: (field) => [joined("Image: ", field("image"))],
    isOnlyByName: true,
  }),
  kind("update.succeeded", {
    ...update,
    description: "A container was updated",
    words: "succeeded",
    title: "Updated",
    tone: "good",
  }),
  kind("update.rolled_back", {
    ...update,
    description: "The new container failed, and the old one runs again",
    words: "rolled back",
    title: "Update rolled back",
    severity: "warning",
    push: push("was rolled back"),
  }),
  kind("update.failed", {
    ...update,
    description: "An update changed no container",
    words: "failed",
    title: "Update failed",
    severity: "warning",
  }),
  kind("update.needs_attention", {
    ...update,
    description: "Neither an update nor its rollback succeeded",
    words: "needs attention",
    title: "Update needs attention",
    remedy: showContainer,
    severity: "critical",
    push: push("needs attention"),
  }),
];

/** Ends of an update that did not succeed. */
export const FAILED_UPDATES: readonly string[] = updateKinds
  .filter(({ severity }) => severity !== "info").map(({ id }) => id);
