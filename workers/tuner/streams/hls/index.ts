import type { FollowedList } from './follow.ts';
import { fetchList, followList } from './follow.ts';
import { bestVariant } from './list.ts';
import { remuxed } from './remux.ts';

/** The transport stream of a list of HLS, from its live edge on. */
export async function* readHls({ text, url, get, signal }: FollowedList): AsyncGenerator<Buffer> {
  const variant = bestVariant(text, url);
  const list = variant ? await fetchList(get, variant.url) : { text, url };
  const pictures = followList({ ...list, get, signal });
  if (variant?.audioUrl !== undefined) {
    const sound = followList({ ...(await fetchList(get, variant.audioUrl)), get, signal });
    return yield* remuxed([pictures, sound], signal);
  }
  const first = await pictures.next();
  if (first.done) return;
  if (first.value.head) return yield* remuxed([resumed(first.value, pictures)], signal);
  yield first.value.bytes;
  for await (const { bytes } of pictures) yield bytes;
}

async function* resumed<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}
