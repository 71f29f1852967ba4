import { OutboundRefused } from '#platform/outbound.ts';
import type { FollowedList } from './follow.ts';
import { fetchList, followList, type Received } from './follow.ts';
import { inputOf } from './kinds.ts';
import { bestVariant } from './list.ts';
import { remuxed } from './remux.ts';

/** A source of HLS. `note` is called with the faults of its parts that it goes on without. */
export interface HlsSource extends FollowedList {
  note: (fault: Error) => void;
}

/** The transport stream of a list of HLS, from its live edge on. Sound that cannot be read is left out. */
export async function* readHls(of: HlsSource): AsyncGenerator<Buffer> {
  const { pictures, audioUrls } = await listsOf(of);
  const [first, heard] = await Promise.all([pictures.next(), soundOf(of, audioUrls)]);
  if (first.done) return;
  const shown = resumed(first.value, pictures);
  if (heard && isRead(heard.first, first.value)) yield* remuxed([shown, resumed(heard.first, heard.rest)], of.signal);
  else if (first.value.head) yield* remuxed([shown], of.signal);
  else for await (const { bytes } of shown) yield bytes;
}

/** The list of the pictures, and the addresses of lists of their sound. */
async function listsOf({
  text,
  url,
  ...how
}: FollowedList): Promise<{ pictures: AsyncGenerator<Received>; audioUrls: string[] }> {
  const variant = bestVariant(text, url);
  if (!variant) return { pictures: followList({ text, url, ...how }), audioUrls: [] };
  const pictures = followList({ ...(await fetchList(how.get, variant.url)), ...how });
  return { pictures, audioUrls: variant.audioUrls };
}

/** The first rendition that gives a segment. An address that is not allowed ends the source. */
async function soundOf(
  { get, signal, note }: HlsSource,
  addresses: readonly string[],
): Promise<{ first: Received; rest: AsyncGenerator<Received> } | undefined> {
  for (const address of addresses) {
    try {
      const rest = followList({ ...(await fetchList(get, address)), get, signal });
      const { value, done } = await rest.next();
      if (!done) return { first: value, rest };
    } catch (error) {
      const { cause } = error as Error;
      if (signal.aborted || (cause instanceof OutboundRefused && cause.reason !== 'time')) throw error;
      note(error as Error);
    }
  }
  return undefined;
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
