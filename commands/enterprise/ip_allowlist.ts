/**
 * `longshore ip-allowlist off`: for operators who locked themselves out. The service may be running.
 *
 * @module
 */

import { recordAudit } from "../../services/access/audit/audit.ts";
import { stopIpAllowlist } from "../../services/enterprise/ip_allowlist/allowlist.ts";
import { systemReason } from "../../services/text/system_reason.ts";
import { parseArguments, subcommand } from "../arguments.ts";
import { CONSOLE } from "../console.ts";
import { assertIsMeant, findInstallation } from "../installation.ts";
import { EXIT, type Program } from "../program.ts";
import { withStateBeside } from "../state_database.ts";

const now = () => new Date();

export async function ipAllowlist(program: Program): Promise<number> {
  const { program: rest } = subcommand("ip-allowlist", program, ["off"]);
  parseArguments("ip-allowlist off", rest, [], {});
  const { config } = findInstallation(program);
  assertIsMeant(config, program);
  const { wasOn, unrecorded } = await withStateBeside(config.dataDir, (db) => {
    const stopped = stopIpAllowlist({ db, now });
    recordAudit({ db, now }, {
      caller: CONSOLE,
      action: "longshore ip-allowlist off",
      target: "",
      outcome: "success",
    });
    return stopped;
  });
  program.print(
    wasOn
      ? "The IP allowlist is no longer enforced: every address may use the service."
      : "The IP allowlist was not enforced; nothing was changed.",
  );
  if (unrecorded !== undefined) {
    program.note(`It could not be written into the compliance log: ${systemReason(unrecorded)}`);
  }
  program.note("The rules are kept. A running service applies this at once.");
  return EXIT.ok;
}
