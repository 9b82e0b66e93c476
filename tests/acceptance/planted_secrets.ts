/**
 * Secrets that are planted in an application, and the search for them in what comes out of it.
 *
 * @module
 */

/** A secret, or a piece of one, that was found where it must not be. */
export interface Leak {
  /** Name of the secret, e.g. "the API key". */
  secret: string;
  /** Encoding of the secret, e.g. "base64". */
  form: string;
  /** Text around it. */
  excerpt: string;
}

export interface PlantedSecrets {
  /**
   * Makes a secret that no other text resembles.
   *
   * @param wrap Makes of it what the product takes, e.g. an address; only the secret is searched.
   */
  plant(name: string, wrap?: (secret: string) => string): string;
  /** Takes a secret that the product made, or that has a form of its own. */
  keep(name: string, secret: string | Uint8Array): void;
  /** Secrets in a text, each at most once. */
  leaksIn(text: string): Leak[];
  /** Number of secrets. */
  readonly count: number;
}

/**
 * So many characters in a row of any form of a secret are a leak: what was cut off somewhere is
 * found as well, and no other text has so many in common with a random one.
 */
const PIECE = 12;

/**
 * Every piece of a secret is known, so that a text need not be looked at from each character: what
 * has `PIECE + STEP - 1` characters of a secret is found in any case.
 */
const STEP = 6;

/** Random characters of a planted secret. */
const RANDOM_LENGTH = 26;

/** Characters of the text before and behind the beginning of a leak. */
const EXCERPT = 200;

const bytesOf = (secret: string | Uint8Array) =>
  typeof secret === "string" ? new TextEncoder().encode(secret) : secret;

type Forms = Record<string, (secret: string) => string[]>;

/**
 * The ways in which a text can be written. Capitals do not count: hosts and hexadecimal digits are
 * written in either.
 */
const TEXT_FORMS: Forms = {
  "as it is": (secret) => [secret],
  "URL-encoded": (secret) => [
    encodeURIComponent(secret),
    encodeURI(secret),
    new URLSearchParams({ "": secret }).toString().slice(1),
  ],
  "JSON": (secret) => [
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  ],
  "XML": (secret) => [
    secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
  ],
};

const BYTE_FORMS: Record<string, (secret: Uint8Array) => string[]> = {
  "base64": (secret) => inside64(secret, "base64"),
  "base64url": (secret) => inside64(secret, "base64url"),
  "hexadecimal": (secret) => [secret.toHex()],
};

/** Inside of a longer text, whose length decides where a group of three bytes begins. */
function inside64(secret: Uint8Array, alphabet: "base64" | "base64url"): string[] {
  return [0, 1, 2].map((before) => {
    const whole = new Uint8Array([...new Uint8Array(before), ...secret]);
    const text = whole.toBase64({ alphabet, omitPadding: true });
    // The first and the last group have bits of what stands around.
    return text.slice(before === 0 ? 0 : 4, text.length - (whole.length % 3 === 0 ? 0 : 4));
  });
}

function* formsOf(secret: string | Uint8Array): Generator<[form: string, text: string]> {
  if (typeof secret === "string") {
    for (const [form, write] of Object.entries(TEXT_FORMS)) {
      for (const text of write(secret)) yield [form, text];
    }
  }
  for (const [form, write] of Object.entries(BYTE_FORMS)) {
    for (const text of write(bytesOf(secret))) yield [form, text];
  }
}

export function plantedSecrets(): PlantedSecrets {
  const pieces = new Map<string, { key: string; secret: string; form: string }>();
  const known = new Set<string>();

  const keep = (name: string, secret: string | Uint8Array) => {
    const key = bytesOf(secret).toHex();
    if (known.has(key)) return;
    known.add(key);
    const written = new Set<string>();
    for (const [form, text] of formsOf(secret)) {
      const folded = text.toLowerCase();
      // Most secrets are the same in several forms.
      if (written.has(folded)) continue;
      written.add(folded);
      for (let at = 0; at + PIECE <= folded.length; at++) {
        const piece = folded.slice(at, at + PIECE);
        if (!pieces.has(piece)) pieces.set(piece, { key, secret: name, form });
      }
    }
  };

  return {
    plant(name, wrap = (secret) => secret) {
      const secret = randomText();
      keep(name, secret);
      return wrap(secret);
    },
    keep,
    leaksIn(text) {
      const folded = text.toLowerCase();
      const found = new Map<string, Leak>();
      const last = folded.length - PIECE;
      for (let at = 0; at <= last; at = at === last ? at + 1 : Math.min(at + STEP, last)) {
        const piece = pieces.get(folded.slice(at, at + PIECE));
        if (!piece || found.has(piece.key)) continue;
        const { key, secret, form } = piece;
        const excerpt = text.slice(Math.max(0, at - EXCERPT), at + EXCERPT);
        found.set(key, { secret, form, excerpt });
      }
      return [...found.values()];
    },
    get count() {
      return known.size;
    },
  };
}

/** A secret of letters and digits, as every place takes them. */
export function randomText(): string {
  const alphabet = "abcdefghijkmnpqrstuvwxyz23456789";
  return [...crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH))]
    .map((byte) => alphabet[byte % alphabet.length]).join("");
}
