// The script of the player, loaded while a page rests, so that Play begins with the request of the session.
import { whenCalm } from '#core/cache/calm.ts';
import { queryClient } from '#core/cache/query.ts';
import { preloadCode } from '$app/navigation';

let opener: typeof import('#features/player/opener.ts') | undefined;

type Path = Parameters<typeof preloadCode>[0];

/** Loads the player once the page has what it first needed, unless the browser saves data; the result takes it back. */
export function readyPlayer(path: string): () => void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return () => undefined;
  return whenCalm(queryClient, () => void preloadPlayer(path as Path));
}

async function preloadPlayer(path: Path): Promise<void> {
  try {
    await preloadCode(path);
    opener = await import('#features/player/opener.ts');
    await import('#core/player/hls.ts');
  } catch {} // Play loads the missing parts, and reports a failure
}

/** Opens the session for an address of the player, while its page is drawn. */
export function goesTo(url: URL | undefined): void {
  if (url?.pathname.startsWith('/play/')) opener?.openFor(url);
}
