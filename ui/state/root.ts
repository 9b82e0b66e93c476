/** The address of the service, which may be below a path of a proxy. @module */

/** All scripts are in `assets/` of the service. */
export const ROOT = new URL("../", import.meta.url);
