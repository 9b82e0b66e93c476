/**
 * Purposes of the pages of the other editions, shown to those without the edition. A module of
 * its own, because the first view does not need it.
 *
 * @module
 */

/** By the title of the page. */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  Uptime:
    "Monitors check web pages, ports and DNS records at an interval, keep their response times and outages, and open an incident when something is down.",
  Incidents:
    "Incidents collect what is broken, who works on it and what was done, in one timeline. Monitors and alert rules open and resolve them by themselves.",
  "Status pages":
    "Public pages tell your users what works: components that follow monitors, incidents, planned maintenance, and subscribers who are notified.",
  SLA:
    "SLAs compare the uptime of monitors with what you promised, and say how much downtime is left before the promise is broken.",
  Remediation:
    "Rules start, stop or restart a container when a condition holds, with a cooldown and a history of what they did.",
  Chat:
    "Chat channels get a message about the events that you choose, and failed messages are sent again.",
  Roles:
    "Custom roles give users single permissions beyond the built-in roles, e.g. to restart containers but not to change them.",
  "IP allowlist":
    "Only the networks and addresses that you list can use this server, for all users or for one.",
  mTLS:
    "A reverse proxy asks Longshore which client certificates to accept. Machines are enrolled, disabled and revoked here.",
  Branding: "Your name, logo and colors on the API page, on status pages and in mails.",
  Encryption: "Records how the database is encrypted, and when its key was rotated and by whom.",
  Compliance:
    "A log of every change, login and denial. Its entries are chained by hashes, so that a modification is noticed, and auditors can verify an export.",
};
