import type { FollowedList } from './follow.ts';
import { fetchList, followList, type Received } from './follow.ts';
import { inputOf } from './kinds.ts';
import { bestVariant } from './list.ts';
import { remuxed } from './remux.ts';

/** The transport stream of a list of HLS, from its live edge on. Sound of a kind that is not read is left out. */
export async function* readHls(of: FollowedList): AsyncGenerator<Buffer> {
  const [pictures, sound] = await listsOf(of);
  const [first, heard] = await Promise.all([pictures.next(), sound?.next()]);
  if (first.done) return;
  const shown = resumed(first.value, pictures);
  const begun: Received | undefined = heard?.value;
  if (sound && isRead(begun, first.value)) yield* remuxed([shown, resumed(begun, sound)], of.signal);
  else if (first.value.head) yield* remuxed([shown], of.signal);
  else for await (const { bytes } of shown) yield bytes;
}

/** The list of the pictures, and that of the sound where it has one. */
async function listsOf({
  text,
  url,
  ...how
}: FollowedList): Promise<[AsyncGenerator<Received>, AsyncGenerator<Received>?]> {
  const variant = bestVariant(text, url);
  if (!variant) return [followList({ text, url, ...how })];
  const pictures = followList({ ...(await fetchList(how.get, variant.url)), ...how });
  if (variant.audioUrl === undefined) return [pictures];
  return [pictures, followList({ ...(await fetchList(how.get, variant.audioUrl)), ...how })];
}

/** The times of bare frames are those of transport streams. */
function isRead(sound: Received | undefined, pictures: Received): sound is Received {
  const input = sound && inputOf(sound);
  return input !== undefined && (input.demuxer !== 'aac' || inputOf(pictures)?.demuxer === 'mpegts');
}

async function* resumed<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}
