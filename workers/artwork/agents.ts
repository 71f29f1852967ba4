// Pictures that catalogues offer for an item, as its last refresh chose them.
import { fittingKind } from '#areas/artwork/public.ts';
import { type ChosenPicture, findMatch } from '#areas/editing/public.ts';
import { ARTWORK_BYTES } from '#kernel/images.ts';
import { catalogueOutbound, networksOf } from '#platform/agents/send.ts';
import { type Outbound, OutboundRefused } from '#platform/outbound.ts';
import type { Work } from '../work.ts';
import type { PicturedItem, PicturePlace } from './local.ts';

const LIMIT_MS = 20_000;

/** The places of the pictures, which are downloaded once. */
export async function agentPlaces(work: Work, item: PicturedItem, outbound?: Outbound): Promise<PicturePlace[]> {
  const match = await findMatch(work.db, item.id);
  const way = outbound ?? catalogueOutbound(work.config);
  return (match?.pictures ?? []).flatMap((picture, at): PicturePlace[] => {
    const kind = fittingKind(item.type, picture.kind);
    if (!kind) return [];
    const { url, agent, language } = picture;
    const place = String(at).padStart(3, '0');
    return [
      {
        ...{ source: 'agent', kind, origin: { url, agent, place }, sourceUrl: url },
        ...(language !== undefined && { language }),
        read: () => download(work, way, picture),
      },
    ];
  });
}

/** Undefined for an address that is closed or does not answer with a picture. */
export async function download(
  work: Work,
  outbound: Outbound,
  { url, agent }: Pick<ChosenPicture, 'url' | 'agent'>,
): Promise<Buffer | undefined> {
  if (work.settings.get('network.offline')) return undefined;
  try {
    const answer = await outbound(url, {
      ...networksOf(work.settings),
      ...{ maxRedirects: 4, maxBytes: ARTWORK_BYTES, timeoutMs: LIMIT_MS, signal: work.signal },
      headers: { accept: 'image/*', 'user-agent': 'Foyer/1.0 ( https://foyer.media )' },
    });
    if (answer.status === 200) return answer.body;
    work.log.debug({ agent, status: answer.status }, 'a picture of a catalogue was not sent');
  } catch (error) {
    if (work.signal.aborted) throw error;
    const reason = error instanceof OutboundRefused ? error.reason : 'unreachable';
    work.log.debug({ agent, reason }, 'a picture of a catalogue was not sent');
  }
  return undefined;
}
