/**
 * Polynomials over GF(2) as bits of a `bigint`: bit n is the coefficient of x^n. The chunker's
 * polynomial is irreducible and has degree 53 (design document, "Backups and Deduplication").
 *
 * @module
 */

/** Degree that restic uses: the largest prime below 64 - 8. */
export const DEGREE = 53;

/** Degree; -1 for zero. */
export const degreeOf = (polynomial: bigint): number =>
  polynomial === 0n ? -1 : polynomial.toString(2).length - 1;

/** Remainder of a division. */
export function remainder(dividend: bigint, divisor: bigint): bigint {
  const degree = degreeOf(divisor);
  let rest = dividend;
  for (let shift = degreeOf(rest) - degree; shift >= 0; shift = degreeOf(rest) - degree) {
    rest ^= divisor << BigInt(shift);
  }
  return rest;
}

/** A random irreducible polynomial of degree 53; about one in 26 is. */
export function randomPolynomial(): bigint {
  for (;;) {
    const [random = 0n] = crypto.getRandomValues(new BigUint64Array(1));
    const candidate = (random & ((1n << 53n) - 1n)) | (1n << 53n) | 1n;
    if (isIrreducible(candidate)) return candidate;
  }
}

/**
 * Ben-Or's test: a polynomial of degree n is irreducible if it has no common divisor with
 * x^(2^i) - x for each i up to n/2.
 */
export function isIrreducible(polynomial: bigint): boolean {
  const x = 2n;
  let power = x;
  for (let i = 1; i <= degreeOf(polynomial) / 2; i++) {
    power = square(power, polynomial);
    if (commonDivisor(polynomial, power ^ x) !== 1n) return false;
  }
  return true;
}

/** In GF(2), squaring moves each coefficient to twice its exponent. */
function square(polynomial: bigint, modulus: bigint): bigint {
  let result = 0n;
  for (let bit = 0n; polynomial >> bit > 0n; bit++) {
    if ((polynomial >> bit) & 1n) result |= 1n << (2n * bit);
  }
  return remainder(result, modulus);
}

function commonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : commonDivisor(b, remainder(a, b));
}
