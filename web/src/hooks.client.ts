import type { HandleClientError } from '@sveltejs/kit/hooks';

/** The words of browsers, and of Vite, for a module or its style that did not arrive. */
const NOT_LOADED = /dynamically imported module|importing a module script|error loading|unable to preload/i;

/** A part of the app that did not arrive means that the server is unreachable; the error page waits for it. */
export const handleError: HandleClientError = ({ error }) => {
  if (error instanceof Error && NOT_LOADED.test(error.message)) return { message: 'unreachable' };
};
