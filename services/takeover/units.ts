/** Containers that a unit of systemd owns: it would start them again as they were. @module */

/** Set by Podman, also for quadlets. */
const UNIT_LABEL = "PODMAN_SYSTEMD_UNIT";

export const unitOf = (
  { labels }: { labels: Readonly<Record<string, string>> },
): string | null => labels[UNIT_LABEL] || null;

export const restartUnit = (unit: string) =>
  `Owned by the unit ${unit}; restart it with systemctl restart ${unit}`;
