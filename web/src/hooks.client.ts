import type { HandleClientError } from '@sveltejs/kit/hooks';

/** The words of browsers for a module that did not arrive. */
const NOT_LOADED = /dynamically imported module|importing a module script|error loading/i;

/** A part of the app that did not arrive means that the server is unreachable; the error page waits for it. */
export const handleError: HandleClientError = ({ error }) => {
  if (error instanceof Error && NOT_LOADED.test(error.message)) return { message: 'unreachable' };
};
