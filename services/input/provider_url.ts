/** URLs of identity providers, which get login data of users. @module */

const URL_MAX = 2_048;

export const PROVIDER_URL_RULE =
  "must be an https:// URL (http:// for loopback addresses only) without credentials and fragment";

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Whether an address is acceptable: HTTPS, or plain HTTP on this host. */
export function isProviderUrl(text: string): boolean {
  const url = text.length <= URL_MAX && /^https?:\/\/[^\s\p{C}]+$/iu.test(text)
    ? URL.parse(text)
    : null;
  const isSafe = url?.protocol === "https:" || LOOPBACK.test(url?.hostname ?? "");
  return url !== null && isSafe && url.username === "" && url.password === "" &&
    !text.includes("#");
}
