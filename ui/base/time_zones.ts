/** Time zones to choose from. @module */

/** IANA names. Browsers leave UTC out of their list. */
export const TIME_ZONES = [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone")])].sort();

/** That of the user. */
export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** With one that the service knows and the browser may not. */
export const zonesWith = (zone: string): readonly string[] =>
  TIME_ZONES.includes(zone) ? TIME_ZONES : [zone, ...TIME_ZONES];
