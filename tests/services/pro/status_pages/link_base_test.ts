import { equal } from "node:assert/strict";
import { selectSetting } from "../../../../db/settings.ts";
import { linkBaseOf, recordLinkBase } from "../../../../services/pro/status_pages/link_base.ts";
import { testApp } from "../../../helpers/test_app.ts";

const FOREIGN = "http://evil.example";
const NONE = { custom_domain: null };
const OWN = { custom_domain: "status.acme.test" };

Deno.test("links of mails have an address that an admin has used, never that of an anonymous client", () => {
  using app = testApp();
  equal(linkBaseOf(app.deps, NONE, FOREIGN), undefined);
  recordLinkBase(app.deps, "http://10.0.0.1:3000");
  recordLinkBase(app.deps, "https://longshore.test");
  recordLinkBase(app.deps, "https://longshore.test");
  equal(linkBaseOf(app.deps, NONE, FOREIGN), "https://longshore.test");
  equal(linkBaseOf(app.deps, NONE, "http://10.0.0.1:3000"), "http://10.0.0.1:3000");
  equal(linkBaseOf(app.deps, NONE, "http://10.0.0.1:3001"), "https://longshore.test");
});

Deno.test("links of mails have the domain of the page", () => {
  using app = testApp();
  equal(linkBaseOf(app.deps, OWN, "https://status.acme.test"), "https://status.acme.test");
  equal(linkBaseOf(app.deps, OWN, "https://evil.example"), "https://status.acme.test");
});

Deno.test("SERVICE_BASE_URL takes precedence, and nothing is stored", () => {
  using app = testApp({ config: { serviceBaseUrl: "https://longshore.test/base" } });
  recordLinkBase(app.deps, "http://10.0.0.1:3000");
  equal(linkBaseOf(app.deps, OWN, FOREIGN), "https://longshore.test/base");
  equal(selectSetting(app.deps.db, "status_page_link_bases"), undefined);
});

Deno.test("the last ten addresses of admins are kept", () => {
  using app = testApp();
  for (let at = 0; at <= 10; at++) recordLinkBase(app.deps, `http://host${at}.test`);
  equal(linkBaseOf(app.deps, NONE, "http://host1.test"), "http://host1.test");
  equal(linkBaseOf(app.deps, NONE, "http://host0.test"), "http://host10.test");
});
