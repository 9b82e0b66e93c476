import { deepEqual, equal } from "node:assert/strict";
import { listComposeKeys } from "../../../../../services/ce/compose/load/completion.ts";
import { PROJECT_KEYS } from "../../../../../services/ce/compose/load/project_keys.ts";
import { SERVICE_KEYS } from "../../../../../services/ce/compose/load/service_keys.ts";

Deno.test("listComposeKeys() has every key that the loader reads and that has an effect", () => {
  const { keys } = listComposeKeys();

  const without = (names: string[], ...hidden: string[]) =>
    names.filter((name) => !hidden.includes(name)).sort();
  deepEqual(keys[""], without([...Object.keys(PROJECT_KEYS), "services"], "models", "version"));
  deepEqual(
    keys["services.*"],
    without(
      Object.keys(SERVICE_KEYS),
      ...["attach", "credential_spec", "pull_refresh_after", "use_api_socket"],
    ),
  );
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
