/**
 * The login form for an identity provider in a real browser. Ignored if `chromium` is not installed,
 * unless `LONGSHORE_REQUIRE_ENGINE=1`.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { hasBrowser, startBrowser } from "../helpers/browser.ts";
import { selfSigned } from "../helpers/certificates.ts";
import { createSigningKey } from "../helpers/saml_idp.ts";
import { addProvider, SSO } from "../helpers/sso.ts";
import { testApp } from "../helpers/test_app.ts";
import { until } from "../helpers/until.ts";

const isRequired = Deno.env.get("LONGSHORE_REQUIRE_ENGINE") === "1";
const ignore = !hasBrowser() && !isRequired;

const local = { hostname: "127.0.0.1", port: 0, onListen() {} };
const view = { width: 390, height: 844, scheme: "dark" } as const;

Deno.test({
  name: "the page of a login takes a browser to the provider, and to wherever that sends it on",
  ignore,
  async fn() {
    using app = testApp({ edition: "enterprise" });
    await using site = Deno.serve(local, (request) => app.app(request, "127.0.0.1"));
    // Another host answers the form's login page, as is common.
    await using loginPage = Deno.serve(
      { ...local, ...await selfSigned({ name: "login.test", altNames: "IP:127.0.0.1" }) },
      () =>
        new Response("<title>Who are you?</title>", { headers: { "content-type": "text/html" } }),
    );
    const forms: FormData[] = [];
    await using idp = Deno.serve(local, async (request) => {
      forms.push(await request.formData());
      const location = `https://127.0.0.1:${loginPage.addr.port}/`;
      return new Response(null, { status: 302, headers: { location } });
    });
    const sso_url = `http://127.0.0.1:${idp.addr.port}/sso?a=1&b=2`;
    const { certificate } = await createSigningKey("P-256");
    const { id } = await addProvider(app, { entityId: "idp", certificate }, { sso_url });
    const url = `http://127.0.0.1:${site.addr.port}${SSO}/login/${id}?RelayState=a%22b`;
    await using browser = await startBrowser(["--ignore-certificate-errors"]);

    await browser.visit(url, view, async ({ complaints, requests, evaluate }) => {
      await until(
        "the provider's login page is there",
        async () => await evaluate("document.title") === "Who are you?",
      );
      deepEqual(complaints, []);
      deepEqual(requests.slice(0, 2), [url, sso_url]);
    });

    equal(forms.length, 1);
    equal(forms[0]!.get("RelayState"), 'a"b');
    match(atob(String(forms[0]!.get("SAMLRequest"))), /<samlp:AuthnRequest /);
  },
});
