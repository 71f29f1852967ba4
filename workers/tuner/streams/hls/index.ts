import type { FollowedList } from './follow.ts';
import { fetchList, followList, type Received } from './follow.ts';
import { inputOf } from './kinds.ts';
import { bestVariant } from './list.ts';
import { remuxed } from './remux.ts';

/** The transport stream of a list of HLS, from its live edge on. Sound of a kind that is not read is left out. */
export async function* readHls({ text, url, get, signal }: FollowedList): AsyncGenerator<Buffer> {
  const variant = bestVariant(text, url);
  const list = variant ? await fetchList(get, variant.url) : { text, url };
  const pictures = followList({ ...list, get, signal });
  const sound =
    variant?.audioUrl === undefined
      ? undefined
      : followList({ ...(await fetchList(get, variant.audioUrl)), get, signal });
  const [first, heard] = await Promise.all([pictures.next(), sound?.next()]);
  if (first.done) return;
  const shown = resumed(first.value, pictures);
  if (sound && heard && !heard.done && isRead(heard.value, first.value))
    return yield* remuxed([shown, resumed(heard.value, sound)], signal);
  if (first.value.head) return yield* remuxed([shown], signal);
  for await (const { bytes } of shown) yield bytes;
}

/** The times of bare frames are those of transport streams. */
function isRead(sound: Received, pictures: Received): boolean {
  const input = inputOf(sound);
  return input !== undefined && (input.demuxer !== 'aac' || inputOf(pictures)?.demuxer === 'mpegts');
}

async function* resumed<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}
