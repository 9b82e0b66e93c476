/**
 * The id of this host in rows that describe a host, so that a later version can store several hosts.
 *
 * @module
 */

export const LOCAL_HOST = "local";
