import { equal } from "node:assert/strict";
import { unreadAdvice } from "../../ui/pages/takeover/unread.ts";

Deno.test("the advice for missing files names STACK_ROOTS only where it helps", () => {
  equal(
    unreadAdvice(["/srv/a/compose.yaml"], ["/opt/stacks"]),
    "The Compose file of 1 stack was not found: /srv/a/compose.yaml. Its source is generated from " +
      "the containers. Add the directory of the file to STACK_ROOTS, or choose the source of the stack.",
  );
  equal(
    unreadAdvice(["/srv/a/compose.yaml"], ["/opt", "/srv"]),
    "The Compose file of 1 stack was not found: /srv/a/compose.yaml. Its source is generated from " +
      "the containers. Choose the source of the stack.",
  );
  equal(
    unreadAdvice(["/srv/a/compose.yaml", "/srvb/compose.yaml"], ["/srv"]),
    "The Compose files of 2 stacks were not found, e.g. /srvb/compose.yaml. Their sources are " +
      "generated from the containers. Add directories that are not below STACK_ROOTS to it, or " +
      "choose the source of each stack.",
  );
});
