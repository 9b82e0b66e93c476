/** The commands of the program, by name. Each is loaded when it is called. @module */

import { help } from "./help.ts";
import type { Program } from "./program.ts";
import * as usages from "./usages.ts";
import { version } from "./version.ts";

interface Command {
  /** One line for `longshore help`. */
  summary: string;
  /** Text of `COMMAND --help`; default: a command without arguments. */
  usage?: string;
  /** @returns The exit status. */
  run: (program: Program) => number | Promise<number>;
}

export const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    summary: "Run the service (also without any command)",
    run: async (program) => (await import("./serve.ts")).serve(program),
  },
  setup: {
    summary: "Create the first account or the API key of a new server",
    usage: usages.SETUP,
    run: async (program) => (await import("./setup.ts")).setup(program),
  },
  config: {
    summary: "Show every variable with its value, default and meaning",
    run: async (program) => (await import("./config.ts")).showConfig(program),
  },
  healthcheck: {
    summary: "Check whether the running service is ready",
    run: async (program) => (await import("./healthcheck.ts")).healthcheck(program),
  },
  backup: {
    summary: "Back up everything to one file",
    usage: usages.BACKUP,
    run: async (program) => (await import("./backup.ts")).backup(program),
  },
  restore: {
    summary: "Restore a backup",
    usage: usages.RESTORE,
    run: async (program) => (await import("./restore.ts")).restore(program),
  },
  "backup-volumes": {
    summary: "Back up a stack or volumes to a restic repository",
    usage: usages.BACKUP_VOLUMES,
    run: async (program) => (await import("./snapshots.ts")).backupVolumes(program),
  },
  snapshots: {
    summary: "List snapshots of stacks and volumes, restore one, or try it out",
    usage: usages.SNAPSHOTS,
    run: async (program) => (await import("./snapshots.ts")).snapshots(program),
  },
  "backup-key": {
    summary: "Show the password of a backup target's repository",
    usage: usages.BACKUP_KEY,
    run: async (program) => (await import("./backup_key.ts")).backupKey(program),
  },
  "self-update": {
    summary: "Replace this executable with a signed newer one",
    usage: usages.SELF_UPDATE,
    run: async (program) => (await import("./self_update.ts")).selfUpdate(program),
  },
  user: {
    summary: "Add, list, change or remove accounts",
    usage: usages.USER,
    run: async (program) => (await import("./user.ts")).user(program),
  },
  key: {
    summary: "Replace a lost or leaked API key",
    usage: usages.KEY,
    run: async (program) => (await import("./key.ts")).key(program),
  },
  token: {
    summary: "Create, list or revoke API tokens",
    usage: usages.TOKEN,
    run: async (program) => (await import("./token.ts")).token(program),
  },
  logs: {
    summary: "Show or follow the logs of containers, through the running service",
    usage: usages.LOGS,
    run: async (program) => (await import("./logs.ts")).logs(program),
  },
  stack: {
    summary: "Validate, plan, deploy or remove the stack of a Compose file",
    usage: usages.STACK,
    run: async (program) => (await import("./stack.ts")).stack(program),
  },
  git: {
    summary: "Add Git repositories, and show what their stacks follow",
    usage: usages.GIT,
    run: async (program) => (await import("./git.ts")).git(program),
  },
  takeover: {
    summary: "Take over the stacks that other programs have deployed",
    usage: usages.TAKEOVER,
    run: async (program) => (await import("./takeover.ts")).takeover(program),
  },
  updates: {
    summary: "Show which containers have a newer image, through the running service",
    usage: usages.UPDATES,
    run: async (program) => (await import("./updates.ts")).updates(program),
  },
  update: {
    summary: "Update a container to a newer image; roll back if it fails",
    usage: usages.UPDATE,
    run: async (program) => (await import("./update.ts")).update(program),
  },
  fleet: {
    summary: "Invite, list and accept hosts of a fleet, carry requests to one, or leave a fleet",
    usage: usages.FLEET,
    run: async (program) => (await import("./fleet.ts")).fleet(program),
  },
  join: {
    summary: "Join the fleet of another server with the token of an invite",
    usage: usages.JOIN,
    run: async (program) => (await import("./join.ts")).join(program),
  },
  license: {
    summary: "Show or install the license",
    usage: usages.LICENSE,
    run: async (program) => (await import("./license.ts")).license(program),
  },
  "ip-allowlist": {
    summary: "Stop enforcing the IP allowlist, after a lockout",
    usage: usages.IP_ALLOWLIST,
    run: async (program) => (await import("./enterprise/ip_allowlist.ts")).ipAllowlist(program),
  },
  compliance: {
    summary: "Verify the compliance log, of the service or of a copy",
    usage: usages.COMPLIANCE,
    run: async (program) => (await import("./enterprise/compliance.ts")).compliance(program),
  },
  openapi: {
    summary: "Print the API document (OpenAPI 3.1, JSON)",
    run: async (program) => (await import("./openapi.ts")).openapi(program),
  },
  version: { summary: "Print the version", run: version },
  help: {
    summary: "Show this help, or the help of a command",
    usage: "longshore help [COMMAND]",
    run: (program) => help(program, COMMANDS),
  },
};
