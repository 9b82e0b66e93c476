/** Styles of parts that the first view does not have: they are loaded with the part. @module */

/** Adds a style sheet, once for each module that calls it when it is loaded. */
export function addStyles(css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
