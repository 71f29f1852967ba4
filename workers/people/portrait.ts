// The portrait of a person that an agent offers.
import { foundImages, insertFound, replaceFound, settlePortraits } from '#areas/artwork/public.ts';
import { catalogueOutbound } from '#platform/agents/send.ts';
import type { Outbound } from '#platform/outbound.ts';
import { createPictures } from '#platform/pictures.ts';
import { download } from '../artwork/agents.ts';
import { accepted } from '../artwork/fetch.ts';
import type { Work } from '../work.ts';

interface Offered {
  personId: string;
  url: string;
  agent: string;
  /** Whether it takes the place of an earlier one of the agents. */
  replace: boolean;
}

/** Keeps the offered portrait; one that a person removed is not fetched again. */
export async function keepPortrait(
  work: Work,
  { personId, url, agent, replace }: Offered,
  outbound: Outbound = catalogueOutbound(work.config),
): Promise<void> {
  const owner = { kind: 'person', id: personId } as const;
  const rows = await foundImages(work.db, owner, ['agent']);
  const isKnown = rows.some((row) => row.origin?.['url'] === url);
  const present = rows.find(({ discarded }) => !discarded);
  if (isKnown || (present && !replace)) return;
  const bytes = await download(work, outbound, { url, agent });
  const taken = bytes && (await accepted({ work, pictures: createPictures(work.config.parserUrl) }, bytes));
  if (!taken) return;
  const found = { source: 'agent', kind: 'portrait', origin: { url, agent }, taken, sourceUrl: url } as const;
  await work.db.transaction(async (db) => {
    if (present) await replaceFound(db, present, found);
    else await insertFound(db, owner, found);
    await settlePortraits(db, [personId]);
  });
}
