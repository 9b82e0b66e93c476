/** Single sign-on for tests: a registered identity provider and its logins. @module */

import { equal } from "node:assert/strict";
import {
  createSigningKey,
  isWithoutSigner,
  type KeyKind,
  MORE,
  posted,
  type ResponseParts,
  signedResponse,
  type SigningKey,
} from "./saml_idp.ts";
import type { Answer, CallOptions, TestApp } from "./test_app.ts";

export const SSO = "/api/ext/service-enterprise/sso";

/** Address of the application under test, and addresses derived from it. */
export const BASE_URL = "http://longshore.test";
export const SP_ENTITY_ID = `${BASE_URL}${SSO}/metadata`;
export const ACS_URL = `${BASE_URL}${SSO}/acs`;

export const PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";

/** Default validity of a message. */
const GOOD_MS = 5 * 60 * 1000;

/** Content of an assertion. */
export type Says = Partial<ResponseParts> & {
  /** Default: `ada@example.com`; the attribute `mail`, and also the name if none is given. */
  email?: string;
};

export interface SamlIdp {
  entityId: string;
  /** PEM. */
  certificate: string;
  /** A signed assertion in a response, encoded as a form field. */
  answer(says: Says & { issuedAt: Date }): Promise<string>;
}

/** A test that needs `xmlsec1`; skipped without it. */
export function ssoTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: isWithoutSigner, fn });
}

/** An identity provider with its own key. */
export async function createIdp(entityId: string, kind: KeyKind = "P-256"): Promise<SamlIdp> {
  const algorithm = `${MORE}${kind.startsWith("RSA") ? "rsa" : "ecdsa"}-sha256`;
  return idpWith(await createSigningKey(kind), entityId, algorithm);
}

/** The same identity provider with another name. */
function idpWith(key: SigningKey, entityId: string, algorithm: string): SamlIdp {
  return {
    entityId,
    certificate: key.certificate,
    answer: async ({ email = "ada@example.com", ...parts }) =>
      posted(
        await signedResponse({ key, algorithm }, {
          issuer: entityId,
          assertionId: `_${crypto.randomUUID()}`,
          acsUrl: ACS_URL,
          audience: SP_ENTITY_ID,
          nameId: email,
          notOnOrAfter: new Date(parts.issuedAt.getTime() + GOOD_MS),
          ...parts,
          attributes: { mail: email, ...parts.attributes },
        }),
      ),
  };
}

/** Registers an identity provider. @returns The stored record. */
export async function addProvider(
  app: TestApp,
  idp: Pick<SamlIdp, "entityId" | "certificate">,
  changes: Record<string, unknown> = {},
  // deno-lint-ignore no-explicit-any
): Promise<any> {
  const { status, body } = await app.call("POST", `${SSO}/providers`, {
    name: "Acme",
    entity_id: idp.entityId,
    sso_url: "https://idp.example.com/sso",
    certificate: idp.certificate,
    attribute_mapping: { email: "mail", name: "displayName" },
    auto_provision: true,
    ...changes,
  });
  equal(status, 201, body.error);
  return body;
}

/** The id of the request in the page of a login that was begun. */
export const requestIdIn = (page: string): string =>
  requestIdOf(/name="SAMLRequest" value="([^"]+)"/.exec(page)![1]!);

/** The id of an `AuthnRequest` as the form field has it. */
export const requestIdOf = (message: string): string =>
  / ID="([^"]+)"/.exec(new TextDecoder().decode(Uint8Array.fromBase64(message)))![1]!;

type AcsOptions = CallOptions & { relayState?: string };

/** Posts a message as a browser does. */
export function postAcs(
  app: TestApp,
  samlResponse: string,
  { relayState, ...options }: AcsOptions = {},
): Promise<Answer> {
  const form = new URLSearchParams({ SAMLResponse: samlResponse });
  if (relayState !== undefined) form.set("RelayState", relayState);
  return app.call("POST", `${SSO}/acs`, form.toString(), {
    role: "public",
    ...options,
    headers: { "content-type": "application/x-www-form-urlencoded", ...options.headers },
  });
}

/** Issues a message at the application's time and posts it. */
export async function ssoLogin(
  app: TestApp,
  idp: SamlIdp,
  says: Says = {},
  options: AcsOptions = {},
): Promise<Answer> {
  return await postAcs(app, await idp.answer({ issuedAt: app.clock.now(), ...says }), options);
}
