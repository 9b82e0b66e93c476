/** The name of the product, or of the active brand. @module */

export const PRODUCT = document.documentElement.dataset.brand || "Longshore";
