import { equal } from "node:assert/strict";
import { systemReason } from "../../../services/text/system_reason.ts";

const { IsADirectory, NotADirectory, NotCapable, NotFound, PermissionDenied } = Deno.errors;

for (
  const [error, reason] of [
    [new NotFound("No such file or directory (os error 2): open '/x'"), "it does not exist"],
    [new PermissionDenied("Permission denied (os error 13): open '/x'"), "permission denied"],
    [
      new NotCapable(`Requires all access to "/proc", run again with the --allow-all flag`),
      "the service has no access to this path",
    ],
    [new IsADirectory("Is a directory (os error 21)"), "it is a directory"],
    [new NotADirectory("Not a directory (os error 20)"), "a part of its path is not a directory"],
    [new Error("Input/output error (os error 5): read '/x'"), "Input/output error"],
    [new Error("it is empty"), "it is empty"],
    ["a text", "a text"],
  ] as const
) {
  Deno.test(`the reason of ${error} is: ${reason}`, () => equal(systemReason(error), reason));
}
