// A session that is opened at the press on Play, while the page of the player is drawn.
import type { PlaybackStart, StartPlaybackBody } from '../../../../api/client/index.ts';
import { type SessionHome, Sessions } from './session.ts';

/** A session that no player took in this time ends: the way led to another page. */
const UNUSED_MS = 10_000;

interface Early {
  /** Item and request; a player that opens another one does not take it. */
  key: string;
  start: Promise<PlaybackStart>;
  unused: ReturnType<typeof setTimeout>;
}

let early: Early | undefined;

const keyOf = (itemId: string, body: StartPlaybackBody): string => JSON.stringify([itemId, body]);

/** Opens the session that the next player takes. */
export function openEarly(home: SessionHome, itemId: string, body: StartPlaybackBody): void {
  if (early) return; // pressed twice
  const start = new Sessions(home).open(itemId, body);
  start.catch(() => undefined); // the player that takes it reports the failure
  early = { key: keyOf(itemId, body), start, unused: setTimeout(() => void end(home), UNUSED_MS) };
}

async function end({ api }: SessionHome): Promise<void> {
  const start = await release()?.start.catch(() => undefined);
  if (start) await api.endPlaybackSession({ params: { id: start.session.id } }).catch(() => undefined);
}

function release(): Early | undefined {
  const taken = early;
  clearTimeout(taken?.unused);
  early = undefined;
  return taken;
}

/** The session that was opened for this request, once. */
export const takeEarly = (itemId: string, body: StartPlaybackBody): Promise<PlaybackStart> | undefined =>
  early?.key === keyOf(itemId, body) ? release()?.start : undefined;
