/** The sign of the product. @module */

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M6 20h20l-3 5H9zM8 12h5v6H8zM14 12h5v6h-5zM20 12h4v6h-4zM14 5h5v6h-5z" />
    </svg>
  );
}
