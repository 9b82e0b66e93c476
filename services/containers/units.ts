/** Units of systemd that own containers: such a unit creates its container again as it was. @module */

type Labels = Readonly<Record<string, string>> | null | undefined;

/** The unit, which Podman writes into a label, also for quadlets; `null` without one. */
export const unitIn = (labels: Labels): string | null => labels?.["PODMAN_SYSTEMD_UNIT"] || null;

/** The reason why a container is not recreated. */
export const unitText = (name: string, unit: string): string =>
  `${name} belongs to the unit ${unit} of systemd; restart it with systemctl restart ${unit}`;
