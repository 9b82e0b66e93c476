/** Whether an image has reached a wave. Without side effects. @module */

import { hasLabel } from "../../access/host_scope.ts";

/** The order in which the hosts of a fleet get new images automatically. */
export interface WaveSettings {
  /** Labels of hosts, `key` or `key=value`, the first wave first. Other hosts come after the last one. */
  waves: string[];
  /** Hosts of a wave on which an image must work before the next wave gets it. */
  hosts: number;
  /** Hours for which it must stay well there. */
  soakHours: number;
}

/** A host, as far as one image is concerned. */
export interface WaveHost {
  labels: Record<string, string>;
  /** Whether it uses the repository on the platform; also if that is not known. */
  usesImage: boolean;
  /** Whether it has proved the image. */
  isProof: boolean;
}

/** Hosts of a wave that use an image. */
export interface WaveProgress {
  /** Number of the wave, from 0. */
  wave: number;
  users: number;
  proofs: number;
  /** Proofs that the next wave waits for. */
  required: number;
}

/** Number of the wave of a host, from 0; that after the last one if it has none of the labels. */
export function waveOf(
  { waves }: Pick<WaveSettings, "waves">,
  labels: Record<string, string>,
): number {
  const found = waves.findIndex((label) => hasLabel({ labels }, label));
  return found < 0 ? waves.length : found;
}

/** Progress of an image in each wave, those without a host that uses it included. */
export function progressOf(settings: WaveSettings, hosts: readonly WaveHost[]): WaveProgress[] {
  return Array.from({ length: settings.waves.length + 1 }, (_, wave) => {
    const users = hosts.filter(({ labels, usesImage, isProof }) =>
      (usesImage || isProof) && waveOf(settings, labels) === wave
    );
    const proofs = users.filter(({ isProof }) => isProof).length;
    return { wave, users: users.length, proofs, required: Math.min(settings.hosts, users.length) };
  });
}

/**
 * The wave that an image must be proved by first; `undefined` if it has reached the host. A wave in
 * which no host uses the image proves nothing and is left out.
 */
export function missingWave(
  settings: WaveSettings,
  labels: Record<string, string>,
  hosts: readonly WaveHost[],
): WaveProgress | undefined {
  const before = progressOf(settings, hosts).slice(0, waveOf(settings, labels))
    .findLast(({ users }) => users > 0);
  return before && before.proofs < before.required ? before : undefined;
}
