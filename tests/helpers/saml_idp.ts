/**
 * A SAML identity provider for tests. Its messages are signed by `xmlsec1`, a program that shares
 * no code with the library that checks them, with keys made by `openssl`.
 *
 * @module
 */

const isInstalled = (Deno.env.get("PATH") ?? "").split(":")
  .some((folder) => isFile(`${folder}/xmlsec1`));

/** Whether tests that need `xmlsec1` are skipped: it is not installed and not required. */
export const isWithoutSigner = !isInstalled && Deno.env.get("LONGSHORE_REQUIRE_ENGINE") !== "1";

export const IDP_ENTITY_ID = "https://idp.example.test/metadata";
export const SP_ENTITY_ID =
  "https://longshore.example.test/api/ext/service-enterprise/sso/metadata";
export const ACS_URL = "https://longshore.example.test/api/ext/service-enterprise/sso/acs";

/** Default issue time of messages. */
export const ISSUED_AT = new Date("2026-05-01T12:00:00Z");

export const EXCLUSIVE_C14N = "http://www.w3.org/2001/10/xml-exc-c14n#";
export const ENVELOPED_SIGNATURE = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
export const MORE = "http://www.w3.org/2001/04/xmldsig-more#";
export const SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256";

/** PEM. */
export interface SigningKey {
  certificate: string;
  privateKey: string;
}

export type KeyKind = "RSA-1024" | "RSA-2048" | "P-256" | "P-384" | "P-521";

/** A new key with a self-signed certificate that is valid for three days. */
export async function createSigningKey(kind: KeyKind = "RSA-2048"): Promise<SigningKey> {
  const [family, size] = kind.split("-") as [string, string];
  const algorithm = family === "RSA"
    ? ["-newkey", `rsa:${size}`]
    : ["-newkey", "ec", "-pkeyopt", `ec_paramgen_curve:${kind}`];
  return await inFolder(async (folder) => {
    await run(folder, "openssl", [
      ...["req", "-x509", ...algorithm, "-nodes", "-subj", "/CN=idp.example.test", "-days", "3"],
      ...["-keyout", "key.pem", "-out", "cert.pem"],
    ]);
    const [certificate, privateKey] = await Promise.all([
      Deno.readTextFile(`${folder}/cert.pem`),
      Deno.readTextFile(`${folder}/key.pem`),
    ]);
    return { certificate, privateKey };
  });
}

/** Content of a message. Texts are not escaped, so that a test can inject XML. */
export interface ResponseParts {
  issuedAt: Date;
  responseId: string;
  assertionId: string;
  issuer: string;
  /** Null leaves it out. */
  responseIssuer: string | null;
  acsUrl: string;
  destination: string | null;
  audience: string;
  inResponseTo: string | null;
  status: string;
  nameId: string;
  nameIdFormat: string | null;
  notBefore: Date | null;
  notOnOrAfter: Date;
  sessionIndex: string;
  authnContext: string;
  sessionNotOnOrAfter: Date | null;
  /** Attribute values by name. */
  attributes: Record<string, string>;
  /** Signature elements: templates of {@linkcode signatureTemplate}, signatures, or empty. */
  responseSignature: string;
  assertionSignature: string;
}

const MINUTE_MS = 60 * 1000;

/** A response with one assertion, as most identity providers write it. */
export function responseXml(given: Partial<ResponseParts> = {}): string {
  const parts = withDefaults(given);
  return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"` +
    ` xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${parts.responseId}" Version="2.0"` +
    ` IssueInstant="${parts.issuedAt.toISOString()}"` +
    `${attribute("Destination", parts.destination)}` +
    `${attribute("InResponseTo", parts.inResponseTo)}>` +
    (parts.responseIssuer === null ? "" : `<saml:Issuer>${parts.responseIssuer}</saml:Issuer>`) +
    parts.responseSignature +
    `<samlp:Status><samlp:StatusCode Value="${parts.status}"/></samlp:Status>` +
    `${assertionXml(parts)}</samlp:Response>`;
}

/** The assertion alone; it uses the namespace prefixes of the response. */
export function assertionXml(given: Partial<ResponseParts> = {}): string {
  const parts = withDefaults(given);
  const attributes = Object.entries(parts.attributes).map(([name, value]) =>
    `<saml:Attribute Name="${name}"><saml:AttributeValue>${value}</saml:AttributeValue>` +
    `</saml:Attribute>`
  );
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"` +
    ` ID="${parts.assertionId}" Version="2.0" IssueInstant="${parts.issuedAt.toISOString()}">` +
    `<saml:Issuer>${parts.issuer}</saml:Issuer>${parts.assertionSignature}` +
    `<saml:Subject><saml:NameID${attribute("Format", parts.nameIdFormat)}>${parts.nameId}` +
    `</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">` +
    `<saml:SubjectConfirmationData Recipient="${parts.acsUrl}"` +
    ` NotOnOrAfter="${parts.notOnOrAfter.toISOString()}"` +
    `${attribute("InResponseTo", parts.inResponseTo)}/></saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions${attribute("NotBefore", parts.notBefore?.toISOString() ?? null)}` +
    ` NotOnOrAfter="${parts.notOnOrAfter.toISOString()}"><saml:AudienceRestriction>` +
    `<saml:Audience>${parts.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${parts.issuedAt.toISOString()}"` +
    ` SessionIndex="${parts.sessionIndex}"` +
    `${attribute("SessionNotOnOrAfter", parts.sessionNotOnOrAfter?.toISOString() ?? null)}>` +
    `<saml:AuthnContext><saml:AuthnContextClassRef>` +
    parts.authnContext +
    `</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` +
    (attributes.length === 0
      ? ""
      : `<saml:AttributeStatement>${attributes.join("")}</saml:AttributeStatement>`) +
    `</saml:Assertion>`;
}

/** Options of a signature; the defaults are what identity providers do. */
export interface SignatureOptions {
  uri?: string;
  algorithm?: string;
  digest?: string;
  canonicalization?: string;
  /** The elements in Transforms. */
  transforms?: string;
  /** Prefixes for InclusiveNamespaces. */
  prefixes?: string;
  /** Content of KeyInfo; `<ds:X509Data/>` is filled with the certificate. */
  keyInfo?: string;
}

/** A signature without values, to be filled by {@linkcode signXml}. */
export function signatureTemplate(id: string, options: SignatureOptions = {}): string {
  const { uri = `#${id}`, algorithm = `${MORE}rsa-sha256`, digest = SHA256 } = options;
  const { canonicalization = EXCLUSIVE_C14N, prefixes, keyInfo = "<ds:X509Data/>" } = options;
  const inclusive = prefixes === undefined
    ? ""
    : `<ec:InclusiveNamespaces xmlns:ec="${EXCLUSIVE_C14N}" PrefixList="${prefixes}"/>`;
  const {
    transforms = `<ds:Transform Algorithm="${ENVELOPED_SIGNATURE}"/>` +
      `<ds:Transform Algorithm="${EXCLUSIVE_C14N}">${inclusive}</ds:Transform>`,
  } = options;
  return `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo>` +
    `<ds:CanonicalizationMethod Algorithm="${canonicalization}"/>` +
    `<ds:SignatureMethod Algorithm="${algorithm}"/><ds:Reference URI="${uri}">` +
    `<ds:Transforms>${transforms}</ds:Transforms><ds:DigestMethod Algorithm="${digest}"/>` +
    `<ds:DigestValue></ds:DigestValue></ds:Reference></ds:SignedInfo>` +
    `<ds:SignatureValue></ds:SignatureValue><ds:KeyInfo>${keyInfo}</ds:KeyInfo></ds:Signature>`;
}

/**
 * Fills the signature template in the response or in the assertion.
 *
 * @param key A key pair; or the bytes of a key for HMAC.
 */
export async function signXml(
  xml: string,
  key: SigningKey | Uint8Array,
  signatureOf: "Response" | "Assertion",
): Promise<string> {
  return await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/message.xml`, xml);
    if (key instanceof Uint8Array) await Deno.writeFile(`${folder}/hmac.key`, key);
    else {
      await Deno.writeTextFile(`${folder}/key.pem`, key.privateKey);
      await Deno.writeTextFile(`${folder}/cert.pem`, key.certificate);
    }
    await run(folder, "xmlsec1", [
      "--sign",
      ...(key instanceof Uint8Array
        ? ["--hmackey", "hmac.key"]
        : ["--privkey-pem", "key.pem,cert.pem"]),
      ...["--id-attr:ID", "urn:oasis:names:tc:SAML:2.0:protocol:Response"],
      ...["--id-attr:ID", "urn:oasis:names:tc:SAML:2.0:assertion:Assertion"],
      ...["--node-xpath", `//*[local-name()='${signatureOf}']/*[local-name()='Signature']`],
      ...["--output", "signed.xml", "message.xml"],
    ]);
    return await Deno.readTextFile(`${folder}/signed.xml`);
  });
}

/** Signed element, and the way in which it is signed. */
export interface Signing extends SignatureOptions {
  key: SigningKey;
  /** Default: the assertion. */
  sign?: "assertion" | "response" | "both";
}

/** A complete signed message. */
export async function signedResponse(
  { key, sign = "assertion", ...options }: Signing,
  parts: Partial<ResponseParts> = {},
): Promise<string> {
  const { responseId, assertionId } = withDefaults(parts);
  let xml = responseXml({
    ...(sign !== "response" && { assertionSignature: signatureTemplate(assertionId, options) }),
    ...(sign !== "assertion" && { responseSignature: signatureTemplate(responseId, options) }),
    ...parts,
  });
  if (sign !== "response") xml = await signXml(xml, key, "Assertion");
  if (sign !== "assertion") xml = await signXml(xml, key, "Response");
  return xml;
}

/** A message encoded as a form field. */
export const posted = (xml: string | Uint8Array): string =>
  (typeof xml === "string" ? new TextEncoder().encode(xml) : xml).toBase64();

function withDefaults(given: Partial<ResponseParts>): ResponseParts {
  const issuedAt = given.issuedAt ?? ISSUED_AT;
  return {
    issuedAt,
    responseId: "_response-1",
    assertionId: "_assertion-1",
    issuer: IDP_ENTITY_ID,
    responseIssuer: given.issuer ?? IDP_ENTITY_ID,
    acsUrl: ACS_URL,
    destination: given.acsUrl ?? ACS_URL,
    audience: SP_ENTITY_ID,
    inResponseTo: null,
    status: "urn:oasis:names:tc:SAML:2.0:status:Success",
    nameId: "ada@example.test",
    nameIdFormat: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
    notBefore: new Date(issuedAt.getTime() - MINUTE_MS),
    notOnOrAfter: new Date(issuedAt.getTime() + 10 * MINUTE_MS),
    sessionIndex: "_session-1",
    authnContext: "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport",
    sessionNotOnOrAfter: null,
    attributes: {},
    responseSignature: "",
    assertionSignature: "",
    ...given,
  };
}

const attribute = (name: string, value: string | null) =>
  value === null ? "" : ` ${name}="${value}"`;

async function run(folder: string, program: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, {
    args,
    cwd: folder,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "longshore-saml-" });
  try {
    return await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
