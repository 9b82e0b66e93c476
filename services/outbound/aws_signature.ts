/**
 * Signatures of requests to Amazon and to services that speak its protocols (Signature Version 4).
 * Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
 *
 * @module
 */

/** Credentials for the requests to one region. */
export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
}

/**
 * Returns the headers of a request with its signature. The secret is never part of them.
 *
 * @param request.headers Each is signed. `x-amz-content-sha256` is required for the service `s3`.
 * @param request.service E.g. `s3`.
 */
export async function signAwsRequest(
  request: {
    url: string;
    method: string;
    headers: Record<string, string>;
    body?: string;
    service: string;
    now: Date;
  },
  credentials: AwsCredentials,
): Promise<Record<string, string>> {
  const { AwsV4Signer } = await import("aws4fetch");
  const signer = new AwsV4Signer({
    ...request,
    ...credentials,
    datetime: request.now.toISOString().replace(/[-:]|\.\d{3}/g, ""),
    allHeaders: true,
  });
  return Object.fromEntries((await signer.sign()).headers);
}
