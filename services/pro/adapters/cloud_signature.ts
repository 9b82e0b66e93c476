/**
 * AWS Signature Version 4: proves who sends a request without sending the secret.
 * Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
 *
 * @module
 */

import { nodeCrypto } from "../../builtins.ts";

/** What is signed. */
export interface SignedRequest {
  method: string;
  url: URL;
  /** Every header that is signed besides `host` and `x-amz-date`. */
  headers: Record<string, string>;
  body: string;
}

/** By whom, for what and when. */
export interface Signer {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  /** E.g. `monitoring`. */
  service: string;
  now: Date;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/** The headers to send: the given ones with `x-amz-date` and `authorization`. */
export function signedHeaders(request: SignedRequest, signer: Signer): Record<string, string> {
  const { accessKeyId, secretAccessKey, region, service, now } = signer;
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const headers = { ...request.headers, "x-amz-date": time };
  const canonical = canonicalRequest({ ...request, headers });
  const signature = hmac(
    signingKey(secretAccessKey, { day, region, service }),
    [ALGORITHM, time, scope, sha256(canonical.text)].join("\n"),
  ).toString("hex");

  return {
    ...headers,
    authorization: `${ALGORITHM} Credential=${accessKeyId}/${scope}, ` +
      `SignedHeaders=${canonical.headerNames}, Signature=${signature}`,
  };
}

/** A key that is good for one day, region and service only. @param scope `day`: `YYYYMMDD`. */
export function signingKey(
  secretAccessKey: string,
  { day, region, service }: { day: string; region: string; service: string },
): Uint8Array {
  const steps = [day, region, service, "aws4_request"];
  return steps.reduce<Uint8Array | string>(
    (key, step) => hmac(key, step),
    `AWS4${secretAccessKey}`,
  ) as Uint8Array;
}

/** The form of a request that both sides can make alike. */
export function canonicalRequest(
  { method, url, headers, body }: SignedRequest,
): { text: string; headerNames: string } {
  const all = Object.entries({ ...headers, host: url.host })
    .map(([name, value]): [string, string] => [
      name.toLowerCase(),
      value.trim().replace(/ +/g, " "),
    ])
    .sort(byName);
  const query = [...url.searchParams]
    .map(([name, value]): [string, string] => [encoded(name), encoded(value)])
    .sort(byName)
    .map((pair) => pair.join("="));
  const headerNames = all.map(([name]) => name).join(";");
  return {
    headerNames,
    text: [
      method,
      // What is encoded already is encoded once more, as every service but S3 expects it.
      url.pathname.split("/").map(encoded).join("/"),
      query.join("&"),
      ...all.map(([name, value]) => `${name}:${value}`),
      "",
      headerNames,
      sha256(body),
    ].join("\n"),
  };
}

/** By code points, for the order of a locale would not be the other side's. */
function byName([a, x]: [string, string], [b, y]: [string, string]): number {
  return a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0;
}

/** Everything but RFC 3986's unreserved characters as `%XX`. */
function encoded(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hmac(key: Uint8Array | string, text: string) {
  return nodeCrypto().createHmac("sha256", key).update(text).digest();
}

function sha256(text: string): string {
  return nodeCrypto().createHash("sha256").update(text).digest("hex");
}
