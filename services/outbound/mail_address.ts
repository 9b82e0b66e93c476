/** Mail addresses. @module */

/** Limit of an address (RFC 5321, 4.5.3.1.3, without the brackets), in characters. */
export const MAIL_ADDRESS_MAX = 254;

export const MAIL_ADDRESS_RULE = "must be a mail address, e.g. ada@example.com";

/**
 * Whether a text is one mail address for an SMTP command. Quotes, comments, lists and groups are
 * not allowed, because mail programs interpret them differently (RFC 5321, 4.1.2).
 */
export function isMailAddress(text: string): boolean {
  const [local = "", domain = "", ...more] = text.split("@");
  return text.length <= MAIL_ADDRESS_MAX && more.length === 0 && local.length <= 64 &&
    /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u.test(local) &&
    /^[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?(\.[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?)*$/u
      .test(domain);
}
