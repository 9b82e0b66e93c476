/** Pages of long lists. @module */

/** The part of a list to return. */
export interface Page {
  /** Maximum number of records. */
  limit: number;
  /** Number of records to skip. */
  offset: number;
}

/** The returned part, and the length of the whole list. */
export interface Paged extends Page {
  total: number;
}
