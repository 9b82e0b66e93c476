import { deepEqual, equal } from "node:assert/strict";
import { listComposeKeys } from "../../../../services/compose/load/completion.ts";
import { PROJECT_KEYS } from "../../../../services/compose/load/project_keys.ts";
import type { Fields } from "../../../../services/compose/load/reader.ts";
import { SERVICE_KEYS } from "../../../../services/compose/load/service_keys.ts";

Deno.test("listComposeKeys() has every key that the loader reads and that has an effect", () => {
  const { keys } = listComposeKeys();

  for (
    const [path, fields] of [["", PROJECT_KEYS], ["services.*", SERVICE_KEYS]] as const
  ) {
    const listed = new Set(keys[path]);
    const hidden = Object.keys(fields).filter((key) => !listed.has(key));
    const accepted = Object.entries(fields as Fields)
      .filter(([key, { completion }]) => hidden.includes(key) && !completion?.isHidden);
    deepEqual(accepted, [], path);
  }
  equal(keys[""]?.includes("services"), true);
  equal(keys[""]?.includes("models"), false);
  equal(keys["services.*"]?.includes("image"), true);
  equal(keys["services.*"]?.includes("credential_spec"), false);
});

Deno.test("listComposeKeys() has the keys of maps, of items of lists and of named entries", () => {
  const { keys } = listComposeKeys();

  deepEqual(keys["services.*.deploy.resources"], ["limits", "reservations"]);
  deepEqual(keys["services.*.depends_on.*"], ["condition", "required", "restart"]);
  equal(keys["services.*.ports"]?.includes("published"), true);
  equal(keys["services.*.networks.*"]?.includes("ipv4_address"), true);
  equal(keys["volumes.*"]?.includes("external"), true);
  equal(keys["networks.*.ipam.config"]?.includes("subnet"), true);
  equal(keys["services.*.environment"], undefined);
});

Deno.test("listComposeKeys() has the values of keys with a fixed choice", () => {
  const { values } = listComposeKeys();

  deepEqual(values["services.*.read_only"], ["true", "false"]);
  deepEqual(values["services.*.restart"], ["no", "always", "unless-stopped", "on-failure"]);
  equal(values["services.*.depends_on.*.condition"]?.includes("service_healthy"), true);
});
