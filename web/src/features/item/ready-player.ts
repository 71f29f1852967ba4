// The script of the player, loaded while a page rests, so that Play begins with the request of the session.
import { whenCalm } from '#core/cache/calm.ts';
import { queryClient } from '#core/cache/query.ts';
import { readyTexts } from '#features/session/language.ts';
import { preloadCode } from '$app/navigation';

let opener: typeof import('#features/player/opener.ts') | undefined;

/** The id of the route, not an address: SvelteKit passes over what it does not know. */
const PLAYER = '/(play)/play/[id]';

/** Loads the player once the page has what it first needed, unless the browser saves data; the result takes it back. */
export function readyPlayer(): () => void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return () => undefined;
  return whenCalm(queryClient, () => void preloadPlayer());
}

async function preloadPlayer(): Promise<void> {
  try {
    await Promise.all([preloadCode(PLAYER), readyTexts()]);
    opener = await import('#features/player/opener.ts');
    await Promise.all([import('#core/player/hls.ts'), opener.measureBrowser()]);
  } catch {} // Play loads the missing parts, and reports a failure
}

/** Opens the session for an address of the player, while its page is drawn. */
export function goesTo(url: URL | undefined): void {
  if (url?.pathname.startsWith('/play/')) opener?.openFor(url);
}
