/** Concerns about updates of images. @module */

import type { BlockedUpdate, ImageUpdate } from "../../api/types.ts";
import { LinkButton } from "../../components/button.tsx";
import { imageName, plain } from "../../base/text.ts";
import type { Concern } from "./concern.tsx";

/** Names in a line. */
const NAMES_MAX = 3;

export function Names({ names }: { names: readonly string[] }) {
  const hidden = names.length - NAMES_MAX;
  return (
    <>
      <strong>{names.slice(0, NAMES_MAX).join(", ")}</strong>
      {hidden > 0 && ` and ${hidden} more`}
    </>
  );
}

export function availableUpdates(updates: readonly ImageUpdate[] = []): Concern[] {
  const images = updates.filter(({ containers }) => containers.some(({ blocked }) => !blocked))
    .map(({ image }) => plain(imageName(image)));
  if (images.length === 0) return [];
  return [{
    key: "updates",
    tone: "warn",
    icon: "down",
    text: (
      <>
        Updates for <Names names={images} />
      </>
    ),
    solution: <LinkButton to="/updates">Show updates</LinkButton>,
  }];
}

/** Images that containers have left, and that are not installed again. */
export function blockedUpdates(blocked: readonly BlockedUpdate[] = []): Concern[] {
  const names = [...new Set(blocked.map(({ containerName }) => plain(containerName)))];
  if (names.length === 0) return [];
  return [{
    key: "blocked",
    tone: "warn",
    icon: "down",
    text: (
      <>
        Rolled back, and the image is blocked: <Names names={names} />
      </>
    ),
    solution: <LinkButton to="/updates">Show updates</LinkButton>,
  }];
}
