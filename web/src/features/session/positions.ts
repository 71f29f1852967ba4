// Positions of earlier playback that did not reach the server are sent while somebody is signed in.
import { api } from '#core/api/client.ts';
import { newId } from '#core/api/ids.ts';
import { queryClient } from '#core/cache/query.ts';
import { Outbox } from '#core/player/outbox.ts';
import { Waiting } from '#core/player/waiting.ts';

/** Sends at the start, when the browser is online again, and when the server answers after a failure. The result ends it. */
export function sendPositions(profileId: string): () => void {
  const outbox = new Outbox(localStorage, newId);
  const waiting = new Waiting({ profileId, outbox, send: (body) => api.syncPlayback({ body }), now: Date.now });
  const send = (): void => void waiting.send();
  let hasFailed = false;
  const unsubscribe = queryClient.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated') return;
    const { type } = event.action;
    if (type === 'success' && hasFailed) send();
    if (type === 'success') hasFailed = false;
    else if (type === 'failed' || type === 'error') hasFailed = true;
  });
  addEventListener('online', send);
  return () => {
    waiting.stop();
    unsubscribe();
    removeEventListener('online', send);
  };
}
