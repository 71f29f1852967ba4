/** A path of this app to go on with; anything else, such as the address of another server, is the home page. */
export function safePath(path: string | null | undefined): string {
  const ours = path?.startsWith('/') && !/^\/[/\\]/.test(path) && !path.startsWith('/sign-in');
  return ours ? (path as string) : '/';
}

/** The sign-in page, which leads back to `path` after it. */
export const signInPath = (path: string): string =>
  safePath(path) === '/' ? '/sign-in' : `/sign-in?return=${encodeURIComponent(path)}`;
