/**
 * The name of the host that this service runs on, in the rows that describe a host: so that those
 * of many hosts can one day lie side by side.
 *
 * @module
 */

export const LOCAL_HOST = "local";
