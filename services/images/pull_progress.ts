/** The progress of a pull, summed over its layers. @module */

import type { JobProgress } from "../../db/jobs.ts";
import type { PullProgress } from "../../engine/image_pull.ts";

interface Layer {
  downloaded: number;
  /** Bytes; `null` until the engine reports it. */
  total: number | null;
  isComplete: boolean;
}

/** Limit of layers of an image; beyond it, messages are ignored. */
const LAYERS_MAX = 1_000;

/** Messages after which a layer is complete. */
const COMPLETE = new Set(["Pull complete", "Already exists"]);

/**
 * Returns a function that takes the engine's messages in order. It returns the downloaded bytes of
 * all layers that are known so far, so `total` grows while the engine discovers layers.
 */
export function createPullProgress(): (message: PullProgress) => JobProgress {
  const layers = new Map<string, Layer>();

  const layerOf = (id: string): Layer | undefined => {
    const known = layers.get(id);
    if (known || layers.size >= LAYERS_MAX) return known;
    const layer: Layer = { downloaded: 0, total: null, isComplete: false };
    layers.set(id, layer);
    return layer;
  };

  return ({ status, id, progressDetail }) => {
    const layer = id === undefined || !isAboutLayer(status) ? undefined : layerOf(id);
    if (layer) {
      if (status === "Downloading") {
        layer.downloaded = progressDetail?.current ?? layer.downloaded;
        layer.total = progressDetail?.total ?? layer.total;
      } else if (status !== "Pulling fs layer" && status !== "Waiting") {
        // The download is complete: verifying, extracting or done.
        layer.downloaded = layer.total ?? layer.downloaded;
      }
      layer.isComplete ||= COMPLETE.has(status ?? "");
    }
    return sumOf([...layers.values()]);
  };
}

/** Other messages have the tag as their id. */
const isAboutLayer = (status = "") =>
  /^(Pulling fs layer|Waiting|Downloading|Verifying Checksum|Download complete|Extracting|Pull complete|Already exists)$/
    .test(status);

function sumOf(layers: readonly Layer[]): JobProgress {
  const totals = layers.map(({ total }) => total).filter((total) => total !== null);
  const complete = layers.filter(({ isComplete }) => isComplete).length;
  return {
    current: layers.reduce((sum, { downloaded }) => sum + downloaded, 0),
    total: totals.length === 0 ? null : totals.reduce((sum, total) => sum + total, 0),
    message: layers.length === 0 ? null : `${complete} of ${layers.length} layers complete`,
  };
}
